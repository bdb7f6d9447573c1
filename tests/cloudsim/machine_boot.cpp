// SPDX-License-Identifier: Apache-2.0
// Machines that really run something.
#include "machine_boot.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine_init.h"

namespace cloudsim {

namespace {

// The plain system call: this process has one thread, and clone() would want a stack.
pid_t fork_with(unsigned long flags) {
  return static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

struct Forked {
  pid_t pid;
  bool isolated;
};

/// In a PID namespace of its own where the kernel lets us: as root, else by way of a user namespace.
Forked fork_machine(bool namespaces) {
  for (const unsigned long flags : {static_cast<unsigned long>(CLONE_NEWPID | CLONE_NEWNS),
                                    static_cast<unsigned long>(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUSER)}) {
    const pid_t pid = namespaces ? fork_with(flags) : -1;
    if (pid >= 0) {
      return {pid, true};
    }
  }
  return {fork_with(0), false};
}

}  // namespace

MachineBoot::MachineBoot(EventLoop& loop, MachineBootSettings settings) : loop_(loop), settings_(std::move(settings)) {}

MachineBoot::~MachineBoot() { stop_all(); }

void MachineBoot::start(const std::string& machine, const std::vector<std::string>& environment) {
  if (settings_.program.empty()) {
    return;
  }
  MachineInit init;
  init.program = settings_.program;
  init.environment = environment;
  const char* const path = std::getenv("PATH");
  init.environment.push_back(std::string("PATH=") + (path == nullptr ? "/usr/sbin:/usr/bin:/sbin:/bin" : path));
  init.environment.insert(init.environment.end(), settings_.environment.begin(), settings_.environment.end());
  init.log_file = settings_.log_dir.empty() ? "/dev/null" : settings_.log_dir + "/" + machine + ".log";
  init.grace = settings_.grace;
  init.user = geteuid();
  init.group = getegid();
  const auto forked = fork_machine(settings_.namespaces);
  if (forked.pid < 0) {
    throw std::system_error(errno, std::generic_category(), "starting machine " + machine);
  }
  if (forked.pid == 0) {
    init.isolated = forked.isolated;
    run_machine(init);
  }
  machines_[forked.pid] = {machine};
}

void MachineBoot::signal_machine(const std::string& machine, int signal) {
  for (auto& [pid, child] : machines_) {
    if (child.machine == machine) {
      kill(pid, signal);
    }
  }
}

void MachineBoot::stop(const std::string& machine) {
  for (auto& [pid, child] : machines_) {
    if (child.machine != machine || child.stopping) {
      continue;
    }
    child.stopping = true;
    kill(pid, SIGTERM);
    // Its init does the killing; this is for an init that hangs.
    loop_.after(settings_.grace + Millis{2000}, [this, pid = pid] {
      if (machines_.count(pid) != 0) {
        kill(pid, SIGKILL);
      }
    });
  }
}

void MachineBoot::freeze(const std::string& machine) { signal_machine(machine, kFreezeSignal); }

void MachineBoot::thaw(const std::string& machine) { signal_machine(machine, kThawSignal); }

void MachineBoot::reap() {
  for (;;) {
    const pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid <= 0) {
      return;
    }
    machines_.erase(pid);
  }
}

void MachineBoot::stop_all() {
  for (const auto& [pid, child] : machines_) {
    kill(pid, SIGTERM);
  }
  const auto patience = settings_.grace + Millis{2000};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!machines_.empty()) {
    reap();
    if (std::chrono::steady_clock::now() >= deadline) {
      for (const auto& [pid, child] : machines_) {
        kill(pid, SIGKILL);
      }
    }
    if (!machines_.empty()) {
      usleep(2000);
    }
  }
}

}  // namespace cloudsim
