// SPDX-License-Identifier: Apache-2.0
// The methods about managed instance groups of a region.
#include <array>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "gce/groups.h"
#include "gce/methods.h"
#include "gce/names.h"
#include "gce/pages.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

void check_word(const Json& body, const char* object, const char* key, const char* pattern) {
  const auto value = body.value(object, Json::object()).value(key, "");
  if (!value.empty() && !std::regex_match(value, std::regex(pattern))) {
    throw invalid_field(fmt::format("resource.{}.{}", object, key), value, "Unknown enum value.");
  }
}

void check_body(const Json& body) {
  const auto name = body.value("name", "");
  if (!is_resource_name(name)) {
    throw invalid_field("resource.name", name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'");
  }
  if (!body.contains("targetSize")) {
    throw api_error(400, "required", "Required field 'resource.targetSize' not specified");
  }
  const auto base = body.value("baseInstanceName", "a");
  if (!is_resource_name(base) || base.size() > 58) {
    throw invalid_field("resource.baseInstanceName", base, "It must be a name of at most 58 characters.");
  }
  check_word(body, "distributionPolicy", "targetShape", "EVEN|BALANCED|ANY|ANY_SINGLE_ZONE");
  check_word(body, "updatePolicy", "instanceRedistributionType", "NONE|PROACTIVE");
  check_word(body, "updatePolicy", "type", "OPPORTUNISTIC|PROACTIVE");
  check_word(body, "instanceLifecyclePolicy", "defaultActionOnFailure", "DO_NOTHING|REPAIR|DELETE");
  check_word(body, "targetSizePolicy", "mode", "BULK|INDIVIDUAL");
  const auto shape = body.value("distributionPolicy", Json::object()).value("targetShape", "EVEN");
  const auto redistribution =
      body.value("updatePolicy", Json::object()).value("instanceRedistributionType", "PROACTIVE");
  if (shape != "EVEN" && redistribution != "NONE") {
    throw invalid(fmt::format("Instance redistribution type must be NONE for target shape {}.", shape));
  }
}

std::string template_in(const Json& body) {
  const auto versions = body.value("versions", Json::array());
  if (!versions.empty()) {
    return versions[0].value("instanceTemplate", "");
  }
  return body.value("instanceTemplate", "");
}

std::vector<std::string> zones_in(const Json& body, const std::string& region, const GceKnobs& knobs) {
  std::vector<std::string> zones;
  for (const auto& item : body.value("distributionPolicy", Json::object()).value("zones", Json::array())) {
    const auto reference = item.value("zone", "");
    const auto zone = segment_after(reference, "zones");
    if (zone.empty() || region_of_zone(zone) != region || !zone_exists(knobs, zone)) {
      throw invalid_field("resource.distributionPolicy.zones", reference, "It is no zone of region '" + region + "'.");
    }
    zones.push_back(zone);
  }
  if (zones.empty()) {
    for (const auto& letter : knobs.regions.at(region)) {
      zones.push_back(region + "-" + letter);
    }
  }
  return zones;
}

/// What allInstancesConfig says goes over the template's.
void apply_to_all(Json& properties, const Json& body) {
  const auto patch = body.value("allInstancesConfig", Json::object()).value("properties", Json::object());
  const auto labels = patch.value("labels", Json::object());
  for (const auto& [key, value] : labels.items()) {
    properties["labels"][key] = value;
  }
  const auto metadata = patch.value("metadata", Json::object());
  auto items = Json::array();
  for (const auto& item : properties.value("metadata", Json::object()).value("items", Json::array())) {
    if (!metadata.contains(item.value("key", ""))) {
      items.push_back(item);
    }
  }
  for (const auto& [key, value] : metadata.items()) {
    items.push_back({{"key", key}, {"value", value}});
  }
  properties["metadata"]["items"] = items;
}

Group group_from(World& world, const ApiCall& call) {
  check_body(call.body);
  Group out;
  out.project = parameter(call, "project");
  out.region = parameter(call, "region");
  out.name = call.body.at("name");
  out.body = call.body;
  const auto reference = template_in(call.body);
  if (reference.empty()) {
    throw api_error(400, "required", "Required field 'resource.instanceTemplate' not specified");
  }
  out.properties = world.templates.resolve(out.project, reference, "resource.instanceTemplate").properties;
  apply_to_all(out.properties, call.body);
  check_properties(out.properties, "resource.allInstancesConfig.properties");
  out.zones = zones_in(call.body, out.region, world.cloud.knobs());
  if (call.body.at("targetSize").get<std::int64_t>() != 0) {
    throw api_error(501, "notImplemented", "cloudsim makes machines of a group by resize requests only");
  }
  out.id = world.cloud.new_id();
  out.created = std::chrono::system_clock::now();
  return out;
}

Group& group_of(World& world, const ApiCall& call) {
  const auto resource = home_of(call) + "/instanceGroupManagers/" + parameter(call, "instanceGroupManager");
  auto* const found = world.groups.find(resource);
  if (found == nullptr) {
    throw not_found(resource);
  }
  return *found;
}

Json actions_of(const World& world, const Group& group) {
  static constexpr std::array kActions{"abandoning", "creating",   "creatingWithoutRetries",
                                       "deleting",   "none",       "recreating",
                                       "refreshing", "restarting", "resuming",
                                       "starting",   "stopping",   "suspending",
                                       "verifying"};
  Json out;
  for (const auto* const action : kActions) {
    out[action] = 0;
  }
  for (const auto& [name, managed] : group.managed) {
    const auto action = world.groups.action_of(group, managed);
    auto& count = out[action == "CREATING" ? "creating" : (action == "DELETING" ? "deleting" : "none")];
    count = count.get<int>() + 1;
  }
  return out;
}

Json to_json(const World& world, const Group& group) {
  const auto home = "projects/" + group.project + "/regions/" + group.region;
  const auto actions = actions_of(world, group);
  const int size = actions["creating"].get<int>() + actions["none"].get<int>();
  Json out = group.body;
  out["kind"] = "compute#instanceGroupManager";
  out["id"] = std::to_string(group.id);
  out["creationTimestamp"] = timestamp(group.created);
  out["region"] = link_to(home);
  out["selfLink"] = link_to(group.resource());
  out["instanceGroup"] = link_to(home + "/instanceGroups/" + group.name);
  out["instanceTemplate"] = template_in(group.body);
  out["baseInstanceName"] = group.body.value("baseInstanceName", group.name);
  out["fingerprint"] = "42WmSpB8rSM=";
  out["targetSize"] = size;
  out["currentActions"] = actions;
  out["listManagedInstancesResults"] = group.body.value("listManagedInstancesResults", "PAGELESS");
  const bool stable = actions["creating"] == 0 && actions["deleting"] == 0 && !group.deleting;
  out["status"] = {{"isStable", stable},
                   {"versionTarget", {{"isReached", true}}},
                   {"allInstancesConfig", {{"effective", true}}},
                   {"stateful", {{"hasStatefulConfig", false}, {"perInstanceConfigs", {{"allEffective", true}}}}}};
  auto zones = Json::array();
  for (const auto& zone : group.zones) {
    zones.push_back({{"zone", link_to("projects/" + group.project + "/zones/" + zone)}});
  }
  out["distributionPolicy"]["zones"] = zones;
  return out;
}

Json to_json(const World& world, const Group& group, const ManagedInstance& managed) {
  Json out{{"name", managed.name},
           {"id", std::to_string(managed.id)},
           {"currentAction", world.groups.action_of(group, managed)},
           {"version", {{"instanceTemplate", template_in(group.body)}}},
           {"lastAttempt", Json::object()}};
  if (!managed.zone.empty()) {
    out["instance"] = link_to(Place{group.project, managed.zone, managed.name}.resource());
  }
  if (!managed.last_attempt.empty()) {
    out["lastAttempt"]["errors"] = to_json(managed.last_attempt);
  }
  if (const auto* const instance = world.groups.instance_of(group, managed)) {
    out["instanceStatus"] = name_of(instance->state);
    if (instance->ends) {
      out["scheduling"]["terminationTimestamp"] = timestamp(*instance->ends);
    }
  }
  return out;
}

/// The names among `references` that the call may delete; throws ApiError for another, unless such are to be skipped.
std::vector<std::string> names_to_delete(const Group& group, const Json& references, bool skip) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const auto& item : references) {
    const auto reference = item.get<std::string>();
    const auto name = segment_after(reference, "instances");
    const auto zone = segment_after(reference, "zones");
    const auto managed = group.managed.find(name);
    const bool ours = managed != group.managed.end() && !zone.empty() && managed->second.zone == zone;
    if (ours && seen.insert(name).second) {
      out.push_back(name);
    } else if (!skip) {
      throw invalid_field("instances", reference,
                          ours ? "It is named twice." : "The instance is no member of " + group.name + ".");
    }
  }
  return out;
}

}  // namespace

Json insert_group(World& world, const ApiCall& call) {
  auto group = group_from(world, call);
  const auto resource = group.resource();
  const auto id = group.id;
  if (world.groups.find(resource) != nullptr) {
    throw already_exists(resource);
  }
  world.groups.insert(std::move(group));
  return to_json(
      world.operations.begin_timed({parameter(call, "project"), location_of(call), "insert", resource, id, ""}));
}

Json get_group(World& world, const ApiCall& call) { return to_json(world, group_of(world, call)); }

Json list_groups(World& world, const ApiCall& call) {
  const auto folder = home_of(call) + "/instanceGroupManagers/";
  std::vector<Listed> all;
  for (const auto& [resource, group] : world.groups.all()) {
    if (resource.starts_with(folder)) {
      all.push_back({group->name, [&world, &found = *group] { return to_json(world, found); }});
    }
  }
  return list_reply("compute#regionInstanceGroupManagerList", home_of(call) + "/instanceGroupManagers",
                    page_of(call, "InstanceGroupManager", std::move(all)));
}

Json delete_group(World& world, const ApiCall& call) {
  auto& group = group_of(world, call);
  if (world.cloud.knobs().refuse_delete_of_active_mig && group.has_active_request()) {
    throw api_error(400, "resourceNotReady", fmt::format("The resource '{}' is not ready", group.resource()));
  }
  const auto& operation =
      world.operations.begin({group.project, location_of(call), "delete", group.resource(), group.id, ""});
  world.groups.remove(group, Operations::key_of(operation));
  return to_json(operation);
}

Json list_managed_instances(World& world, const ApiCall& call) {
  const auto& group = group_of(world, call);
  std::vector<Listed> all;
  for (const auto& [name, managed] : group.managed) {
    all.push_back({name, [&world, &group, &found = managed] { return to_json(world, group, found); }});
  }
  auto out = Json::object();
  auto asked = call;
  Json items = Json::array();
  const bool paginated = group.body.value("listManagedInstancesResults", "PAGELESS") == "PAGINATED";
  if (!paginated) {
    asked.parameters.erase("maxResults");
    asked.parameters.erase("pageToken");
  }
  while (true) {
    auto page = page_of(asked, "ManagedInstance", all);
    for (auto& item : page.items) {
      items.push_back(std::move(item));
    }
    if (page.next_token.empty() || paginated) {
      if (!page.next_token.empty()) {
        out["nextPageToken"] = page.next_token;
      }
      break;
    }
    asked.parameters["pageToken"] = page.next_token;
  }
  if (!items.empty()) {
    out["managedInstances"] = std::move(items);
  }
  return out;
}

Json delete_managed_instances(World& world, const ApiCall& call) {
  auto& group = group_of(world, call);
  const auto references = call.body.value("instances", Json::array());
  if (references.empty()) {
    throw api_error(400, "required", "Required field 'instances' not specified");
  }
  if (references.size() > 1000) {
    throw invalid("You can specify a maximum of 1000 instances with this method per request.");
  }
  world.groups.erase_instances(
      group, names_to_delete(group, references, call.body.value("skipInstancesOnValidationError", false)));
  return to_json(
      world.operations.begin_timed({group.project, location_of(call), "compute.instanceGroupManagers.deleteInstances",
                                    group.resource(), group.id, ""}));
}

}  // namespace cloudsim::gce
