// SPDX-License-Identifier: Apache-2.0
// What has to be done for each node of a resume, by the machines that there are.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "burst/machine.h"

namespace burst {

/// Nodes of a group, by what has to be done for them.
struct ResumeWork {
  std::vector<NodeOutcome> adopted;  ///< have a young machine: only Slurm is told
  std::vector<Machine> leftovers;    ///< machines whose end has failed: ended before the node gets a new one
  std::vector<NodeName> to_start;
};

ResumeWork divide(std::span<const NodeName> nodes, std::span<const Machine> machines, std::chrono::sys_seconds now,
                  std::chrono::seconds resume_timeout);

}  // namespace burst
