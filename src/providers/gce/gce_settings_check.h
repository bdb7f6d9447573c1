// SPDX-License-Identifier: Apache-2.0
// The check of a `gce` node group's keys, and what check and reader both need.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/config.h"
#include "providers/gce/gce_settings.h"

namespace burst::gce {

/// Seconds: of FlexStartMaxDuration at least, of a resize request at least and at most.
inline constexpr long long kShortestDuration = 30, kShortestRequest = 600, kLongestRequest = 604'800;

/// All problems of a group's own keys; see ProviderKeys::check.
std::vector<ConfigProblem> check_settings(const nlohmann::ordered_json& group);

/// STANDARD when the key is absent; nothing for a word that is none.
std::optional<ProvisioningModel> provisioning_model(const nlohmann::ordered_json& group);

/// FlexStartMaxDuration in seconds, "604800s" or 604800, in whatever range; nothing for anything else.
std::optional<long long> flex_duration(const nlohmann::ordered_json& value);

/// Whether slurm-burst sets this label itself: burst-cluster, burst-partition, burst-group, burst-launch, burst-job.
bool is_own_label(std::string_view key);

}  // namespace burst::gce
