// SPDX-License-Identifier: Apache-2.0
// What makes an object Invalid (422), in the words of Kubernetes' own validation.
#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kubernetes/api_status.h"
#include "kubernetes/resource_type.h"

namespace cloudsim::kubernetes {

std::vector<Cause> check_new(const ResourceType& type, const nlohmann::json& object);
/// What an update may not change.
std::vector<Cause> check_change(const ResourceType& type, const nlohmann::json& before, const nlohmann::json& after);
/// The defaults that an API server fills in.
void fill_in_pod_defaults(nlohmann::json& pod);
/// The list at `key`, or an empty one.
const nlohmann::json& list_at(const nlohmann::json& object, const char* key);

}  // namespace cloudsim::kubernetes
