// SPDX-License-Identifier: Apache-2.0
// A JSON body against its message type, as Google's proto JSON parser takes and refuses it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "gce/api_description.h"

namespace cloudsim::gce {

/// `body` in canonical form (see ApiCall::body). What is wrong with it is added to `complaints`, all of it.
nlohmann::json check_message(const std::string& message, const nlohmann::json& body,
                             std::vector<std::string>& complaints);

/// Whether a parameter's text is of that type; `wanted` is then the name that Google gives the type: "TYPE_BOOL".
bool fits_parameter(const FieldType& type, const std::string& text, std::string& wanted);

std::string camel_case(const std::string& name);  ///< "max_run_duration" -> "maxRunDuration"
std::string snake_case(const std::string& name);  ///< and back

}  // namespace cloudsim::gce
