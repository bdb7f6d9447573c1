// SPDX-License-Identifier: Apache-2.0
// The first process of a machine.
#include "machine_init.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cloudsim {

namespace {

void write_file(const char* path, const std::string& text) { std::ofstream(path) << text; }

/// In a user namespace we are nobody until we say who we are; elsewhere these files refuse, which is fine.
void map_user(const MachineInit& init) {
  if (geteuid() == init.user) {
    return;
  }
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", fmt::format("{0} {0} 1", init.user));
  write_file("/proc/self/gid_map", fmt::format("{0} {0} 1", init.group));
}

/// slurmd looks its children up in /proc: it must show this namespace's numbers. Where mounting is forbidden the
/// machine runs with the old one.
void mount_own_proc() {
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) {
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  }
}

void redirect_output(const std::string& path) {
  const int input = open("/dev/null", O_RDONLY);
  int output = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (output < 0) {
    output = open("/dev/null", O_WRONLY);
  }
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close_range(3, ~0U, 0);  // among them the server's sockets
}

[[noreturn]] void run_program(const MachineInit& init, const sigset_t& all) {
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  signal(SIGPIPE, SIG_DFL);
  setsid();
  std::vector<char*> environment;
  for (const auto& entry : init.environment) {
    environment.push_back(const_cast<char*>(entry.c_str()));
  }
  environment.push_back(nullptr);
  std::array<char*, 2> arguments{const_cast<char*>(init.program.c_str()), nullptr};
  execvpe(init.program.c_str(), arguments.data(), environment.data());
  fmt::print(stderr, "starting {}: {}\n", init.program, std::strerror(errno));
  std::fflush(stderr);
  _exit(127);
}

std::vector<pid_t> children_of(pid_t process) {
  std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", process));
  std::vector<pid_t> out;
  for (pid_t child = 0; list >> child;) {
    out.push_back(child);
  }
  return out;
}

/// Without a namespace: whoever descends from us. As a subreaper we are the parent of every orphan among them.
void signal_descendants(pid_t process, int signal) {
  for (const pid_t child : children_of(process)) {
    signal_descendants(child, signal);
    kill(child, signal);
  }
}

void signal_everyone(const MachineInit& init, int signal) {
  if (init.isolated) {
    kill(-1, signal);
  } else {
    signal_descendants(getpid(), signal);
  }
}

/// True when no child is left.
bool reap_all() {
  pid_t pid = 0;
  do {
    pid = waitpid(-1, nullptr, WNOHANG);
  } while (pid > 0);
  return pid < 0 && errno == ECHILD;
}

/// SIGTERM for all, SIGKILL for those that still live after the grace.
[[noreturn]] void end_machine(const MachineInit& init, const sigset_t& all) {
  using Clock = std::chrono::steady_clock;
  signal_everyone(init, SIGTERM);
  signal_everyone(init, SIGCONT);
  const auto deadline = Clock::now() + init.grace;
  while (!reap_all()) {
    if (Clock::now() >= deadline) {
      signal_everyone(init, SIGKILL);
    }
    const timespec pause{0, 5'000'000};
    sigtimedwait(&all, nullptr, &pause);
  }
  _exit(0);
}

}  // namespace

void run_machine(const MachineInit& init) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  prctl(PR_SET_PDEATHSIG, init.isolated ? SIGKILL : SIGTERM);
  prctl(PR_SET_NAME, "cloudsim-init");
  setsid();
  if (init.isolated) {
    map_user(init);
    mount_own_proc();
  } else {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  redirect_output(init.log_file);
  const pid_t program = fork();
  if (program == 0) {
    run_program(init, all);
  }
  for (;;) {
    const int signal = sigwaitinfo(&all, nullptr);
    if (signal == SIGTERM) {
      end_machine(init, all);
    } else if (signal == kFreezeSignal) {
      signal_everyone(init, SIGSTOP);
    } else if (signal == kThawSignal) {
      signal_everyone(init, SIGCONT);
    } else if (signal == SIGCHLD) {
      reap_all();
    }
  }
}

}  // namespace cloudsim
