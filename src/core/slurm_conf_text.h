// SPDX-License-Identifier: Apache-2.0
// The slurm.conf fragment that declares the cloud nodes and their partitions.
#pragma once

#include <string>
#include <string_view>

#include "burst/config.h"

namespace burst {

/// The static nodes of all groups, as a hostlist for SuspendExcNodes: `aws-gpu-[0-1],aws-cpu-0`; empty without any.
std::string static_nodes(const Config& config);

/// The lines of SlurmConf, then for each partition a NodeName line a group and a PartitionName line. The same lines in
/// the same order as the Python plugin's; defaults stand only where the user's options do not set them; SuspendExcNodes
/// is added where groups have static nodes.
std::string slurm_conf_text(const Config& config);

}  // namespace burst
