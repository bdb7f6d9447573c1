// SPDX-License-Identifier: Apache-2.0
// Which launches a node group's nodes are started by.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "burst/config.h"
#include "burst/machine.h"
#include "burst/slurm.h"

namespace burst {

/// best-effort: one launch for all. all-or-nothing: one launch a job that has several of these nodes, in the order of
/// the jobs; nodes of single-node jobs and of none share one best-effort launch. Without the jobs (a call without
/// SLURM_RESUME_FILE) all nodes are one all-or-nothing launch. `by_job` (LaunchNeeds): each job has a launch of its
/// own, whatever the strategy, and nodes of none share one. A node that several jobs share goes with the first. Every
/// node is in exactly one launch; a launch whose nodes are all of one job bears it.
std::vector<Launch> plan_launches(std::span<const NodeName> nodes, LaunchStrategy strategy,
                                  const std::optional<std::vector<ResumeJob>>& jobs, bool by_job = false);

}  // namespace burst
