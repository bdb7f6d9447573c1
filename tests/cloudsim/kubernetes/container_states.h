// SPDX-License-Identifier: Apache-2.0
// What a pod's status says about its containers.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace cloudsim::kubernetes {

/// `[slurmd munge]` as conditions list them, or just the first one's name.
std::string container_names(const nlohmann::json& pod, bool all = true);
std::string first_image(const nlohmann::json& pod);
void set_waiting(nlohmann::json& pod, const std::string& reason, const std::string& message);
void set_running(nlohmann::json& pod, bool ready);
/// They have ended, and wait to be started again.
void set_crashed(nlohmann::json& pod, const std::string& message, const std::string& back_off);
void set_terminated(nlohmann::json& pod, int exit_code, const std::string& reason);

}  // namespace cloudsim::kubernetes
