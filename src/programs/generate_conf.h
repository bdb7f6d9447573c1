// SPDX-License-Identifier: Apache-2.0
// The program generate_conf: writes the slurm.conf and gres.conf fragments, or checks the configuration.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "burst/config.h"
#include "burst/files.h"
#include "burst/log.h"
#include "burst/process.h"
#include "burst/provider.h"
#include "burst/slurm.h"
#include "core/conf_check.h"

namespace burst {

struct GenerateConfOptions {
  std::string directory = ".";                ///< where slurm.conf.aws and gres.conf.aws go
  bool to_stdout = false;                     ///< print both instead
  bool check = false;                         ///< print findings instead, write nothing
  std::optional<SlurmVersion> slurm_version;  ///< else the installed Slurm is asked, where it matters
};

/// The parts of the world that it uses; all outlive the call.
struct GenerateConfWorld {
  Files& files;
  Log& log;
  Processes& processes;
  std::ostream& out;
  std::function<HostFacts()> host_facts;  ///< read_host_facts; called for a check, and where groups queue
  std::function<GroupFacts(const NodeGroup&)> group_facts = {};  ///< of the group's provider; may be empty
};

/// The exit status: 0; 1 when the check refuses something. What group_facts() know of a group is written where its
/// SlurmSpecifications are silent; their problems are findings of the check (R8, W21), else warnings in the log. Throws
/// Error{"FileError"} when a file can't be written, Error{"InvalidConfig"} for a fatal one of these problems.
int generate_conf(const GenerateConfOptions& options, const Config& config, const GenerateConfWorld& world);

/// What `scontrol -V`, else `slurmctld -V`, says; nothing when neither can be run.
std::optional<SlurmVersion> installed_slurm_version(const Config& config, Processes& processes);

}  // namespace burst
