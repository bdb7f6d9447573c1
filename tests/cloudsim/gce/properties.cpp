// SPDX-License-Identifier: Apache-2.0
// Instance properties, as templates and bulkInsert bring them.
#include <array>
#include <regex>

#include <fmt/format.h>

#include "gce/methods.h"
#include "gce/names.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kShortestRun = 30;
constexpr std::int64_t kLongestRun = 120 * 86'400;
constexpr std::int64_t kLongestFlexRun = 604'800;
constexpr std::size_t kMostLabels = 64;
constexpr std::size_t kLongestMetadataValue = 262'144;

void check_labels(const Json& properties, const std::string& field) {
  static const std::regex kKey("[a-z][a-z0-9_-]{0,62}");
  static const std::regex kValue("[a-z0-9_-]{0,63}");
  const auto labels = properties.value("labels", Json::object());
  if (labels.size() > kMostLabels) {
    throw invalid(fmt::format("The number of labels in '{}.labels' is too large: {}.", field, labels.size()));
  }
  for (const auto& [key, value] : labels.items()) {
    if (!std::regex_match(key, kKey)) {
      throw invalid_field(field + ".labels", key, "Label key '" + key + "' violates format constraints.");
    }
    if (!std::regex_match(value.get<std::string>(), kValue)) {
      throw invalid_field(field + ".labels", value,
                          "Label value '" + value.get<std::string>() + "' violates format constraints.");
    }
  }
}

void check_metadata(const Json& properties, const std::string& field) {
  static const std::regex kKey("[a-zA-Z0-9-_]{1,128}");
  for (const auto& item : properties.value("metadata", Json::object()).value("items", Json::array())) {
    const auto key = item.value("key", "");
    if (!std::regex_match(key, kKey)) {
      throw invalid_field(field + ".metadata.items.key", key, "Must be a match of regex '[a-zA-Z0-9-_]{1,128}'");
    }
    if (item.value("value", "").size() > kLongestMetadataValue) {
      throw invalid(fmt::format("Value for metadata key '{}' is too large", key));
    }
  }
}

void check_scheduling(const Json& properties, const std::string& field) {
  const auto scheduling = properties.value("scheduling", Json::object());
  static const std::regex kModels("STANDARD|SPOT|RESERVATION_BOUND|FLEX_START");
  const auto model = model_of(properties);
  if (!std::regex_match(model, kModels)) {
    throw invalid_field(field + ".scheduling.provisioningModel", model, "Unknown enum value.");
  }
  static const std::regex kActions("DELETE|STOP");
  const auto action = scheduling.value("instanceTerminationAction", "");
  if (!action.empty() && !std::regex_match(action, kActions)) {
    throw invalid_field(field + ".scheduling.instanceTerminationAction", action, "Unknown enum value.");
  }
  const bool flex = model == "FLEX_START";
  if (!scheduling.contains("maxRunDuration")) {
    return;
  }
  const auto text = scheduling["maxRunDuration"].value("seconds", "0");
  const auto longest = flex ? kLongestFlexRun : kLongestRun;
  if (std::stoll(text) < kShortestRun || std::stoll(text) > longest) {
    throw invalid_field(field + ".scheduling.maxRunDuration.seconds", text,
                        fmt::format("Must be from {} to {}, inclusive.", kShortestRun, longest));
  }
  if (action.empty()) {
    throw invalid("You must specify an instance termination action when you limit the run time of an instance.");
  }
}

}  // namespace

void check_properties(const Json& properties, const std::string& field) {
  if (type_of(properties).empty()) {
    throw api_error(400, "required", fmt::format("Required field '{}.machineType' not specified", field));
  }
  for (const auto* const list : {"disks", "networkInterfaces"}) {
    if (properties.value(list, Json::array()).empty()) {
      throw invalid_field(fmt::format("{}.{}", field, list), "",
                          list == std::string_view("disks") ? "Boot disk must be specified."
                                                            : "At least one network interface is required.");
    }
  }
  check_labels(properties, field);
  check_metadata(properties, field);
  check_scheduling(properties, field);
}

}  // namespace cloudsim::gce
