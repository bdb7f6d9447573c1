// SPDX-License-Identifier: Apache-2.0
// A value of the configuration as messages show it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace burst {

/// As JSON, cut after 60 bytes; `an object`, `an array`.
std::string shown(const nlohmann::ordered_json& value);

}  // namespace burst
