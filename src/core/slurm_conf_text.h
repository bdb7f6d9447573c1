// SPDX-License-Identifier: Apache-2.0
// The slurm.conf fragment that declares the cloud nodes and their partitions.
#pragma once

#include <optional>
#include <string>

#include "burst/config.h"
#include "burst/slurm.h"

namespace burst {

/// The static nodes of all groups, as a hostlist for SuspendExcNodes: `aws-gpu-[0-1],aws-cpu-0`; empty without any.
std::string static_nodes(const Config& config);

/// Whether the group's machines may wait in the provider's queue: it needs a ResumeTimeout of its own.
bool machines_queue(const NodeGroup& group);

/// What SlurmctldParameters has to be when a group's machines queue: resume can't tell the addresses of such, and Slurm
/// takes them from the registration only with `cloud_reg_addrs` (20.11 to 23.02; an unknown release counts as one of
/// these, later ones pass over the word). Made from SlurmConf's value, else that of the `installed` slurm.conf (may be
/// null); empty when nothing is to be added.
std::string wanted_controller_parameters(const Config& config, const std::optional<SlurmVersion>& version,
                                         const SlurmOptions* installed);

/// The lines of SlurmConf, then for each partition a NodeName line a group and a PartitionName line. The same lines in
/// the same order as the Python plugin's; defaults and what groups need stand only where the user's options do not set
/// them; SuspendExcNodes is added where groups have static nodes. `controller_parameters`: the value for
/// SlurmctldParameters, in place of SlurmConf's; empty: left as it is.
std::string slurm_conf_text(const Config& config, const std::string& controller_parameters = "");

}  // namespace burst
