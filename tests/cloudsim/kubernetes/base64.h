// SPDX-License-Identifier: Apache-2.0
// Base64 as kubeconfig, continue tokens and EKS tokens have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cloudsim::kubernetes {

std::string base64_encode(std::string_view bytes);
std::string base64url_encode(std::string_view bytes);                ///< without padding
std::optional<std::string> base64url_decode(std::string_view text);  ///< without padding; nothing: not that

}  // namespace cloudsim::kubernetes
