// SPDX-License-Identifier: Apache-2.0
// What a launch asks EC2 Fleet for, and which tags its machines bear.
#include "providers/ec2/ec2_fleet.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "providers/ec2/ec2_errors.h"

namespace burst::ec2 {
namespace {

using Json = nlohmann::ordered_json;

/// Overrides times subnets; WeightedCapacity is 1, for a machine is a node.
Json fleet_overrides(const GroupSettings& settings) {
  Json templates = settings.json->value("LaunchTemplateOverrides", Json::array());
  if (templates.empty()) templates.push_back(Json::object());
  Json overrides = Json::array();
  for (Json& item : templates) {
    item["WeightedCapacity"] = 1;
    if (settings.subnets.empty()) {
      overrides.push_back(item);
      continue;
    }
    for (const auto& subnet : settings.subnets) {
      item["SubnetId"] = subnet;
      overrides.push_back(item);
    }
  }
  return overrides;
}

bool is_one_pool(const Json& overrides) {
  return overrides.size() == 1 && overrides[0].contains("InstanceType") && overrides[0].contains("SubnetId");
}

void require_all(Json& options, std::size_t count) {
  options["MinTargetCapacity"] = count;
  options["SingleInstanceType"] = true;
  options["SingleAvailabilityZone"] = true;
}

constexpr std::array<std::string_view, 3> kPlaceholders{"{node_name}", "{ip_address}", "{hostname}"};

bool is_per_node(std::string_view value) {
  return std::any_of(kPlaceholders.begin(), kPlaceholders.end(),
                     [&](auto placeholder) { return value.find(placeholder) != std::string_view::npos; });
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The first label of the private DNS name (`ip-10-0-0-5`, or `i-...` for resource-name hosts); where EC2 gives none,
/// the name that it makes of an IPv4 address.
std::string host_name(const Instance& instance) {
  if (!instance.private_dns.empty()) return instance.private_dns.substr(0, instance.private_dns.find('.'));
  if (instance.address.empty() || instance.address.find(':') != std::string::npos) return "";
  std::string name = "ip-" + instance.address;
  std::replace(name.begin(), name.end(), '.', '-');
  return name;
}

int rank(const FleetError& error) {
  switch (error_kind(error.code)) {
    case ErrorKind::no_capacity:
      return 0;
    case ErrorKind::over_quota:
      return 1;
    case ErrorKind::throttled:
    case ErrorKind::transient:
      return 3;
    default:
      return 2;
  }
}

}  // namespace

Parameters create_fleet_parameters(const GroupSettings& settings, const FleetRequest& request) {
  const Json& group = *settings.json;
  Json overrides = fleet_overrides(settings);
  Json fleet = Json::object();
  fleet["ClientToken"] = request.client_token;
  fleet["Type"] = "instant";
  fleet["TargetCapacitySpecification"] = {{"TotalTargetCapacity", request.count},
                                          {"DefaultTargetCapacityType", settings.spot ? "spot" : "on-demand"}};
  for (const char* key : {"OnDemandOptions", "SpotOptions"}) {
    if (group.contains(key)) fleet[key] = group[key];
  }
  if (settings.spot) fleet["SpotOptions"]["InstanceInterruptionBehavior"] = "terminate";
  if (request.all_or_nothing && is_one_pool(overrides))
    require_all(fleet[settings.spot ? "SpotOptions" : "OnDemandOptions"], request.count);
  Json launch_template = Json::object();
  launch_template["LaunchTemplateSpecification"] = group.value("LaunchTemplateSpecification", Json::object());
  launch_template["Overrides"] = std::move(overrides);
  fleet["LaunchTemplateConfigs"] = Json::array({std::move(launch_template)});
  Json tags = Json::array();
  for (const auto& [key, value] : request.tags) tags.push_back({{"Key", key}, {"Value", value}});
  fleet["TagSpecifications"] = Json::array({{{"ResourceType", "instance"}, {"Tags", std::move(tags)}}});

  Parameters parameters;
  for (const auto& [key, value] : fleet.items()) append_json(parameters, std::string(wire_name(key)), value);
  return parameters;
}

Tags launch_tags(const GroupSettings& settings, const NodeGroup& group, const std::string& cluster,
                 const std::string& launch_id) {
  Tags tags{{std::string(kClusterTag), cluster},
            {std::string(kPartitionTag), group.partition},
            {std::string(kGroupTag), group.name},
            {std::string(kLaunchTag), launch_id}};
  std::copy_if(settings.tags.begin(), settings.tags.end(), std::back_inserter(tags),
               [](const auto& tag) { return !is_per_node(tag.second); });
  return tags;
}

Tags node_tags(const GroupSettings& settings, const NodeName& node, const Machine& machine) {
  Tags tags{{"Name", node}};
  for (auto [key, value] : settings.tags) {
    if (!is_per_node(value)) continue;
    replace_all(value, kPlaceholders[0], node);
    if (!machine.address.empty()) {
      replace_all(value, kPlaceholders[1], machine.address);
      replace_all(value, kPlaceholders[2], machine.hostname);
    }
    if (!is_per_node(value)) tags.emplace_back(std::move(key), std::move(value));
  }
  return tags;
}

Parameters create_tags_parameters(const std::string& instance_id, const Tags& tags) {
  Parameters parameters{{"ResourceId.1", instance_id}};
  for (std::size_t i = 0; i < tags.size(); ++i) {
    parameters.emplace_back(fmt::format("Tag.{}.Key", i + 1), tags[i].first);
    parameters.emplace_back(fmt::format("Tag.{}.Value", i + 1), tags[i].second);
  }
  return parameters;
}

FleetError main_error(std::span<const FleetError> errors) {
  if (errors.empty()) return {"FleetShort", "EC2 Fleet delivered fewer instances than asked for and gave no reason"};
  const auto less = [](const FleetError& a, const FleetError& b) { return rank(a) < rank(b); };
  FleetError main = *std::min_element(errors.begin(), errors.end(), less);
  std::string others;
  for (const auto& error : errors) {
    if (error.code == main.code || others.find(error.code) != std::string::npos) continue;
    others += (others.empty() ? "" : ", ") + error.code;
  }
  if (!others.empty()) main.message += fmt::format(" (also: {})", others);
  return main;
}

Machine to_machine(const Instance& instance) {
  Machine machine;
  machine.id = instance.id;
  machine.address = instance.address;
  machine.hostname = host_name(instance);
  machine.type = instance.type;
  machine.zone = instance.zone;
  machine.launch = instance.tag(kLaunchTag);
  machine.created = instance.launched;
  machine.detail = instance.state_reason;
  if (instance.state == "pending") {
    machine.state = MachineState::starting;
  } else if (instance.state == "shutting-down" || instance.state == "terminated") {
    machine.state = MachineState::stopping;
  } else {
    machine.state = MachineState::running;  // a stopped one too: it still costs its disks and must be ended
  }
  return machine;
}

}  // namespace burst::ec2
