// SPDX-License-Identifier: Apache-2.0
// Turns the cluster_config.json of a Slurm cluster on Vertex AI into a partitions.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "burst/config.h"

namespace burst {

struct ConvertedCluster {
  std::string partitions;          ///< the text of partitions.json
  std::vector<std::string> hints;  ///< what an admin still has to do or to know, a line each
};

/// Reads node_pools and orchestrator_spec.slurm_spec.partitions; keys may be written as_these or asThese, numbers and
/// booleans also as strings. The login pool is left out. A node pool becomes a node group of the first partition that
/// names it; further partitions name its nodes (PartitionOptions.Nodes), so that they share them. All problems are
/// appended to `problems`, with the JSON pointer in `file`; with a fatal one the result is empty.
ConvertedCluster convert_cluster_config(const std::string& file, std::string_view text,
                                        std::vector<ConfigProblem>& problems);

}  // namespace burst
