// SPDX-License-Identifier: Apache-2.0
// The keys that the two configuration files may hold; schemas and docs/configuration.md are tested against them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace burst {

/// config.json itself. `$schema` is for editors.
inline constexpr auto kConfigKeys = std::to_array<std::string_view>(
    {"$schema",          "LogLevel",      "LogFileName", "SlurmBinPath",          "SlurmConf",
     "ClusterName",      "StateDir",      "Environment", "MachineTags",           "RequestLimits",
     "RequestsInFlight", "AdoptUntagged", "LaunchGrace", "OrphanGrace",           "MissingGrace",
     "CoolDown",         "MaxCoolDown",   "ProbeTime",   "BootstrapFailureLimit", "Deadline"});
/// What SlurmConf must hold, besides any other option of slurm.conf.
inline constexpr auto kRequiredSlurmConf =
    std::to_array<std::string_view>({"PrivateData", "ResumeProgram", "SuspendProgram", "ResumeRate", "SuspendRate",
                                     "ResumeTimeout", "SuspendTime", "TreeWidth"});
/// One action of RequestLimits.
inline constexpr auto kRequestLimitKeys = std::to_array<std::string_view>({"Burst", "PerSecond"});
/// partitions.json itself.
inline constexpr auto kPartitionsFileKeys = std::to_array<std::string_view>({"$schema", "Partitions"});
inline constexpr auto kPartitionKeys =
    std::to_array<std::string_view>({"PartitionName", "NodeGroups", "PartitionOptions"});
/// A node group of any provider; the provider's own keys are in its ProviderKeys.
inline constexpr auto kNodeGroupKeys =
    std::to_array<std::string_view>({"NodeGroupName", "MaxNodes", "MinNodes", "Provider", "SlurmSpecifications",
                                     "LaunchStrategy", "ExpiryReservation", "Tags"});
/// One tag of a node group.
inline constexpr auto kTagKeys = std::to_array<std::string_view>({"Key", "Value"});

/// The word that someone who wrote `word` most likely meant, compared without case; empty when none is near.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words);

}  // namespace burst
