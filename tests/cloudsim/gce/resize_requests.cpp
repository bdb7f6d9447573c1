// SPDX-License-Identifier: Apache-2.0
// The methods about resize requests of a region's managed instance groups.
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

constexpr std::int64_t kShortestRun = 600;
constexpr std::int64_t kLongestRun = 604'800;
constexpr std::int64_t kMostAtOnce = 1000;

Group& group_of(World& world, const ApiCall& call) {
  const auto resource = home_of(call) + "/instanceGroupManagers/" + parameter(call, "instanceGroupManager");
  auto* const found = world.groups.find(resource);
  if (found == nullptr) {
    throw not_found(resource);
  }
  return *found;
}

std::string resource_of(const Group& group, const std::string& name) {
  return group.resource() + "/resizeRequests/" + name;
}

ResizeRequest& request_of(World& world, const ApiCall& call) {
  auto& group = group_of(world, call);
  const auto name = parameter(call, "resizeRequest");
  const auto found = group.requests.find(name);
  if (found == group.requests.end()) {
    throw not_found(resource_of(group, name));
  }
  return found->second;
}

Json to_json(const Group& group, const ResizeRequest& request) {
  Json out{{"kind", "compute#instanceGroupManagerResizeRequest"},
           {"id", std::to_string(request.id)},
           {"creationTimestamp", timestamp(request.created)},
           {"name", request.name},
           {"description", request.description},
           {"state", name_of(request.state)},
           {"region", link_to("projects/" + group.project + "/regions/" + group.region)},
           {"selfLink", link_to(resource_of(group, request.name))},
           {"status", Json::object()}};
  if (request.resize_by > 0) {
    out["resizeBy"] = request.resize_by;
  } else {
    out["instances"] = Json::array();
    for (const auto& wanted : request.instances) {
      Json item{{"name", wanted.name}};
      if (!wanted.metadata.empty()) {
        item["preservedState"] = {{"metadata", wanted.metadata}};
      }
      out["instances"].push_back(std::move(item));
    }
  }
  if (request.run_seconds) {
    out["requestedRunDuration"] = {{"seconds", std::to_string(*request.run_seconds)}};
  }
  if (!request.errors.empty()) {
    out["status"]["error"] = to_json(request.errors);
  }
  if (!request.last_attempt.empty()) {
    out["status"]["lastAttempt"]["error"] = to_json(request.last_attempt);
  }
  return out;
}

/// What Google asks of a group before it takes a resize request.
void check_group(const Group& group) {
  const auto word = [&](const char* object, const char* key, const char* otherwise) {
    return group.body.value(object, Json::object()).value(key, otherwise);
  };
  if (group.deleting) {
    throw api_error(400, "resourceNotReady", fmt::format("The resource '{}' is not ready", group.resource()));
  }
  if (word("distributionPolicy", "targetShape", "EVEN") != std::string("ANY_SINGLE_ZONE")) {
    throw invalid(
        "Resize requests are supported only by regional managed instance groups with target shape "
        "ANY_SINGLE_ZONE.");
  }
  if (word("instanceLifecyclePolicy", "defaultActionOnFailure", "REPAIR") != std::string("DO_NOTHING") ||
      !group.body.value("autoHealingPolicies", Json::array()).empty()) {
    throw invalid("Resize requests are supported only by managed instance groups whose repairs are turned off.");
  }
  if (word("updatePolicy", "type", "OPPORTUNISTIC") != std::string("OPPORTUNISTIC")) {
    throw invalid("Resize requests are supported only by managed instance groups with update type OPPORTUNISTIC.");
  }
}

std::vector<WantedInstance> instances_in(const Group& group, const Json& body) {
  std::vector<WantedInstance> out;
  std::set<std::string> names;
  for (const auto& item : body.value("instances", Json::array())) {
    const auto name = item.value("name", "");
    if (!is_resource_name(name)) {
      throw invalid_field("resource.instances.name", name,
                          "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'");
    }
    if (!names.insert(name).second || group.managed.count(name) != 0) {
      throw invalid_field("resource.instances.name", name, "An instance of that name is in the group already.");
    }
    const auto preserved = item.value("preservedState", Json::object());
    out.push_back({name, preserved.value("metadata", std::map<std::string, std::string>{})});
  }
  return out;
}

std::optional<std::int64_t> run_seconds_in(const Group& group, const Json& body) {
  if (!body.contains("requestedRunDuration")) {
    if (!group.properties.value("scheduling", Json::object()).contains("maxRunDuration")) {
      throw invalid("Neither the resize request nor the instance template limits the run time.");
    }
    return std::nullopt;
  }
  const auto text = body["requestedRunDuration"].value("seconds", "0");
  const auto seconds = std::stoll(text);
  if (seconds < kShortestRun || seconds > kLongestRun || body["requestedRunDuration"].value("nanos", 0) != 0) {
    throw invalid_field(
        "resource.requestedRunDuration", text + "s",
        fmt::format("The run duration must be from {} to {} seconds, inclusive.", kShortestRun, kLongestRun));
  }
  return seconds;
}

ResizeRequest request_from(World& world, const Group& group, const Json& body) {
  ResizeRequest out;
  out.name = body.value("name", "");
  if (!is_resource_name(out.name)) {
    throw invalid_field("resource.name", out.name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'");
  }
  out.description = body.value("description", "");
  if (body.contains("instances") == body.contains("resizeBy")) {
    throw invalid("Exactly one of 'resource.instances' and 'resource.resizeBy' must be specified.");
  }
  out.instances = instances_in(group, body);
  out.resize_by = body.value("resizeBy", std::int64_t{0});
  const auto count = body.contains("resizeBy") ? out.resize_by : static_cast<std::int64_t>(out.instances.size());
  if (count < 1 || count > kMostAtOnce) {
    throw invalid_field("resource.resizeBy", std::to_string(count),
                        fmt::format("The number of instances must be from 1 to {}.", kMostAtOnce));
  }
  out.run_seconds = run_seconds_in(group, body);
  out.id = world.cloud.new_id();
  out.created = std::chrono::system_clock::now();
  return out;
}

}  // namespace

Json insert_resize_request(World& world, const ApiCall& call) {
  auto& group = group_of(world, call);
  check_group(group);
  auto request = request_from(world, group, call.body);
  const auto resource = resource_of(group, request.name);
  if (group.requests.count(request.name) != 0) {
    throw already_exists(resource);
  }
  const auto id = request.id;
  const auto& operation = world.operations.begin_timed({group.project, location_of(call), "insert", resource, id, ""});
  world.groups.add_request(group, std::move(request), world.cloud.knobs().operation);
  return to_json(operation);
}

Json get_resize_request(World& world, const ApiCall& call) {
  const auto& request = request_of(world, call);
  return to_json(group_of(world, call), request);
}

Json list_resize_requests(World& world, const ApiCall& call) {
  const auto& group = group_of(world, call);
  std::vector<Listed> all;
  for (const auto& [name, request] : group.requests) {
    all.push_back({name, [&group, &found = request] { return to_json(group, found); }});
  }
  return list_reply("compute#regionInstanceGroupManagerResizeRequestList", group.resource() + "/resizeRequests",
                    page_of(call, "InstanceGroupManagerResizeRequest", std::move(all)));
}

Json cancel_resize_request(World& world, const ApiCall& call) {
  auto& request = request_of(world, call);
  const auto& group = group_of(world, call);
  if (!request.is_active()) {
    throw invalid(
        fmt::format("The resize request '{}' is {}: only a request that is CREATING or ACCEPTED can be "
                    "cancelled.",
                    request.name, name_of(request.state)));
  }
  const auto resource = group.resource();
  const auto& operation = world.operations.begin(
      {group.project, location_of(call), "cancel", resource_of(group, request.name), request.id, ""});
  world.cloud.later(world.cloud.knobs().operation, [&groups = world.groups, &operations = world.operations, resource,
                                                    name = request.name, key = Operations::key_of(operation)] {
    auto* const home = groups.find(resource);
    const bool there = home != nullptr && home->requests.count(name) != 0;
    const bool active = there && home->requests.at(name).is_active();
    if (active) {
      groups.cancel(*home, home->requests.at(name));
    }
    operations.finish(key, active ? std::vector<Failure>{}
                                  : std::vector<Failure>{{"RESOURCE_NOT_READY", "The resize request has ended."}});
  });
  return to_json(operation);
}

Json delete_resize_request(World& world, const ApiCall& call) {
  const auto& request = request_of(world, call);
  auto& group = group_of(world, call);
  if (request.is_active()) {
    throw invalid(fmt::format("The resize request '{}' is {}: an active request cannot be deleted.", request.name,
                              name_of(request.state)));
  }
  const auto& operation = world.operations.begin_timed(
      {group.project, location_of(call), "delete", resource_of(group, request.name), request.id, ""});
  group.requests.erase(parameter(call, "resizeRequest"));
  return to_json(operation);
}

}  // namespace cloudsim::gce
