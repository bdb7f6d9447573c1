// SPDX-License-Identifier: Apache-2.0
// The rule W16: options of node and partition lines that Slurm does not have.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/conf_check_rules.h"
#include "core/config_keys.h"

namespace burst {

namespace {

// slurm.conf(5) of 22.05 to 26.05.
constexpr auto kNodeOptions = std::to_array<std::string_view>({"NodeHostname",
                                                               "NodeAddr",
                                                               "BcastAddr",
                                                               "Boards",
                                                               "CoreSpecCount",
                                                               "CoresPerSocket",
                                                               "CpuBind",
                                                               "CPUs",
                                                               "CpuSpecList",
                                                               "Feature",
                                                               "Features",
                                                               "Gres",
                                                               "MemSpecLimit",
                                                               "Parameters",
                                                               "Port",
                                                               "Procs",
                                                               "RealMemory",
                                                               "Reason",
                                                               "RestrictedCoresPerGPU",
                                                               "Sockets",
                                                               "SocketsPerBoard",
                                                               "State",
                                                               "SuspendTime",
                                                               "ThreadsPerCore",
                                                               "TmpDisk",
                                                               "Topology",
                                                               "Weight"});
constexpr auto kPartitionOptions = std::to_array<std::string_view>({"AllocNodes",
                                                                    "AllowAccounts",
                                                                    "AllowGroups",
                                                                    "AllowQos",
                                                                    "Alternate",
                                                                    "CpuBind",
                                                                    "Default",
                                                                    "DefaultTime",
                                                                    "DefCpuPerGPU",
                                                                    "DefMemPerCPU",
                                                                    "DefMemPerGPU",
                                                                    "DefMemPerNode",
                                                                    "DenyAccounts",
                                                                    "DenyQos",
                                                                    "DisableRootJobs",
                                                                    "ExclusiveTopo",
                                                                    "ExclusiveUser",
                                                                    "GraceTime",
                                                                    "Hidden",
                                                                    "JobDefaults",
                                                                    "LLN",
                                                                    "MaxCPUsPerNode",
                                                                    "MaxCPUsPerSocket",
                                                                    "MaxMemPerCPU",
                                                                    "MaxMemPerNode",
                                                                    "MaxNodes",
                                                                    "MaxTime",
                                                                    "MinNodes",
                                                                    "Nodes",
                                                                    "OverSubscribe",
                                                                    "OverTimeLimit",
                                                                    "PowerDownOnIdle",
                                                                    "PreemptMode",
                                                                    "Priority",
                                                                    "PriorityJobFactor",
                                                                    "PriorityTier",
                                                                    "QOS",
                                                                    "ReqResv",
                                                                    "ResumeTimeout",
                                                                    "RootOnly",
                                                                    "SelectTypeParameters",
                                                                    "Shared",
                                                                    "State",
                                                                    "SuspendTime",
                                                                    "SuspendTimeout",
                                                                    "Topology",
                                                                    "TRESBillingWeights"});

void spelling_of(const SlurmOptions& options, std::span<const std::string_view> known, const std::string& where,
                 Messages& messages) {
  for (const auto& [key, value] : options) {
    const std::string_view name = key;
    if (std::any_of(known.begin(), known.end(), [name](auto one) { return same_option(one, name); })) continue;
    const auto nearest = nearest_word(name, known);
    messages.push_back(fmt::format("{}: {} is no option of Slurm that this check knows{}", where, name,
                                   nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest)));
  }
}

}  // namespace

void spelling(const CheckSubject& subject, Messages& messages) {
  for (const auto& partition : subject.config.partitions) {
    spelling_of(partition.options, kPartitionOptions, "partition " + partition.name, messages);
    for (const auto& group : partition.groups) {
      spelling_of(group.slurm_specifications, kNodeOptions, group.key(), messages);
    }
  }
}

}  // namespace burst
