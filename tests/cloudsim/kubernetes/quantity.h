// SPDX-License-Identifier: Apache-2.0
// Amounts as Kubernetes writes them: 500m, 4, 2Gi.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cloudsim::kubernetes {

/// In thousandths. Nothing: no quantity.
std::optional<std::int64_t> parse_quantity(std::string_view text);
/// With binary suffixes or decimal ones.
std::string format_quantity(std::int64_t thousandths, bool binary);

}  // namespace cloudsim::kubernetes
