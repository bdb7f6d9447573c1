// SPDX-License-Identifier: Apache-2.0
// Partial replies: the parameter `fields` of all Google APIs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace cloudsim::gce {

/// What of `reply` the mask names: "items(name,labels/job),nextPageToken"; `*` stands for any field, lists are passed
/// through. Throws ApiError for a mask that is none.
nlohmann::json select_fields(const nlohmann::json& reply, const std::string& mask);

}  // namespace cloudsim::gce
