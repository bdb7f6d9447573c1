// SPDX-License-Identifier: Apache-2.0
// Slurm's timeouts as they hold for one node group.
#pragma once

#include <chrono>

#include "burst/config.h"
#include "burst/slurm.h"

namespace burst {

struct GroupTimeouts {
  std::chrono::seconds resume, suspend;
};

/// The partition's ResumeTimeout and SuspendTimeout (its own since Slurm 21.08: of PartitionOptions, else what its
/// groups need), else slurm.conf's. A value that is no number of seconds is slurm.conf's; INFINITE is a day.
GroupTimeouts group_timeouts(const Config& config, const NodeGroup& group, const SlurmConf& slurm_conf);

}  // namespace burst
