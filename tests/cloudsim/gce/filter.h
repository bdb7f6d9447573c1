// SPDX-License-Identifier: Apache-2.0
// The `filter` parameter of list calls: AIP-160's form and the older one with `eq` and `ne`.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace cloudsim::gce {

/// Says whether a resource, in its JSON form, is in.
using Filter = std::function<bool(const nlohmann::json&)>;

/// Takes `a.b = x`, `!=`, `<`, `<=`, `>`, `>=`, `:` (contains; `:*` exists), `a eq 'RE2'`, `a ne 'RE2'`, AND (or mere
/// juxtaposition), OR (which binds closer), NOT, parentheses; strings bare or quoted. The empty text lets all in.
/// Throws ApiError for any other syntax, and for a field that `message` (of compute-v1.json) has not got.
Filter parse_filter(const std::string& text, const std::string& message);

}  // namespace cloudsim::gce
