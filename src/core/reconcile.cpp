// SPDX-License-Identifier: Apache-2.0
// What change_state decides: puts nodes, machines and memory together, and goes through the tables.
#include "core/reconcile.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/reconcile_rows.h"

namespace burst {
namespace {

using namespace reconcile;  // NOLINT(google-build-using-namespace): the other half of this file

using NodeIndex = std::unordered_map<std::string_view, std::size_t>;

bool is_live(const Machine& machine) {
  return machine.state != MachineState::stopping && machine.state != MachineState::failed;
}

/// Which of two live machines of a node is to stay (M2): the one where Slurm looks for it, else the one that is
/// furthest, else the elder.
bool is_better(const Machine& a, const Machine& b, const SlurmNode& node) {
  const auto at_address = [&](const Machine& machine) {
    return machine.state != MachineState::queued && !machine.address.empty() && machine.address == node.address;
  };
  const auto rank = [](const Machine& machine) {
    return machine.state == MachineState::running ? 0 : machine.state == MachineState::starting ? 1 : 2;
  };
  if (at_address(a) != at_address(b)) return at_address(a);
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (a.created != b.created) return a.created < b.created;
  return a.id < b.id;
}

NodeIndex index_of(std::span<const SlurmNode> nodes) {
  NodeIndex index;
  index.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) index.emplace(nodes[i].name, i);
  return index;
}

std::vector<NodeView> node_views(const GroupView& view, const GroupMemory& memory, const NodeIndex& index) {
  std::vector<NodeView> nodes(view.nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].node = &view.nodes[i];
    if (const auto parts = parse_node_name(view.nodes[i].name)) {
      nodes[i].is_static = std::cmp_less(parts->number, view.group.min_nodes);
      nodes[i].beyond_max_nodes = std::cmp_greater_equal(parts->number, view.group.max_nodes);
    }
  }
  for (const auto& machine : view.machines) {
    if (!machine.node) continue;
    const auto found = index.find(*machine.node);
    if (found == index.end()) continue;
    NodeView& node = nodes[found->second];
    if (machine.state == MachineState::stopping) {
      node.stopping = &machine;
    } else if (machine.state == MachineState::failed) {
      if (node.failed == nullptr || !node.failed->failure) node.failed = &machine;
    } else if (node.machine == nullptr || is_better(machine, *node.machine, *node.node)) {
      node.machine = &machine;
    }
  }
  for (const auto& [name, sighting] : memory.sightings) {
    if (const auto found = index.find(name); found != index.end()) nodes[found->second].before = &sighting;
  }
  for (const auto& [name, machine] : memory.booting) {
    if (const auto found = index.find(name); found != index.end()) nodes[found->second].booting = &machine;
  }
  for (const auto& [name, time] : memory.expires) {
    if (const auto found = index.find(name); found != index.end()) nodes[found->second].expires = &time;
  }
  return nodes;
}

/// The lasting state that a node is in; empty: none.
std::string_view lasting_state(const Pass& pass, const NodeView& node) {
  if (node.has(NodeFlag::powering_down)) return kPoweringDown;
  if (waits_without_job(node)) return kQueuedWithoutJob;
  if (is_up(node) && node.machine == nullptr && !pass.launching) {
    if (node.has(NodeFlag::powering_up)) return kStartingWithoutMachine;
    if (!has_power_flag(node)) return kUpWithoutMachine;
  }
  if (is_up(node) && node.has(NodeFlag::completing) && node.has(NodeFlag::drain)) return kCompleting;
  if (node.is(NodeBase::idle) && node.has(NodeFlag::powered_down) && node.has(NodeFlag::not_responding)) {
    return kOffNotResponding;
  }
  return {};
}

/// Remembers this pass's lasting states; those of nodes that left theirs are forgotten.
void follow_states(Pass& pass, std::vector<NodeView>& nodes) {
  for (auto& node : nodes) {
    const std::string_view state = lasting_state(pass, node);
    if (state.empty()) continue;
    Sighting sighting{std::string(state), pass.now, 0};
    if (node.before != nullptr && node.before->state == state) {
      sighting.since = std::min(node.before->since, pass.now);
      sighting.passes = node.before->passes;
    }
    // Of a node that is powering down the passes count that found nothing of its machine any more.
    const bool something_left = state == kPoweringDown && (!node.no_machine() || pass.launching);
    sighting.passes = something_left ? 0 : sighting.passes + 1;
    node.sighting = &(pass.memory.sightings[node.node->name] = std::move(sighting));
  }
}

/// A node's expiry is remembered until it is off, or about to get another machine.
void follow_expiries(Pass& pass, std::span<const NodeView> nodes) {
  for (const auto& node : nodes) {
    if (node.machine != nullptr) {
      const bool runs = node.machine->state != MachineState::queued;
      if (runs && node.machine->expires) pass.memory.expires[node.node->name] = *node.machine->expires;
    } else if (node.expires != nullptr && !node.has(NodeFlag::powered_down) && !node.has(NodeFlag::power_up) &&
               !node.has(NodeFlag::powering_up)) {
      pass.memory.expires[node.node->name] = *node.expires;
    }
  }
}

/// A machine whose creation time the provider does not tell is as old as we have known it.
void follow_machines(Pass& pass, const GroupMemory& before) {
  for (const auto& machine : pass.view.machines) {
    const bool waits_for_its_name = !machine.node && !pass.view.running_launches.contains(machine.launch);
    if (machine.created != std::chrono::sys_seconds() && !waits_for_its_name) continue;
    const auto found = before.machines_since.find(machine.id);
    pass.memory.machines_since[machine.id] =
        found == before.machines_since.end() ? pass.now : std::min(found->second, pass.now);
  }
}

void decide_node(const Pass& pass, const NodeView& node, Actions& actions) {
  const bool left_alone = is_left_alone(*node.node);
  for (const auto& row : node_rows()) {
    if ((left_alone && !row.always) || !row.matches(pass, node)) continue;
    if (row.act == nullptr) return;
    Action action;
    action.row = row.id;
    action.node = node.node->name;
    row.act(pass, node, action);
    actions.push_back(std::move(action));
    return;
  }
}

void decide_machine(const Pass& pass, const Machine& machine, const NodeView* node, Actions& actions) {
  if (machine.state == MachineState::stopping) return;
  for (const auto& row : machine_rows()) {
    if (row.apply(pass, machine, node, actions)) return;
  }
}

}  // namespace

Decision decide(const GroupView& view, const Policy& policy, std::chrono::sys_seconds now, const GroupMemory& memory) {
  Pass pass{view, policy, now, memory};
  pass.memory.sightings.clear();
  pass.memory.booting.clear();
  pass.memory.machines_since.clear();
  pass.memory.expires.clear();
  pass.launching = std::ranges::any_of(view.machines, [&](const Machine& machine) {
    return !machine.node && is_live(machine) && view.running_launches.contains(machine.launch);
  });

  const NodeIndex index = index_of(view.nodes);
  auto nodes = node_views(view, memory, index);
  Decision decision;
  follow_states(pass, nodes);
  follow_machines(pass, memory);
  follow_expiries(pass, nodes);
  follow_queue(pass, nodes);
  follow_boots(pass, nodes, decision.actions);
  advance_cool_down(pass, nodes, decision.actions);
  hold_back(pass, nodes);
  for (const auto& node : nodes) {
    decide_node(pass, node, decision.actions);
    // N0 leaves the state as it is: its time begins anew.
    if (!decision.actions.empty() && decision.actions.back().row == "N0") pass.memory.sightings.erase(node.node->name);
  }
  for (const auto& machine : view.machines) {
    const auto found = machine.node ? index.find(*machine.node) : index.end();
    decide_machine(pass, machine, found == index.end() ? nullptr : &nodes[found->second], decision.actions);
  }
  decision.memory = std::move(pass.memory);
  return decision;
}

std::vector<Action> close_group(std::span<const SlurmNode> nodes, const GroupMemory& memory,
                                std::chrono::sys_seconds now) {
  std::vector<Action> actions;
  if (!is_closed(memory, now)) return actions;
  const std::string reason = cool_down_reason(memory);
  for (const auto& node : nodes) {
    if (!is_closable(node)) continue;
    Action action;
    action.row = "C1";
    action.kind = ActionKind::set_state;
    action.node = node.name;
    action.change = StateChange::down;
    action.reason = reason;
    actions.push_back(std::move(action));
  }
  return actions;
}

}  // namespace burst
