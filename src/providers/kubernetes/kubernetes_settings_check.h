// SPDX-License-Identifier: Apache-2.0
// The check of a `kubernetes` node group's keys, and what check and reader both need.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/config.h"
#include "providers/kubernetes/kubernetes_settings.h"

namespace burst::kubernetes {

/// Slurm's longest ResumeTimeout up to 24.11.
inline constexpr long long kLongestResumeTimeout = 65'533;

/// ProviderKeys::check of a `kubernetes` group.
std::vector<ConfigProblem> check_settings(const nlohmann::ordered_json& group);

/// `pod` when absent; nothing for a word that is none.
std::optional<Mode> mode_of(const nlohmann::ordered_json& group);

}  // namespace burst::kubernetes
