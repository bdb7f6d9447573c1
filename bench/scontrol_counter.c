// SPDX-License-Identifier: Apache-2.0
// Stands for scontrol (or squeue, sinfo ...) in a run that is counted: writes down each run and does it with the real
// one.
//
// Copied or linked as FOLDER/scontrol. FOLDER/real is a link to the folder of the real commands; FOLDER/runs gets a
// line a run: begin, end (seconds since the epoch), exit status, the command and its first two arguments.
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  char called[4096];
  char path[8192];
  char line[512];
  if (strlen(argv[0]) >= sizeof called || strchr(argv[0], '/') == NULL) return 125;
  const double begin = now();
  strcpy(called, argv[0]);
  char* name = strrchr(called, '/');
  *name++ = '\0';

  snprintf(path, sizeof path, "%s/real/%s", called, name);
  argv[0] = path;
  pid_t child;
  int status = 0;
  if (posix_spawn(&child, path, NULL, NULL, argv, environ) != 0 || waitpid(child, &status, 0) != child) return 125;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

  const int length = snprintf(line, sizeof line, "%.6f %.6f %d %s %.100s %.100s\n", begin, now(), code, name,
                              argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  snprintf(path, sizeof path, "%s/runs", called);
  const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0 || write(log, line, (size_t)length) != length) return 125;  // one write: runs don't mix
  return code;
}
