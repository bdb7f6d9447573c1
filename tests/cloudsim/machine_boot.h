// SPDX-License-Identifier: Apache-2.0
// Machines that really run something: each one a process tree that ends as a whole, whatever it starts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "event_loop.h"

namespace cloudsim {

struct MachineBootSettings {
  std::string program;                   ///< run without a shell; empty: machines run nothing
  std::vector<std::string> environment;  ///< K=V, beside what every machine gets
  std::string log_dir;                   ///< MACHINE.log each; empty: output is thrown away
  Millis grace{300};                     ///< between SIGTERM and SIGKILL
  bool namespaces = true;                ///< false: as where the kernel forbids them
};

/// A machine is an init process of our own in a PID namespace (where that is permitted; else a subreaper) that runs the
/// program, reaps what it leaves, and stays until the machine is stopped. None of them survives cloudsim.
class MachineBoot {
 public:
  MachineBoot(EventLoop& loop, MachineBootSettings settings);
  ~MachineBoot();  ///< ends and reaps all
  MachineBoot(const MachineBoot&) = delete;
  MachineBoot& operator=(const MachineBoot&) = delete;

  /// `environment` (K=V) beside PATH and the settings'. Nothing happens without a program. Throws std::system_error.
  void start(const std::string& machine, const std::vector<std::string>& environment);
  void stop(const std::string& machine);    ///< SIGTERM to everything in it, SIGKILL after the grace
  void freeze(const std::string& machine);  ///< everything in it stops where it is
  void thaw(const std::string& machine);
  void reap();  ///< to be called at SIGCHLD
  void stop_all();
  std::size_t running() const { return machines_.size(); }

 private:
  struct Child {
    std::string machine;
    bool stopping = false;
  };
  void signal_machine(const std::string& machine, int signal);

  EventLoop& loop_;
  MachineBootSettings settings_;
  std::map<pid_t, Child> machines_;
};

}  // namespace cloudsim
