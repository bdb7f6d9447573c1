// SPDX-License-Identifier: Apache-2.0
// Makes nodes of a NodeSet active and looks after their pods for a while.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "burst/log.h"
#include "burst/provider.h"
#include "providers/kubernetes/node_set_api.h"

namespace burst::kubernetes {

/// A node group and the NodeSet that it is.
struct NodeSetGroup {
  NodeGroup group;
  GroupSettings settings;
  NodeSetApi api;
  Clock& clock;
  Log& log;

  /// Nothing for what is no node of the group.
  std::optional<std::int64_t> ordinal_of(const NodeName& node) const;
  /// Whether the ordinal is one of the group's; others are someone else's and stay as they are.
  bool owns(std::int64_t ordinal) const { return ordinal >= 0 && ordinal < group.max_nodes; }
  NodeName node(std::int64_t ordinal) const { return group.node(static_cast<int>(ordinal)); }
  std::string pod_name(std::int64_t ordinal) const;

  /// As list() gives it: its pod's machine under its node's name.
  Machine machine(std::int64_t ordinal, const Pod& pod) const;
  /// Of an active node that has no pod yet; the id is `NODESET/N`.
  Machine machine_without_pod(std::int64_t ordinal) const;
};

/// As Provider::start(). Throws Error: nothing may have become active, or all.
std::vector<NodeOutcome> start_in_node_set(const NodeSetGroup& group, std::span<const Launch> launches,
                                           const StartedSink& started);

}  // namespace burst::kubernetes
