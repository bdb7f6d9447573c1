// SPDX-License-Identifier: Apache-2.0
// Parameters of EC2's Query protocol.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace burst::ec2 {

using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Appends a JSON value as EC2's wire names it: objects by `.Member`, arrays by `.1`, `.2`, with the singular names
/// that EC2 uses for some lists (`Tags` -> `Tag`; source: botocore's ec2 service model, `locationName`). Booleans as
/// `true`/`false`; null and empty objects are left out.
void append_json(Parameters& parameters, const std::string& name, const nlohmann::ordered_json& value);

/// The name of a member on the wire: `Overrides` stays, `CpuManufacturers` becomes `CpuManufacturer`.
std::string_view wire_name(std::string_view member);

/// application/x-www-form-urlencoded, RFC 3986 escapes.
std::string form_encode(const Parameters& parameters);

}  // namespace burst::ec2
