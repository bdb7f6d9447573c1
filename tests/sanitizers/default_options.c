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

/* cpp-httplib, the server of tests/net, is Debian's and not instrumented. Its Server::parse_request_line has a `static const
   std::set methods`: the first thread fills it between __cxa_guard_acquire and __cxa_guard_release, and the others see by a
   load of the guard's byte, in that library's own code, that it is filled. tsan knows nothing of that load, and takes their
   memcmp of the set's strings for a race. What libc does for that library is not looked at, therefore; its callbacks are. */
const char* __tsan_default_suppressions(void);
const char* __tsan_default_suppressions(void) { return "called_from_lib:libcpp-httplib.so\n"; }
