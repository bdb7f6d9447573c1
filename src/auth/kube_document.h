// SPDX-License-Identifier: Apache-2.0
// YAML and JSON files of Kubernetes (kubeconfig, pod template) as JSON values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace burst::auth {

inline constexpr std::size_t kLargestKubeDocument = std::size_t{1} << 20U;  ///< bytes of a file
inline constexpr std::size_t kMostKubeValues = 100'000;                     ///< values in it, aliases written out
inline constexpr int kDeepestKubeValue = 100;

/// The one document that `text` holds, null when it holds nothing. Plain scalars are typed as kubectl types them (YAML
/// 1.1: `on` is true, `017` is 15); aliases and merge keys (`<<`) are resolved. Throws Error{"InvalidConfig",
/// `reading "PATH": line 3, column 5: ...`} for what is not YAML, holds a key twice, has more than one document or is
/// larger than the limits. No message quotes the text, which may hold secrets.
nlohmann::json parse_kube_document(std::string_view text, std::string_view path);

}  // namespace burst::auth
