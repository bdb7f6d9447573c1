// SPDX-License-Identifier: Apache-2.0
// What `generate_conf --check` finds: rules about power saving that Slurm itself reports late or not at all.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "burst/config.h"
#include "burst/slurm.h"

namespace burst {

/// `error: R4 ...` is refused, `warning: W1 ...` is not. docs/configuration.md lists the rules.
struct Finding {
  std::string rule;
  bool error = false;
  std::string message;
  bool operator==(const Finding&) const = default;
};

struct ProgramFacts {
  bool exists = false, executable = false;
  bool writable_by_others = false;  ///< by group or others: Slurm refuses to run it
};

/// What the rules use of the machine that the check runs on. Each part may be missing: what is not known is not
/// judged.
struct HostFacts {
  std::map<std::string, ProgramFacts> programs;  ///< by path, as SlurmConf names them
  std::optional<SlurmOptions> slurm_conf;  ///< the global options of the installed slurm.conf, Include not followed
  bool other_nodes = false;                ///< slurm.conf declares nodes that are not in the cloud
  std::optional<std::string> gres_conf, topology_conf;  ///< the content of the files beside slurm.conf
  bool topology_yaml = false;
  std::vector<std::string> unreadable;  ///< configuration files that SlurmUser can't read
};

/// All findings, refusals first, each group in the order of the rules. Pure.
std::vector<Finding> check_conf(const Config& config, const SlurmVersion& version, const HostFacts& host);

/// `error: R4 ...`
std::string to_string(const Finding& finding);

}  // namespace burst
