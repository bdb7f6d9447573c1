// SPDX-License-Identifier: Apache-2.0
// Runs a program and writes what it took, as JSON: wall time, CPU time with and without its children, peak memory.
//
// usage: measure [-t] RESULT PROGRAM [ARGUMENT...]
//
// A small process of its own, because the kernel counts the memory of whoever forks into the child's ru_maxrss. With -t
// the program is traced (its exit alone), so that its own peak can be told from that of the scontrol that it runs.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timespec time) { return (double)time.tv_sec + (double)time.tv_nsec / 1e9; }

static double now(clockid_t clock) {
  struct timespec time = {0, 0};
  clock_gettime(clock, &time);
  return seconds(time);
}

static void fail(const char* what) {
  fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
  exit(125);
}

/// Peak resident memory in KiB of a process that still has its memory.
static long peak_of(pid_t process) {
  char line[256];
  long peak = -1;
  snprintf(line, sizeof line, "/proc/%d/status", (int)process);
  FILE* file = fopen(line, "r");
  if (file == NULL) return peak;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmHWM:", 6) == 0) peak = strtol(line + 6, NULL, 10);
  }
  fclose(file);
  return peak;
}

/// Lets a traced program run to its end; returns its peak memory in KiB. It is a zombie then.
static long follow(pid_t child) {
  long peak = -1;
  for (;;) {
    siginfo_t change;
    if (waitid(P_PID, (id_t)child, &change, WEXITED | WSTOPPED | WNOWAIT) != 0) fail("waitid");
    if (change.si_code == CLD_EXITED || change.si_code == CLD_KILLED || change.si_code == CLD_DUMPED) return peak;
    int status = 0;
    if (waitpid(child, &status, WUNTRACED) < 0) fail("waitpid");
    const int event = status >> 16;
    if (event == PTRACE_EVENT_EXIT) peak = peak_of(child);
    ptrace(PTRACE_CONT, child, 0, event != 0 ? 0 : WSTOPSIG(status));
  }
}

int main(int argc, char** argv) {
  const int traced = argc > 1 && strcmp(argv[1], "-t") == 0;
  char** arguments = argv + 1 + traced;
  if (argc - traced < 3) {
    fprintf(stderr, "usage: measure [-t] RESULT PROGRAM [ARGUMENT...]\n");
    return 125;
  }
  int go[2];
  if (pipe(go) != 0) fail("pipe");
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) != 1) _exit(125);
    close(go[0]);
    execv(arguments[1], arguments + 1);
    _exit(127);
  }
  close(go[0]);
  if (traced && ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACEEXIT) != 0) fail("ptrace");

  const double begin = now(CLOCK_MONOTONIC);
  const double begin_epoch = now(CLOCK_REALTIME);
  if (write(go[1], "", 1) != 1) fail("write");
  long own_peak = -1;
  if (traced) own_peak = follow(child);
  siginfo_t ended;
  if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) != 0) fail("waitid");
  const double wall = now(CLOCK_MONOTONIC) - begin;

  clockid_t own_clock;
  const double own_cpu = clock_getcpuclockid(child, &own_clock) == 0 ? now(own_clock) : -1;
  struct rusage usage;
  int status = 0;
  if (wait4(child, &status, 0, &usage) != child) fail("wait4");

  FILE* result = fopen(arguments[0], "w");
  if (result == NULL) fail(arguments[0]);
  fprintf(result, "{\"wall\": %.6f, \"begin\": %.6f, \"cpu\": %.6f, \"cpu_own\": %.6f, ", wall, begin_epoch,
          (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
          own_cpu);
  fprintf(result, "\"peak_kib\": %ld, \"own_peak_kib\": %ld, \"status\": %d}\n", usage.ru_maxrss, own_peak,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return fclose(result) == 0 ? 0 : 125;
}
