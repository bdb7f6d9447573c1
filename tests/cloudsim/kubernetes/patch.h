// SPDX-License-Identifier: Apache-2.0
// PATCH bodies: JSON merge patch, strategic merge patch (as far as kubectl needs it), JSON patch.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace cloudsim::kubernetes {

/// Throws StatusError 400 or 415.
nlohmann::json apply_patch(const nlohmann::json& object, const nlohmann::json& patch, const std::string& content_type);

}  // namespace cloudsim::kubernetes
