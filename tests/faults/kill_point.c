// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD: counts what a program does to the world outside it, and kills it with SIGKILL right after the k-th
// such effect (BURST_KILL_AT=k; 0: never).
//
// An effect is a connection begun, bytes sent to or got from a network socket, a program started, and a file below
// BURST_KILL_STATE_DIR made, locked, written, synced, renamed or removed. BURST_KILL_REPORT is a file that gets
// `COUNT LAST-EFFECT` at the kill or at the end. Programs that the program starts are left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char state_dir[PATH_MAX], report_path[PATH_MAX];
static long kill_at;
static int counts;
static atomic_long count;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("BURST_KILL_AT");
  const char* state = getenv("BURST_KILL_STATE_DIR");
  const char* report = getenv("BURST_KILL_REPORT");
  if (at == NULL || state == NULL || report == NULL) return;
  kill_at = atol(at);
  snprintf(state_dir, sizeof state_dir, "%s/", state);
  snprintf(report_path, sizeof report_path, "%s", report);
  counts = 1;
  unsetenv("BURST_KILL_AT");  // its children are not meant
}

static void report(long number, const char* what, const char* detail) {
  char line[PATH_MAX + 64];
  const int length = snprintf(line, sizeof line, "%ld %s %.*s\n", number, what, PATH_MAX, detail);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, report_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0 || syscall(SYS_write, file, line, (size_t)length) != length) _exit(125);
  syscall(SYS_close, file);
}

static void effect(const char* what, const char* detail) {
  if (!counts) return;
  const long number = atomic_fetch_add(&count, 1) + 1;
  if (number != kill_at) return;
  report(number, what, detail);
  kill(getpid(), SIGKILL);
}

__attribute__((destructor)) static void end(void) {
  if (counts) report(atomic_load(&count), "end", "");
}

static int in_state(const char* path) { return counts && strncmp(path, state_dir, strlen(state_dir)) == 0; }

/// The path of an open file below StateDir, without StateDir; nothing for any other.
static const char* state_file(int file, char* path) {
  char link[64];
  if (!counts) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return NULL;
  path[length] = '\0';
  return in_state(path) ? path + strlen(state_dir) : NULL;
}

static int is_network(int file) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return counts && getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
         (domain == AF_INET || domain == AF_INET6);
}

int connect(int file, const struct sockaddr* address, socklen_t length) {
  const int result = REAL(connect)(file, address, length);
  if (address->sa_family == AF_INET || address->sa_family == AF_INET6) effect("connect", "");
  return result;
}

ssize_t send(int file, const void* data, size_t size, int flags) {
  const ssize_t result = REAL(send)(file, data, size, flags);
  if (result > 0 && is_network(file)) effect("send", "");
  return result;
}

ssize_t sendto(int file, const void* data, size_t size, int flags, const struct sockaddr* to, socklen_t length) {
  const ssize_t result = REAL(sendto)(file, data, size, flags, to, length);
  if (result > 0 && is_network(file)) effect("send", "");
  return result;
}

ssize_t recv(int file, void* data, size_t size, int flags) {
  const ssize_t result = REAL(recv)(file, data, size, flags);
  if (result > 0 && (flags & MSG_PEEK) == 0 && is_network(file)) effect("recv", "");
  return result;
}

ssize_t read(int file, void* data, size_t size) {
  const ssize_t result = REAL(read)(file, data, size);
  if (result > 0 && is_network(file)) effect("recv", "");
  return result;
}

ssize_t write(int file, const void* data, size_t size) {
  char path[PATH_MAX];
  const ssize_t result = REAL(write)(file, data, size);
  if (result <= 0) return result;
  if (is_network(file)) {
    effect("send", "");
  } else {
    const char* name = state_file(file, path);
    if (name != NULL) effect("write", name);
  }
  return result;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const int result = REAL(open)(path, flags, mode);
  if (result >= 0 && (flags & O_CREAT) != 0 && in_state(path)) effect("open", path + strlen(state_dir));
  return result;
}

int mkdir(const char* path, mode_t mode) {
  const int result = REAL(mkdir)(path, mode);
  if (result == 0 && in_state(path)) effect("mkdir", path + strlen(state_dir));
  return result;
}

int flock(int file, int operation) {
  char path[PATH_MAX];
  const int result = REAL(flock)(file, operation);
  const char* name = result == 0 ? state_file(file, path) : NULL;
  if (name != NULL) effect("flock", name);
  return result;
}

int fsync(int file) {
  char path[PATH_MAX];
  const int result = REAL(fsync)(file);
  const char* name = state_file(file, path);
  if (name != NULL) effect("fsync", name);
  return result;
}

int fdatasync(int file) {
  char path[PATH_MAX];
  const int result = REAL(fdatasync)(file);
  const char* name = state_file(file, path);
  if (name != NULL) effect("fdatasync", name);
  return result;
}

int rename(const char* from, const char* to) {
  const int result = REAL(rename)(from, to);
  if (result == 0 && in_state(to)) effect("rename", to + strlen(state_dir));
  return result;
}

int unlink(const char* path) {
  const int result = REAL(unlink)(path);
  if (result == 0 && in_state(path)) effect("unlink", path + strlen(state_dir));
  return result;
}

int posix_spawnp(pid_t* child, const char* program, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const environment[]) {
  const int result = REAL(posix_spawnp)(child, program, actions, attributes, argv, environment);
  if (result == 0) effect("spawn", program);
  return result;
}
