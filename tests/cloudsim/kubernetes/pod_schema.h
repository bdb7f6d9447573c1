// SPDX-License-Identifier: Apache-2.0
// The fields of a Pod and their types: what an API server decodes, and what it calls unknown.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace cloudsim::kubernetes {

/// Takes unknown fields out of the pod and gives their paths (`spec.containers[0].imagee`). Throws StatusError 400 for
/// a value of another type.
std::vector<std::string> prune_unknown_pod_fields(nlohmann::json& pod);

}  // namespace cloudsim::kubernetes
