// SPDX-License-Identifier: Apache-2.0
// What Compute Engine holds of one node group, and which machines that makes.
#include "providers/gce/gce_inventory.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

namespace burst::gce {
namespace {

/// Google leaves out the rest, first of all the metadata, where start-up scripts stand.
constexpr const char* kInstanceFields =
    "nextPageToken,warning,unreachables,items/*/warning,items/*/instances(name,zone,status,machineType,hostname,labels,"
    "creationTimestamp,networkInterfaces/networkIP,resourceStatus/scheduling)";
constexpr const char* kGroupFields = "nextPageToken,warning,items(name,description,creationTimestamp,targetSize)";
constexpr const char* kRequestFields = "nextPageToken,warning,items(name,state,instances/name,status)";

std::optional<JobId> job_of(const std::string& label) {
  JobId job = 0;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), job);
  if (label.empty() || error != std::errc() || end != label.data() + label.size()) return std::nullopt;
  return job;
}

Machine waiting_machine(const FlexGroup& flex, const NodeName& node, const ResizeRequest& request) {
  Machine machine;
  machine.id = fmt::format("{}/{}", flex.group.name, node);
  machine.node = node;
  machine.launch = flex.group.name;
  machine.created = flex.group.created;
  machine.job = flex.about.job;
  if (request.is_active()) {
    machine.state = MachineState::queued;
    if (request.last_word) {
      const ApiError word = explained(*request.last_word, true);
      machine.detail = fmt::format("{}: {}", word.code, word.message);
    }
    return machine;
  }
  machine.state = MachineState::failed;
  ApiError error{"ResizeRequestFailed", "Compute Engine does not say why"};
  if (request.state == "CANCELLED") error = {"ResizeRequestCancelled", "the resize request was cancelled"};
  if (request.error) error = explained(*request.error, true);
  machine.failure = MachineFailure{outcome_of(error.code), error.code,
                                   fmt::format("resize request of {}: {}", flex.group.name, error.message)};
  return machine;
}

/// What of an instance group has no instance: queued and failed machines, or the empty group itself.
std::vector<Machine> unmade_machines(const FlexGroup& flex, const std::set<NodeName>& made,
                                     const GroupIdentity& identity) {
  std::vector<Machine> machines;
  std::set<NodeName> seen = made;
  for (const bool active : {true, false}) {  // a node that is asked for again is no failed one
    for (const auto& request : flex.requests) {
      if (request.is_active() != active || request.state == "SUCCEEDED") continue;
      for (const auto& node : flex.nodes_of(request, identity))
        if (seen.insert(node).second) machines.push_back(waiting_machine(flex, node, request));
    }
  }
  if (seen.empty()) {
    Machine machine;
    machine.id = machine.launch = flex.group.name;
    machine.state = MachineState::queued;
    machine.created = flex.group.created;
    machine.job = flex.about.job;
    machines.push_back(std::move(machine));
  }
  return machines;
}

/// Instances that their instance group counts and that bear no label of ours: someone took it away. They live, so that
/// their group is not empty, and must not be taken for it.
std::vector<Instance> read_unlabelled(const GroupContext& context, const Inventory& inventory) {
  std::vector<ApiCall> lists;
  std::vector<const FlexGroup*> groups;
  for (const auto& flex : inventory.groups) {
    const auto known =
        static_cast<std::size_t>(std::ranges::count_if(inventory.instances, [&](const Instance& instance) {
          return instance.label(kLaunchLabel) == flex.group.name;
        }));
    const bool active = std::ranges::any_of(flex.requests, [](const auto& request) { return request.is_active(); });
    if (active || known >= flex.group.target_size) continue;
    groups.push_back(&flex);
    lists.push_back({"regionInstanceGroupManagers.listManagedInstances",
                     context.regional(fmt::format("instanceGroupManagers/{}/listManagedInstances", flex.group.name)),
                     {},
                     {}});
  }
  std::vector<Instance> found;
  constexpr bool may_be_gone = true;
  context.api.list(
      lists,
      [&](std::size_t index, std::string_view body) {
        auto page = parse_managed_instances(body);
        for (auto& instance : page.items) {
          const bool is_known = std::ranges::any_of(
              inventory.instances, [&](const Instance& known) { return machine_id(known) == machine_id(instance); });
          if (is_known) continue;
          instance.created = groups[index]->group.created;
          instance.labels = {{kLaunchLabel, groups[index]->group.name}};
          found.push_back(std::move(instance));
        }
        return page.next_token;
      },
      may_be_gone);
  return found;
}

bool is_ours(const Instance& instance, const GroupIdentity& identity) {
  return instance.label(kClusterLabel) == label_value(identity.cluster) &&
         instance.label(kPartitionLabel) == label_value(identity.partition) &&
         instance.label(kGroupLabel) == label_value(identity.group);
}

std::vector<FlexGroup> read_groups(const GroupContext& context) {
  const ApiCall call{
      "regionInstanceGroupManagers.list",
      context.regional("instanceGroupManagers"),
      {{"filter", fmt::format("name eq \"{}.*\"", instance_group_prefix(context.identity))}, {"fields", kGroupFields}}};
  std::vector<FlexGroup> groups;
  context.api.list({call}, [&](std::size_t, std::string_view body) {
    auto page = parse_instance_groups(body);
    for (auto& group : page.items) {
      auto about = parse_description(context.identity, group.description);
      if (about) groups.push_back({std::move(group), std::move(*about), {}});
    }
    return page.next_token;
  });
  std::vector<std::string> names;
  for (const auto& flex : groups) names.push_back(flex.group.name);
  auto requests = read_resize_requests(context, names);
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].requests = std::move(requests[i]);
  return groups;
}

}  // namespace

std::vector<NodeName> FlexGroup::nodes_of(const ResizeRequest& request, const GroupIdentity& identity) const {
  std::vector<NodeName> nodes = request.nodes.empty() ? about.nodes : request.nodes;
  std::erase_if(nodes, [&](const NodeName& node) { return !identity.owns(node); });
  return nodes;
}

std::vector<Instance> read_instances(const GroupContext& context, const std::vector<std::string>& launches) {
  std::vector<std::string> filters;
  for (const auto& launch : launches) filters.push_back(label_filter(context.identity, launch));
  if (launches.empty()) filters.push_back(label_filter(context.identity));
  std::vector<ApiCall> lists;
  for (auto& filter : filters)
    lists.push_back({"instances.aggregatedList",
                     "aggregated/instances",
                     {{"filter", std::move(filter)}, {"returnPartialSuccess", "true"}, {"fields", kInstanceFields}}});
  std::vector<Instance> instances;
  context.api.list(lists, [&](std::size_t, std::string_view body) {
    auto page = parse_instances(body, context.settings.region);
    for (auto& instance : page.items)
      if (is_ours(instance, context.identity)) instances.push_back(std::move(instance));
    return page.next_token;
  });
  return instances;
}

std::vector<std::vector<ResizeRequest>> read_resize_requests(const GroupContext& context,
                                                             const std::vector<std::string>& groups) {
  std::vector<ApiCall> lists;
  for (const auto& name : groups)
    lists.push_back({"regionInstanceGroupManagerResizeRequests.list",
                     context.regional(fmt::format("instanceGroupManagers/{}/resizeRequests", name)),
                     {{"fields", kRequestFields}}});
  std::vector<std::vector<ResizeRequest>> requests(groups.size());
  constexpr bool may_be_gone = true;
  context.api.list(
      lists,
      [&](std::size_t index, std::string_view body) {
        auto page = parse_resize_requests(body);
        for (auto& request : page.items) requests[index].push_back(std::move(request));
        return page.next_token;
      },
      may_be_gone);
  return requests;
}

Inventory read_inventory(const GroupContext& context) {
  Inventory inventory;
  // Requests first: a machine that comes between the two reads is found by the second. The other way round it would be
  // in neither.
  if (context.is_flex()) inventory.groups = read_groups(context);
  inventory.instances = read_instances(context);
  auto unlabelled = read_unlabelled(context, inventory);
  std::move(unlabelled.begin(), unlabelled.end(), std::back_inserter(inventory.instances));
  return inventory;
}

std::string machine_id(const Instance& instance) { return instance.zone + "/" + instance.name; }

MachineState state_of(const Instance& instance) {
  const std::string& status = instance.status;
  if (status == "RUNNING" || status == "REPAIRING") return MachineState::running;
  if (status == "STOPPING" || status == "SUSPENDING" || status == "PENDING_STOP" || status == "DEPROVISIONING")
    return MachineState::stopping;
  if (status == "TERMINATED" || status == "SUSPENDED" || status == "STOPPED") return MachineState::failed;
  return MachineState::starting;  // PROVISIONING, STAGING
}

Machine to_machine(const Instance& instance, const GroupIdentity& identity) {
  Machine machine;
  machine.id = machine_id(instance);
  if (identity.owns(instance.name)) machine.node = instance.name;
  machine.address = instance.address;
  machine.hostname = instance.hostname;
  machine.type = instance.type;
  machine.zone = instance.zone;
  machine.launch = instance.label(kLaunchLabel);
  machine.state = state_of(instance);
  machine.created = instance.created;
  machine.expires = instance.expires;
  machine.job = job_of(instance.label(kJobLabel));
  if (machine.state == MachineState::failed)
    machine.failure =
        MachineFailure{Outcome::rejected, "MachineStopped", fmt::format("{} is {}", machine.id, instance.status)};
  return machine;
}

std::vector<Machine> machines_of(const Inventory& inventory, const GroupIdentity& identity,
                                 const GroupSettings& settings) {
  std::vector<Machine> machines;
  for (const auto& instance : inventory.instances) {
    machines.push_back(to_machine(instance, identity));
    if (settings.model == ProvisioningModel::flex_start)
      machines.back().register_by = machines.back().created + settings.boot_timeout;
  }
  for (const auto& flex : inventory.groups) {
    std::set<NodeName> made;
    for (const auto& instance : inventory.instances)
      if (instance.label(kLaunchLabel) == flex.group.name) made.insert(instance.name);
    for (auto& machine : unmade_machines(flex, made, identity)) machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace burst::gce
