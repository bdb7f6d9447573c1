// SPDX-License-Identifier: Apache-2.0
// Launches under way, and what becomes of machines whose launch came short.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "burst/launch_journal.h"
#include "providers/ec2/ec2_replies.h"

namespace burst::ec2 {

/// A launch under way: one CreateFleet for up to kMachinesPerFleet nodes.
struct FleetBatch {
  std::size_t launch = 0;  ///< index of the caller's Launch
  std::vector<NodeName> nodes;
  std::unique_ptr<LaunchRecord> record;
  std::vector<std::string> instance_ids;  ///< instance_ids[i] is nodes[i]'s
  std::vector<std::size_t> made_by;       ///< by whose fleets, as indices of batches; share_machines() says it
  std::vector<FleetError> errors;
  bool all_or_nothing = false;
  bool done = false;
  int round = 0;
};

bool is_short(const FleetBatch& batch);

/// An instance that serves another launch than the one that it was made for.
struct Move {
  std::size_t made_by = 0;  ///< index of the batch
  std::string instance_id;
  NodeName node;
};

/// All-or-nothing launches that came short give up what they got, for EC2's machines bear no names yet: it goes to
/// those of them that it makes whole, in their order, then to nodes that best-effort launches lack. What nobody can use
/// is surplus.
std::vector<Move> share_machines(std::vector<FleetBatch>& batches, std::vector<std::string>& surplus);

}  // namespace burst::ec2
