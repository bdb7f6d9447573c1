// SPDX-License-Identifier: Apache-2.0
// Child programs by posix_spawn: two pipes and a file in memory, one poll loop, SIGKILL for the whole process group at
// the time limit.
#include "system/spawn_processes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burst/error.h"
#include "system/descriptor.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves the declaration to the program

namespace burst {
namespace {

struct Pipe {
  Descriptor read_end, write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("ProcessError", fmt::format("pipe: {}", std::strerror(errno)));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<std::string> merged_environment(const ProcessRequest& request) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto replaced = [&](const auto& added) {
      return text.starts_with(added.first) && text.size() > added.first.size() && text[added.first.size()] == '=';
    };
    if (std::none_of(request.environment.begin(), request.environment.end(), replaced)) entries.emplace_back(text);
  }
  for (const auto& [name, value] : request.environment) entries.emplace_back(name).append("=").append(value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (auto& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// A file in memory for what a program prints: a pipe would wake us for every 4 KiB, which takes longer than the
/// reading.
Descriptor make_output() {
  Descriptor file(memfd_create("output", MFD_CLOEXEC));
  if (!file) throw Error("ProcessError", fmt::format("memfd_create: {}", std::strerror(errno)));
  return file;
}

/// What a program that has ended has printed.
std::string read_output(const Descriptor& file) {
  const off_t size = lseek(file.get(), 0, SEEK_END);
  std::string text(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t got = pread(file.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error("ProcessError", "a program's output can't be read");
    done += static_cast<std::size_t>(got);
  }
  return text;
}

pid_t spawn(const ProcessRequest& request, const Pipe& in, const Descriptor& out, const Pipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, in.read_end.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, out.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.write_end.get(), 2);
  sigset_t none;
  sigset_t defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> argv = request.argv;
  std::vector<std::string> environment = merged_environment(request);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, argv.at(0).c_str(), &actions, &attributes, pointers(argv).data(),
                                  pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    throw Error("ProcessError", fmt::format("running \"{}\": {}", request.argv[0], std::strerror(failed)));
  return child;
}

/// Moves what is ready; closes an end that is finished.
void read_some(Descriptor& end, std::string& text) {
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const ssize_t got = read(end.get(), buffer.data(), buffer.size());
  if (got > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    end.reset();
  }
}

void write_some(Descriptor& end, std::string_view& input) {
  const ssize_t sent = write(end.get(), input.data(), input.size());
  if (sent > 0) input.remove_prefix(static_cast<std::size_t>(sent));
  if (input.empty() || (sent < 0 && errno != EINTR && errno != EAGAIN)) end.reset();
}

int milliseconds_until(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

/// Waits for a program that has closed its output; false when the time was up first.
bool ends_before(pid_t child, std::chrono::steady_clock::time_point end) {
  // glibc 2.36 declares pidfd_open() without C linkage
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (!process) return true;  // it is gone already, or the kernel is older than 5.3: waitpid() will tell
  pollfd polled{process.get(), POLLIN, 0};
  for (;;) {
    const int left = milliseconds_until(end);
    if (poll(&polled, 1, left) > 0) return true;
    if (left == 0) return false;
  }
}

/// False when the time was up before the program had closed its output.
bool exchange(Pipe& in, Pipe& err, const ProcessRequest& request, ProcessResult& result,
              std::chrono::steady_clock::time_point end) {
  std::string_view input = request.input;
  if (input.empty()) in.write_end.reset();
  fcntl(in.write_end.get(), F_SETFL, O_NONBLOCK);
  while (err.read_end || in.write_end) {
    const int left = milliseconds_until(end);
    if (left == 0) return false;
    std::array<pollfd, 2> polled{{{in.write_end.get(), POLLOUT, 0}, {err.read_end.get(), POLLIN, 0}}};
    if (poll(polled.data(), polled.size(), left) < 0) continue;
    if (polled[0].revents != 0) write_some(in.write_end, input);
    if (polled[1].revents != 0) read_some(err.read_end, result.errors);
  }
  return true;
}

}  // namespace

ProcessResult SpawnProcesses::run(const ProcessRequest& request) {
  Pipe in = make_pipe();
  const Descriptor out = make_output();
  Pipe err = make_pipe();
  const pid_t child = spawn(request, in, out, err);
  in.read_end.reset();
  err.write_end.reset();

  ProcessResult result;
  const auto end = std::chrono::steady_clock::now() + request.timeout;
  result.timed_out = !exchange(in, err, request, result, end) || !ends_before(child, end);
  if (result.timed_out) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.output = read_output(out);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace burst
