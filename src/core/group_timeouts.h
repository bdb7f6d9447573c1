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

/// PartitionOptions' ResumeTimeout and SuspendTimeout (a partition may have its own since Slurm 21.08), else what the
/// providers of the partition's groups need (generate_conf writes it for the partition; the longest), else
/// slurm.conf's. A value that is no number of seconds counts as none; INFINITE is a day.
GroupTimeouts group_timeouts(const Config& config, const NodeGroup& group, const SlurmConf& slurm_conf);

}  // namespace burst
