// SPDX-License-Identifier: Apache-2.0
// Ending flex-start machines: queued, running or left over, with their instance groups.
#include "providers/gce/gce_flex_stop.h"

#include <algorithm>

#include <fmt/format.h>

#include "providers/gce/gce_bulk_insert.h"

namespace burst::gce {
namespace {

/// An instance group that Google works on refuses to be changed: asked again after 1, 2, 4, 8 s.
constexpr int kBusyRounds = 5;

std::string group_path(const GroupContext& context, const std::string& name) {
  return context.regional("instanceGroupManagers/" + name);
}

/// Sends calls again as long as their things are busy; the errors that stay, by the index of the call.
std::map<std::size_t, ApiError> send_while_busy(const GroupContext& context, const std::vector<ApiCall>& calls) {
  std::map<std::size_t, ApiError> failed;
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < calls.size(); ++i) left.push_back(i);
  std::chrono::milliseconds pause{1000};
  for (int round = 1; !left.empty(); ++round) {
    std::vector<ApiCall> again;
    for (const auto i : left) again.push_back(calls[i]);
    const auto results = context.api.send(again);
    std::vector<std::size_t> busy;
    for (std::size_t i = 0; i < left.size(); ++i) {
      failed.erase(left[i]);
      if (results[i].ok()) continue;
      const ErrorKind kind = error_kind(results[i].error->code);
      if (kind == ErrorKind::gone) continue;
      failed.emplace(left[i], *results[i].error);
      if (kind == ErrorKind::busy) busy.push_back(left[i]);
    }
    left = std::move(busy);
    if (left.empty() || round == kBusyRounds) break;
    context.clock.sleep_for(pause);
    pause *= 2;
  }
  return failed;
}

/// What an instance group holds that lives, or will, by machine id.
struct Living {
  std::vector<std::string> instances, queued;
};

Living living_of(const FlexGroup& flex, const Inventory& inventory, const GroupIdentity& identity) {
  Living living;
  std::set<NodeName> made;
  for (const auto& instance : inventory.instances) {
    if (instance.label(kLaunchLabel) != flex.group.name) continue;
    made.insert(instance.name);
    const MachineState state = state_of(instance);
    if (state == MachineState::starting || state == MachineState::running)
      living.instances.push_back(machine_id(instance));
  }
  for (const auto& request : flex.requests) {
    if (!request.is_active()) continue;
    for (const auto& node : flex.nodes_of(request, identity))
      if (made.insert(node).second) living.queued.push_back(fmt::format("{}/{}", flex.group.name, node));
  }
  return living;
}

GroupEnding plan_group(const FlexGroup& flex, const Inventory& inventory, const std::set<std::string>& ids,
                       const GroupIdentity& identity) {
  GroupEnding ending;
  ending.flex = &flex;
  const Living living = living_of(flex, inventory, identity);
  const auto is_doomed = [&](const std::string& id) { return ids.contains(id); };
  const std::string prefix = flex.group.name + "/";
  bool touched = is_doomed(flex.group.name) ||
                 std::ranges::any_of(ids, [&](const std::string& id) { return id.starts_with(prefix); });
  std::vector<std::string> doomed_instances;
  for (const auto& instance : inventory.instances) {
    if (instance.label(kLaunchLabel) == flex.group.name && is_doomed(machine_id(instance)))
      doomed_instances.push_back(machine_id(instance));
  }
  touched = touched || !doomed_instances.empty();
  if (!touched) return ending;
  const auto& queued = living.queued;
  ending.whole = std::ranges::all_of(living.instances, is_doomed) && std::ranges::all_of(queued, is_doomed);
  if (ending.whole) return ending;
  ending.instances = std::move(doomed_instances);
  std::ranges::copy_if(queued, std::back_inserter(ending.stuck), is_doomed);
  return ending;
}

}  // namespace

EndingPlan plan_endings(const Inventory& inventory, const std::set<std::string>& ids, const GroupIdentity& identity) {
  EndingPlan plan;
  std::set<std::string> groups;
  for (const auto& flex : inventory.groups) {
    groups.insert(flex.group.name);
    GroupEnding ending = plan_group(flex, inventory, ids, identity);
    if (ending.whole || !ending.instances.empty() || !ending.stuck.empty()) plan.groups.push_back(std::move(ending));
  }
  for (const auto& instance : inventory.instances) {
    const std::string id = machine_id(instance);
    if (ids.contains(id) && !groups.contains(instance.label(kLaunchLabel))) plan.instances.push_back(id);
  }
  return plan;
}

std::map<std::string, ApiError> end_instance_groups(const GroupContext& context,
                                                    const std::vector<const FlexGroup*>& groups) {
  std::vector<ApiCall> cancels, deletions;
  for (const FlexGroup* flex : groups) {
    const std::string path = group_path(context, flex->group.name);
    for (const auto& request : flex->requests)
      if (request.is_active())
        cancels.push_back({"regionInstanceGroupManagerResizeRequests.cancel",
                           fmt::format("{}/resizeRequests/{}/cancel", path, request.name),
                           {},
                           {}});
    deletions.push_back({"regionInstanceGroupManagers.delete", path, {}, {}});
  }
  // Deleted in any case: a request that can't be cancelled any more has its machines by now, and they go too.
  for (const auto& result : context.api.run(cancels))
    if (!result.ok()) context.log.info(fmt::format("not cancelled: {}", result.error->message));
  std::map<std::string, ApiError> failed;
  for (auto& [index, error] : send_while_busy(context, deletions))
    failed.emplace(groups[index]->group.name, std::move(error));
  return failed;
}

std::map<std::string, ApiError> end_flex_machines(const GroupContext& context, const Inventory& inventory,
                                                  const std::set<std::string>& ids) {
  const EndingPlan plan = plan_endings(inventory, ids, context.identity);
  std::map<std::string, ApiError> failed = delete_instances(context, plan.instances);
  std::vector<const FlexGroup*> whole;
  std::vector<ApiCall> calls;
  std::vector<std::vector<std::string>> ids_of_call;
  for (const auto& ending : plan.groups) {
    if (ending.whole) whole.push_back(ending.flex);
    for (const auto& id : ending.stuck)
      failed.emplace(id, ApiError{"SharedRequest", fmt::format("the resize request of {} serves other nodes too: the "
                                                               "machine is ended when it comes",
                                                               ending.flex->group.name)});
    for (std::size_t first = 0; first < ending.instances.size(); first += kMachinesPerDeletion) {
      const auto begin = ending.instances.begin() + static_cast<std::ptrdiff_t>(first);
      const auto size = std::min(kMachinesPerDeletion, ending.instances.size() - first);
      ids_of_call.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
      std::vector<std::string> links;
      for (const auto& id : ids_of_call.back()) {
        const auto slash = id.find('/');
        links.push_back(fmt::format("zones/{}/instances/{}", id.substr(0, slash), id.substr(slash + 1)));
      }
      calls.push_back({"regionInstanceGroupManagers.deleteInstances",
                       group_path(context, ending.flex->group.name) + "/deleteInstances",
                       {},
                       delete_instances_body(links)});
    }
  }
  for (const auto& [index, error] : send_while_busy(context, calls))
    for (const auto& id : ids_of_call[index]) failed.insert_or_assign(id, error);
  for (const auto& [name, error] : end_instance_groups(context, whole)) {
    for (const auto& id : ids) {
      const bool of_group = id == name || id.starts_with(name + "/");
      const bool is_made = std::ranges::any_of(inventory.instances, [&](const Instance& instance) {
        return instance.label(kLaunchLabel) == name && machine_id(instance) == id;
      });
      if (of_group || is_made) failed.insert_or_assign(id, error);
    }
  }
  return failed;
}

}  // namespace burst::gce
