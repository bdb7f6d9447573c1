// SPDX-License-Identifier: Apache-2.0
// Pod Security admission: the levels that a namespace's label pod-security.kubernetes.io/enforce asks for.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace cloudsim::kubernetes {

/// `violates PodSecurity "restricted:latest": ...`; empty: the pod is allowed.
std::string pod_security_violation(const nlohmann::json& pod, const std::string& level);

}  // namespace cloudsim::kubernetes
