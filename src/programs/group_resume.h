// SPDX-License-Identifier: Apache-2.0
// The resume of one node group: what is adopted, ended, started and refused.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/whole_jobs.h"
#include "programs/suite.h"

namespace burst {

/// Takes what became of a group's nodes; of none where the group was busy.
using OutcomesSink = std::function<void(std::span<const NodeOutcome>)>;

/// Returns whether every node has, or will have, its machine. `decided` is called once, before Slurm is told of the
/// nodes that are refused.
bool resume_group(const GroupNodes& part, const std::optional<CallJobs>& jobs, Suite& suite,
                  const OutcomesSink& decided);

/// --dry-run.
void print_group_plan(const GroupNodes& part, const std::optional<CallJobs>& jobs, Suite& suite);

}  // namespace burst
