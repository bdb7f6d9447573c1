// SPDX-License-Identifier: Apache-2.0
// The slurm.conf fragment that declares the cloud nodes and their partitions.
#pragma once

#include <string>
#include <string_view>

#include "burst/config.h"

namespace burst {

/// Whether two names of Slurm options are one: Slurm compares them without case.
bool same_option(std::string_view a, std::string_view b);
/// The last value of an option, which is the one that Slurm takes; null when it is not there.
const std::string* find_option(const SlurmOptions& options, std::string_view name);

/// The static nodes of all groups, as a hostlist for SuspendExcNodes: `aws-gpu-[0-1],aws-cpu-0`; empty without any.
std::string static_nodes(const Config& config);

/// The lines of SlurmConf, then for each partition a NodeName line a group and a PartitionName line. The same lines in
/// the same order as the Python plugin's; defaults stand only where the user's options do not set them; SuspendExcNodes
/// is added where groups have static nodes.
std::string slurm_conf_text(const Config& config);

}  // namespace burst
