// SPDX-License-Identifier: Apache-2.0
// The part of the control API that is about Compute Engine: below /_control/gce.
#include <algorithm>
#include <stdexcept>

#include "gce/gce_service.h"
#include "gce/names.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kControl = "/_control/gce/";

Json control_json(const Cloud& cloud, const Instance& instance) {
  Json metadata = Json::object();
  for (const auto& item : instance.properties.value("metadata", Json::object()).value("items", Json::array())) {
    metadata[item.at("key").get<std::string>()] = item.value("value", "");
  }
  return {{"name", instance.place.name},
          {"project", instance.place.project},
          {"zone", instance.place.zone},
          {"state", name_of(instance.state)},
          {"type", instance.type},
          {"address", cloud.address_of(instance)},
          {"model", model_of(instance.properties)},
          {"group", last_segment(instance.group)},
          {"labels", instance.properties.value("labels", Json::object())},
          {"metadata", metadata},
          {"boots", instance.boots},
          {"launched", std::chrono::duration<double>(instance.launched.time_since_epoch()).count()},
          {"ends",
           instance.ends ? Json(std::chrono::duration<double>(instance.ends->time_since_epoch()).count()) : Json()}};
}

Json instances_json(const Cloud& cloud) {
  std::vector<const Instance*> all;
  for (const auto& [resource, instance] : cloud.instances()) {
    all.push_back(instance.get());
  }
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->sequence < b->sequence; });
  auto out = Json::array();
  for (const auto* const instance : all) {
    out.push_back(control_json(cloud, *instance));
  }
  return out;
}

Instance& instance_named(const Cloud& cloud, const std::string& name) {
  const auto& all = cloud.instances();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.second->place.name == name; });
  if (found == all.end()) {
    throw std::invalid_argument("no such instance: " + name);
  }
  return *found->second;
}

Json requests_json(const Group& group) {
  auto out = Json::array();
  for (const auto& [name, request] : group.requests) {
    std::vector<std::string> names;
    for (const auto& wanted : request.instances) {
      names.push_back(wanted.name);
    }
    out.push_back({{"name", name},
                   {"state", name_of(request.state)},
                   {"instances", names},
                   {"run_seconds", request.run_seconds ? Json(*request.run_seconds) : Json()},
                   {"error", to_json(request.errors)["errors"]},
                   {"last_attempt", to_json(request.last_attempt)["errors"]}});
  }
  return out;
}

Json control_json(const Groups& groups, const Group& group) {
  Json instances = Json::object();
  for (const auto& [name, managed] : group.managed) {
    instances[name] = groups.action_of(group, managed);
  }
  return {{"name", group.name},
          {"project", group.project},
          {"region", group.region},
          {"description", group.body.value("description", "")},
          {"deleting", group.deleting},
          {"instances", instances},
          {"resize_requests", requests_json(group)}};
}

Json groups_json(const Groups& groups) {
  auto out = Json::array();
  for (const auto& [resource, group] : groups.all()) {
    out.push_back(control_json(groups, *group));
  }
  return out;
}

}  // namespace

Json GceService::change_request(const std::string& name, const Json& change) {
  const auto found = std::find_if(groups_.all().begin(), groups_.all().end(),
                                  [&](const auto& entry) { return entry.second->name == name; });
  if (found == groups_.all().end()) {
    throw std::invalid_argument("no such group: " + name);
  }
  auto& group = *found->second;
  const auto resource = group.resource();
  const auto wanted = change.value("request", "");
  const auto request = std::find_if(group.requests.begin(), group.requests.end(), [&](const auto& entry) {
    return entry.second.is_active() && (wanted.empty() || entry.first == wanted);
  });
  if (request == group.requests.end()) {
    throw std::invalid_argument("no active resize request: " + name);
  }
  const auto action = change.value("action", "");
  const Failure failure{change.value("code", "ZONE_RESOURCE_POOL_EXHAUSTED"),
                        change.value("message", "The zone does not have enough resources available.")};
  if (action == "succeed") {
    groups_.succeed(group, request->second);
  } else if (action == "fail") {
    groups_.fail(group, request->second, failure, change.value("created", std::size_t{0}));
  } else if (action == "attempt_error") {
    groups_.set_last_attempt(group, request->second, failure);
  } else {
    throw std::invalid_argument("unknown action \"" + action + "\"");
  }
  const auto* const left = groups_.find(resource);
  return left == nullptr ? Json::object() : control_json(groups_, *left);
}

Json GceService::create_foreign(const Json& body) {
  LaunchSpec spec;
  spec.place = {body.value("project", knobs_.projects.empty() ? "cloudsim-project" : knobs_.projects.front()),
                body.value("zone", "us-central1-a"), body.at("name").get<std::string>()};
  if (!zone_exists(knobs_, spec.place.zone)) {
    throw std::invalid_argument("no such zone: " + spec.place.zone);
  }
  spec.properties = knobs_.templates.front().properties;
  spec.properties["machineType"] = body.value("type", "n2-standard-2");
  spec.properties["labels"] = body.value("labels", Json::object());
  spec.properties.merge_patch(body.value("properties", Json::object()));
  spec.boots = body.value("boot", false);
  if (const auto refusal = cloud_.launch(spec)) {
    throw std::invalid_argument(refusal->code);
  }
  auto& instance = *cloud_.find(spec.place);
  instance.launched -= std::chrono::seconds(body.value("age_seconds", 0));
  return control_json(cloud_, instance);
}

Json GceService::change_instance(const std::string& name, const Json& change) {
  auto& instance = instance_named(cloud_, name);
  for (const auto& [key, value] : change.items()) {
    if (key == "labels") {
      instance.properties["labels"] = value;
    } else if (key == "age_seconds") {
      instance.launched = std::chrono::system_clock::now() - std::chrono::seconds(value.get<std::int64_t>());
    } else if (key != "action") {
      throw std::invalid_argument("unknown key \"" + key + "\"");
    }
  }
  const auto action = change.value("action", "");
  if (action == "delete") {
    cloud_.remove(instance, nullptr);
  } else if (action == "preempt") {
    operations_.begin_timed({instance.place.project, "zones/" + instance.place.zone, "compute.instances.preempted",
                             instance.place.resource(), instance.id, ""});
    cloud_.preempt(instance);
  } else if (action == "expire") {
    cloud_.expire(instance);
  } else if (action == "stop") {
    cloud_.stop(instance);
  } else if (action == "hang" || action == "thaw") {
    cloud_.freeze(instance, action == "hang");
  } else if (!action.empty()) {
    throw std::invalid_argument("unknown action \"" + action + "\"");
  }
  return control_json(cloud_, instance);
}

std::optional<Json> GceService::control(const HttpRequest& request, const Json& body) {
  if (auto done = auth_.control(request)) {
    return done;
  }
  if (!request.path.starts_with(kControl)) {
    return std::nullopt;
  }
  const auto call = request.path.substr(kControl.size());
  if (call == "instances") {
    return request.method == "GET" ? instances_json(cloud_) : create_foreign(body);
  }
  if (call.starts_with("instances/")) {
    return change_instance(last_segment(call), body);
  }
  if (call == "migs") {
    return groups_json(groups_);
  }
  if (call.starts_with("resize_requests/")) {
    return change_request(last_segment(call), body);
  }
  if (call == "operations") {
    auto out = Json::array();
    for (const auto& [key, operation] : operations_.all()) {
      out.push_back(to_json(*operation));
    }
    return out;
  }
  if (call == "capacity") {
    knobs_.set_capacity(body);
    return Json::object();
  }
  return std::nullopt;
}

}  // namespace cloudsim::gce
