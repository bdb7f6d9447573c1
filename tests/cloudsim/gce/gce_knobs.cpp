// SPDX-License-Identifier: Apache-2.0
// Settings that a test turns: those of Compute Engine.
#include "gce/gce_knobs.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <unordered_map>

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

Millis millis(const Json& value) { return Millis{value.get<std::int64_t>()}; }

Json base_properties(const std::string& machine_type) {
  return {{"machineType", machine_type},
          {"disks",
           {{{"boot", true},
             {"autoDelete", true},
             {"type", "PERSISTENT"},
             {"initializeParams", {{"sourceImage", "projects/debian-cloud/global/images/family/debian-12"}}}}}},
          {"networkInterfaces", {{{"network", "global/networks/default"}}}}};
}

Json flex_properties() {
  auto out = base_properties("a3-ultragpu-8g");
  out["scheduling"] = {{"provisioningModel", "FLEX_START"},
                       {"maxRunDuration", {{"seconds", "604800"}}},
                       {"instanceTerminationAction", "DELETE"},
                       {"onHostMaintenance", "TERMINATE"},
                       {"automaticRestart", false}};
  out["reservationAffinity"] = {{"consumeReservationType", "NO_RESERVATION"}};
  return out;
}

void add_templates(GceKnobs& knobs, const Json& list) {
  for (const auto& seed : list) {
    auto properties = base_properties(seed.value("machineType", "n2-standard-2"));
    properties.merge_patch(seed.value("properties", Json::object()));
    knobs.templates.push_back({seed.at("name"), seed.value("region", ""), properties});
  }
}

void set_regions(GceKnobs& knobs, const Json& regions) {
  for (const auto& [name, letters] : regions.items()) {
    knobs.regions[name] = letters.get<std::vector<std::string>>();
  }
}

using Setter = std::function<void(GceKnobs&, const Json&)>;

const std::unordered_map<std::string, Setter>& setters() {
  static const std::unordered_map<std::string, Setter> kSetters{
      {"visible_ms", [](auto& k, const auto& v) { k.visible = millis(v); }},
      {"address_ms", [](auto& k, const auto& v) { k.address = millis(v); }},
      {"operation_ms", [](auto& k, const auto& v) { k.operation = millis(v); }},
      {"wait_ms", [](auto& k, const auto& v) { k.wait = millis(v); }},
      {"accepted_ms",
       [](auto& k, const auto& v) { k.accepted = v.is_null() ? std::nullopt : std::optional(millis(v)); }},
      {"retry_ms", [](auto& k, const auto& v) { k.retry = millis(v); }},
      {"run_duration_scale", [](auto& k, const auto& v) { k.run_duration_scale = v.template get<double>(); }},
      {"insert_operations", [](auto& k, const auto& v) { k.insert_operations = v.template get<bool>(); }},
      {"service_agent_permission", [](auto& k, const auto& v) { k.service_agent_permission = v.template get<bool>(); }},
      {"refuse_delete_of_active_mig",
       [](auto& k, const auto& v) { k.refuse_delete_of_active_mig = v.template get<bool>(); }},
      {"quota",
       [](auto& k, const auto& v) {
         const auto vms = v.find("vms");
         k.vm_quota =
             vms == v.end() || vms->is_null() ? std::nullopt : std::optional(vms->template get<std::int64_t>());
       }},
      {"unreachable", [](auto& k, const auto& v) { k.unreachable = v.template get<std::set<std::string>>(); }},
      {"capacity",
       [](auto& k, const auto& v) {
         k.capacity.clear();
         for (const auto& rule : v) {
           k.set_capacity(rule);
         }
       }},
      {"projects", [](auto& k, const auto& v) { k.projects = v.template get<std::vector<std::string>>(); }},
      {"project_number", [](auto& k, const auto& v) { k.project_number = v.template get<std::string>(); }},
      {"user", [](auto& k, const auto& v) { k.user = v.template get<std::string>(); }},
      {"regions", [](auto& k, const auto& v) { set_regions(k, v); }},
      {"instance_templates", [](auto& k, const auto& v) { add_templates(k, v); }},
      {"first_address", [](auto& k, const auto& v) { k.first_address = v.template get<std::string>(); }},
  };
  return kSetters;
}

}  // namespace

GceKnobs::GceKnobs() {
  regions = {{"us-central1", {"a", "b", "c", "f"}}, {"europe-west4", {"a", "b", "c"}}};
  templates = {{"template-name", "", base_properties("n2-standard-2")}, {"flex-template", "", flex_properties()}};
}

void GceKnobs::set(const std::string& key, const Json& value) {
  const auto found = setters().find(key);
  if (found == setters().end()) {
    throw std::invalid_argument("unknown knob \"gce." + key + "\"");
  }
  found->second(*this, value);
}

void GceKnobs::set_capacity(const Json& rule) {
  CapacityRule wanted{rule.value("type", "*"), rule.value("where", "*"), rule.value("model", "*"),
                      rule.at("available").get<std::int64_t>(), rule.value("code", CapacityRule{}.code)};
  const auto same = std::find_if(capacity.begin(), capacity.end(), [&](const auto& known) {
    return known.type == wanted.type && known.where == wanted.where && known.model == wanted.model;
  });
  if (same == capacity.end()) {
    capacity.push_back(std::move(wanted));
  } else {
    *same = std::move(wanted);
  }
}

}  // namespace cloudsim::gce
