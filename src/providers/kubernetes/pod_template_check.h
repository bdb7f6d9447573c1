// SPDX-License-Identifier: Apache-2.0
// What a pod template lacks for slurmd: warnings, as Kubernetes takes it either way.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace burst::kubernetes {

/// Of a filled-in pod (PodTemplate::json()). A guess where an image's own entry point starts slurmd: what the template
/// does not show counts as missing.
std::vector<std::string> lacks_of(const nlohmann::ordered_json& pod);

}  // namespace burst::kubernetes
