// SPDX-License-Identifier: Apache-2.0
// The command lines of the four programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace burst {

enum class Tool { resume, suspend, change_state, generate_conf };

struct CommandLine {
  std::optional<int> status;  ///< set: --help, --version or a wrong command line was dealt with; exit with it
  std::string config;
  bool dry_run = false;
  std::vector<std::string> arguments;  ///< what is no option: slurmctld's hostlist is among them

  // generate_conf alone:
  std::string output_directory = ".";
  bool to_stdout = false, check = false;
  std::string slurm_version;
  std::string cluster_config;  ///< --from-cluster-config
};

/// Prints what --help or a mistake calls for. Exit status 1 for a mistake.
CommandLine parse_command_line(Tool tool, int argc, char** argv);

}  // namespace burst
