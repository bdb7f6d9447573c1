// SPDX-License-Identifier: Apache-2.0
// The keys of a `gce` node group, read.
#include "providers/gce/gce_settings.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "providers/gce/gce_names.h"
#include "providers/gce/gce_settings_check.h"
#include "providers/tag_text.h"

namespace burst::gce {
namespace {

using Json = nlohmann::ordered_json;

Labels labels_of(const Config& config, const Json& json) {
  Labels labels;
  for (const auto& [tag, value] : config.machine_tags) {
    auto key = as_label_text(tag);
    if (!is_label_key(key)) key = as_label_text("tag-" + key);
    if (!is_own_label(key) && !is_of_the_node(value)) labels[key] = as_label_text(value);
  }
  if (const auto own = json.find("Labels"); own != json.end()) {
    for (const auto& [key, value] : own->items()) labels[key] = value.get<std::string>();
  }
  return labels;
}

std::string template_path(const Json& json, const std::string& project) {
  const auto found = parse_resource(json.value("InstanceTemplate", ""), "instanceTemplates", project);
  if (!found) return "";
  return fmt::format("projects/{}/{}/instanceTemplates/{}", found->project,
                     found->location.empty() ? "global" : found->location, found->name);
}

/// A name alone stays one: it means the machine's own project.
std::string reservation_path(const Json& json, const std::string& project) {
  const auto text = json.value("Reservation", "");
  const auto found = parse_resource(text, "reservations", project);
  if (!found || is_dns_label(text)) return text;
  return fmt::format("projects/{}/reservations/{}", found->project, found->name);
}

std::string policy_path(const Json& json, const std::string& project, const std::string& region) {
  const auto found = parse_resource(json.value("Placement", ""), "resourcePolicies", project);
  if (!found) return "";
  return fmt::format("projects/{}/regions/{}/resourcePolicies/{}", found->project, region, found->name);
}

SlurmOptions partition_options(const Json& group) {
  if (provisioning_model(group) != ProvisioningModel::flex_start) return {};
  return {{"ResumeTimeout", "65533"}};  // the longest up to Slurm 24.11; INFINITE is known since 25.05 only
}

}  // namespace

std::string label_value(const std::string& text) {
  if (is_label_value(text)) return text;
  constexpr std::size_t longest = 63, digits = 10;
  constexpr std::uint64_t hash_mask = (1ULL << (4 * digits)) - 1;
  return fmt::format("{}-{:010x}", as_label_text(text).substr(0, longest - digits - 1), hash_of(text) & hash_mask);
}

GroupSettings parse_settings(const Config& config, const NodeGroup& group) {
  constexpr std::chrono::seconds shortest_request{kShortestRequest};
  const Json& json = *group.settings;
  GroupSettings settings;
  settings.project = json.value("Project", "");
  settings.region = json.value("Region", "");
  settings.zones = json.value("Zones", std::vector<std::string>{});
  settings.instance_template = template_path(json, settings.project);
  settings.model = provisioning_model(json).value_or(ProvisioningModel::standard);
  if (const auto found = json.find("FlexStartMaxDuration"); found != json.end()) {
    const std::chrono::seconds duration{flex_duration(*found).value_or(kLongestRequest)};
    settings.flex_max_duration = std::max(shortest_request, duration);
  }
  settings.flex_use_job_duration = json.value("FlexStartUseJobDuration", false);
  settings.boot_timeout = std::chrono::seconds(json.value("BootTimeout", settings.boot_timeout.count()));
  settings.instance_properties = std::make_shared<const Json>(json.value("InstanceProperties", Json::object()));
  settings.reservation = reservation_path(json, settings.project);
  settings.resource_policy = policy_path(json, settings.project, settings.region);
  settings.labels = labels_of(config, json);
  settings.credentials_file = json.value("CredentialsFile", "");
  settings.impersonate_service_account = json.value("ImpersonateServiceAccount", "");
  return settings;
}

ProviderKeys settings_keys() {
  ProviderKeys keys;
  keys.name = "gce";
  keys.keys = {"Project",
               "Region",
               "Zones",
               "InstanceTemplate",
               "ProvisioningModel",
               "FlexStartMaxDuration",
               "BootTimeout",
               "FlexStartUseJobDuration",
               "Reservation",
               "InstanceProperties",
               "Placement",
               "Labels",
               "CredentialsFile",
               "ImpersonateServiceAccount"};
  keys.check = &check_settings;
  keys.partition_options = &partition_options;
  keys.nodes_are_dns_labels = true;
  keys.termination_time = std::chrono::seconds(120);
  return keys;
}

}  // namespace burst::gce
