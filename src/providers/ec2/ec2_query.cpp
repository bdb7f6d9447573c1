// SPDX-License-Identifier: Apache-2.0
// Parameters of EC2's Query protocol: JSON passed through under the names of the wire.
#include "providers/ec2/ec2_query.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace burst::ec2 {
namespace {

using Json = nlohmann::ordered_json;

/// Lists of CreateFleet's members whose wire name is not the member's own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kRenamed{{
    {"AcceleratorManufacturers", "AcceleratorManufacturer"},
    {"AcceleratorNames", "AcceleratorName"},
    {"AcceleratorTypes", "AcceleratorType"},
    {"AllowedInstanceTypes", "AllowedInstanceType"},
    {"BlockDeviceMappings", "BlockDeviceMapping"},
    {"CpuManufacturers", "CpuManufacturer"},
    {"ExcludedInstanceTypes", "ExcludedInstanceType"},
    {"Filters", "Filter"},
    {"InstanceGenerations", "InstanceGeneration"},
    {"InstanceIds", "InstanceId"},
    {"LocalStorageTypes", "LocalStorageType"},
    {"References", "Reference"},
    {"ReservationTypes", "ReservationType"},
    {"Resources", "ResourceId"},
    {"SecurityGroupIds", "SecurityGroupId"},
    {"SecurityGroups", "SecurityGroup"},
    {"TagSpecifications", "TagSpecification"},
    {"Tags", "Tag"},
    {"Values", "Value"},
}};

std::string scalar(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

}  // namespace

std::string_view wire_name(std::string_view member) {
  const auto renamed =
      std::find_if(kRenamed.begin(), kRenamed.end(), [&](const auto& row) { return row.first == member; });
  return renamed == kRenamed.end() ? member : renamed->second;
}

void append_json(Parameters& parameters, const std::string& name, const Json& value) {
  if (value.is_object()) {
    for (const auto& [member, child] : value.items())
      append_json(parameters, name + "." + std::string(wire_name(member)), child);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      append_json(parameters, name + "." + std::to_string(i + 1), value[i]);
  } else if (!value.is_null()) {
    parameters.emplace_back(name, scalar(value));
  }
}

std::string form_encode(const Parameters& parameters) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string body;
  const auto escape = [&](std::string_view text) {
    for (const char c : text) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                         c == '_' || c == '.' || c == '~';
      if (plain) {
        body += c;
      } else {
        const auto byte = static_cast<unsigned char>(c);
        body += {'%', hex[byte >> 4U], hex[byte & 15U]};
      }
    }
  };
  for (const auto& [name, value] : parameters) {
    if (!body.empty()) body += '&';
    escape(name);
    body += '=';
    escape(value);
  }
  return body;
}

}  // namespace burst::ec2
