// SPDX-License-Identifier: Apache-2.0
// The first process of a machine: what `init` is to a computer.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/types.h>

#include "event_loop.h"

namespace cloudsim {

constexpr int kFreezeSignal = SIGUSR1;
constexpr int kThawSignal = SIGUSR2;

struct MachineInit {
  std::string program;
  std::vector<std::string> environment;
  std::string log_file;
  Millis grace{0};
  uid_t user = 0;
  gid_t group = 0;
  bool isolated = false;  ///< this process is number 1 of a PID namespace
};

/// Runs the program, reaps orphans, obeys SIGTERM (end everything), kFreezeSignal, kThawSignal. The process must have
/// one thread. It lives until it is told to end, also after its program has.
[[noreturn]] void run_machine(const MachineInit& init);

}  // namespace cloudsim
