/* SPDX-License-Identifier: Apache-2.0 */
/* The sanitizers' options, in every program of a build that has them. A finding ends the program with status 86, which no
   program of ours gives and no test expects, and is written to a file FINDINGS/SANITIZER.PROGRAM.PID. */

#define COMMON(name) "exitcode=86:log_exe_name=1:log_path=" BURST_FINDINGS "/" name

const char* __asan_default_options(void);
const char* __ubsan_default_options(void);
const char* __tsan_default_options(void);

/* Some tests preload libraries of their own: the order is then not the one that asan checks. */
const char* __asan_default_options(void) {
  return COMMON("asan") ":halt_on_error=1:verify_asan_link_order=0:detect_stack_use_after_return=1:strict_string_checks=1";
}

const char* __ubsan_default_options(void) { return COMMON("ubsan") ":halt_on_error=1:print_stacktrace=1"; }

const char* __tsan_default_options(void) { return COMMON("tsan") ":halt_on_error=1:second_deadlock_stack=1"; }
