// SPDX-License-Identifier: Apache-2.0
// The part of the control API that is about instances, capacity and credentials.
#include <algorithm>
#include <stdexcept>

#include "ec2/ec2_service.h"

namespace cloudsim::ec2 {

namespace {

constexpr std::string_view kInstances = "/_control/instances";

nlohmann::json to_json(const Cloud& cloud, const Instance& instance) {
  return {{"id", instance.id},
          {"state", name_of(instance.state)},
          {"type", instance.type},
          {"region", instance.region},
          {"zone", instance.zone},
          {"subnet", instance.subnet_id},
          {"address", cloud.address_of(instance)},
          {"hostname", cloud.hostname_of(instance)},
          {"lifecycle", instance.spot ? "spot" : "on-demand"},
          {"client_token", instance.client_token},
          {"fleet", instance.fleet_id},
          {"template", instance.template_id},
          {"tags", instance.tags},
          {"boots", instance.boots},
          {"state_reason", instance.reason_code},
          {"launched", std::chrono::duration<double>(instance.launched.time_since_epoch()).count()}};
}

}  // namespace

nlohmann::json Ec2Service::instances_json() const {
  auto out = nlohmann::json::array();
  for (const auto& [name, region] : cloud_.regions()) {
    for (const auto& [sequence, instance] : region.instances) {
      out.push_back(to_json(cloud_, *instance));
    }
  }
  return out;
}

nlohmann::json Ec2Service::create_foreign(const nlohmann::json& body) {
  auto& region = cloud_.region(body.value("region", "us-east-1"));
  LaunchSpec spec;
  spec.type = body.value("type", "t3.micro");
  spec.image_id = "ami-0123456789abcdef0";
  spec.subnet_id = body.value("subnet", region.subnets.front().id);
  const auto subnet = std::find_if(region.subnets.begin(), region.subnets.end(),
                                   [&](const auto& known) { return known.id == spec.subnet_id; });
  if (subnet == region.subnets.end()) {
    throw std::invalid_argument("no such subnet: " + spec.subnet_id);
  }
  spec.zone = subnet->zone;
  spec.tags = body.value("tags", Tags{});
  spec.spot = body.value("lifecycle", "on-demand") == "spot";
  spec.metadata_tags = true;
  spec.reservation_id = cloud_.new_id("r-");
  if (const auto refusal = cloud_.reserve(spec)) {
    throw std::invalid_argument(refusal->code);
  }
  auto& instance = cloud_.launch(region, spec, body.value("boot", false));
  instance.launched -= std::chrono::seconds(body.value("age_seconds", 0));
  return to_json(cloud_, instance);
}

nlohmann::json Ec2Service::change_instance(const std::string& id, const nlohmann::json& change) {
  auto* instance = cloud_.find_anywhere(id);
  if (instance == nullptr) {
    throw std::invalid_argument("no such instance: " + id);
  }
  for (const auto& [key, value] : change.items()) {
    if (key == "termination_protection") {
      instance->termination_protected = value.get<bool>();
    } else if (key == "tags") {
      instance->tags = value.get<Tags>();
    } else if (key == "age_seconds") {
      instance->launched = std::chrono::system_clock::now() - std::chrono::seconds(value.get<std::int64_t>());
    } else if (key != "action") {
      throw std::invalid_argument("unknown key \"" + key + "\"");
    }
  }
  const auto action = change.value("action", "");
  if (action == "terminate") {
    cloud_.terminate(*instance, "Server.InternalError", "Internal error on launch or in operation");
  } else if (action == "interrupt") {
    cloud_.terminate(*instance, "Server.SpotInstanceTermination", "Spot instance termination");
  } else if (action == "hang" || action == "thaw") {
    cloud_.freeze(*instance, action == "hang");
  } else if (!action.empty()) {
    throw std::invalid_argument("unknown action \"" + action + "\"");
  }
  return to_json(cloud_, *instance);
}

std::optional<nlohmann::json> Ec2Service::control(const HttpRequest& request, const nlohmann::json& body) {
  if (request.path == kInstances) {
    return request.method == "GET" ? instances_json() : create_foreign(body);
  }
  if (request.path.starts_with(std::string(kInstances) + "/")) {
    return change_instance(request.path.substr(kInstances.size() + 1), body);
  }
  if (request.path == "/_control/capacity") {
    knobs_.set_capacity(body);
    return nlohmann::json::object();
  }
  if (request.path == "/_control/credentials/expire") {
    credentials_.expire_all(std::chrono::system_clock::now());
    return nlohmann::json::object();
  }
  return std::nullopt;
}

}  // namespace cloudsim::ec2
