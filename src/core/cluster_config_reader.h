// SPDX-License-Identifier: Apache-2.0
// What a cluster_config.json says, read with checks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "burst/config.h"
#include "core/config_place.h"

namespace burst {

/// One of node_pools.
struct NodePool {
  std::string id;
  long long min_nodes = 0, max_nodes = 0;
  std::string model = "STANDARD";    ///< as our ProvisioningModel
  std::string flex_duration;         ///< `604800s`; empty: the default
  std::string zone;                  ///< empty: Google's choice
  std::string reservation;           ///< empty: none
  std::string machine, accelerator;  ///< as Google names them
  long long accelerators = 0;
  std::string boot_disk;  ///< `hyperdisk-balanced, 400 GB`; empty: the template's
  bool public_addresses = false;
};

/// One of the partitions; the indices are those of ClusterConfig::pools.
struct PoolPartition {
  std::string id;
  std::vector<std::size_t> pools;
};

struct ClusterConfig {
  std::string project, region, display_name;
  std::string network, subnetwork, home_storage;  ///< as they stand there
  std::vector<NodePool> pools;                    ///< without the login pool
  std::vector<PoolPartition> partitions;
};

/// Of a document that `root` stands for; problems are in root's list.
ClusterConfig read_cluster_config(const ConfigPlace& root);

}  // namespace burst
