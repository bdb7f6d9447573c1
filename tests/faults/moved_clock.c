// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD: the time of day is moved by the seconds in a file (BURST_CLOCK_FILE: one int64), for all who share the
// file at once. Monotonic clocks go on as they are, so that nothing waits longer or shorter.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* offset;

__attribute__((constructor)) static void open_clock(void) {
  const char* path = getenv("BURST_CLOCK_FILE");
  if (path == NULL) return;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) _exit(125);
  void* page = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (page == MAP_FAILED) _exit(125);
  offset = page;
}

int clock_gettime(clockid_t clock, struct timespec* when) {
  const int result = (int)syscall(SYS_clock_gettime, clock, when);
  if (result == 0 && offset != NULL && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    when->tv_sec += *offset;
  return result;
}

int gettimeofday(struct timeval* when, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  when->tv_sec = now.tv_sec;
  when->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* when) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (when != NULL) *when = now.tv_sec;
  return now.tv_sec;
}
