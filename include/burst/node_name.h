// SPDX-License-Identifier: Apache-2.0
// The names of nodes: PARTITION-NODEGROUP-ID.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace burst {

/// A node as Slurm calls it, such as `aws-gpu-17`. The contract of the Python plugin: partition and node group are
/// `[a-zA-Z0-9]+`, ids run from 0 to MaxNodes-1.
using NodeName = std::string;

struct NodeNameParts {
  std::string_view partition, group, id;  ///< views into the name; `id` as it is written: `007` stays `007`
  std::uint32_t number = 0;               ///< the id's value
};

/// Nothing when the name is not of the form, or its id does not fit 32 bits.
std::optional<NodeNameParts> parse_node_name(std::string_view name);

}  // namespace burst
