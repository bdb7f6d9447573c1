// SPDX-License-Identifier: Apache-2.0
// Objects as the table that `kubectl get` shows.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kubernetes/resource_type.h"

namespace cloudsim::kubernetes {

/// Of one object or of a list.
nlohmann::json to_table(const ResourceType& type, const nlohmann::json& object);

}  // namespace cloudsim::kubernetes
