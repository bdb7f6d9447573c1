// SPDX-License-Identifier: Apache-2.0
// The machine table of docs/reconcile.md, one function a row. M6, other clusters' machines, is list()'s: none is here.
#include <array>

#include <fmt/format.h>

#include "burst/text.h"
#include "core/reconcile_rows.h"

namespace burst::reconcile {
namespace {

using enum NodeFlag;

bool older_than(const Pass& pass, const Machine& machine, std::chrono::seconds grace) {
  const bool tells = machine.created != std::chrono::sys_seconds();
  return pass.now - (tells ? machine.created : pass.memory.machines_since.at(machine.id)) > grace;
}

/// A name may be given between the look at the launch and the look at the machine, and clouds show tags late.
bool was_unnamed_before(const Pass& pass, const Machine& machine) {
  return pass.memory.machines_since.at(machine.id) < pass.now;
}

bool end_machine(std::string_view row, const Machine& machine, std::string why, Actions& actions) {
  Action action;
  action.row = row;
  action.kind = ActionKind::end_machine;
  action.machine_id = machine.id;
  if (machine.node) action.node = *machine.node;
  action.reason = std::move(why);
  actions.push_back(std::move(action));
  return true;
}

void warn(std::string_view row, const Machine& machine, std::string why, Actions& actions) {
  Action action;
  action.row = row;
  action.machine_id = machine.id;
  action.node = *machine.node;
  action.reason = std::move(why);
  actions.push_back(std::move(action));
}

bool bears_no_node(const Pass& pass, const Machine& machine, const NodeView*, Actions& actions) {
  if (machine.node) return false;
  if (pass.view.running_launches.contains(machine.launch)) return true;
  if (!older_than(pass, machine, pass.policy.timing.launch_grace) || !was_unnamed_before(pass, machine)) return true;
  return end_machine("M1", machine, "it bears no node and its launch is over", actions);
}

// In front of the others: it is no node's machine. What its node has to do with it is N4's and N12's.
bool has_failed(const Pass&, const Machine& machine, const NodeView*, Actions& actions) {
  if (machine.state != MachineState::failed) return false;
  const std::string why =
      machine.failure ? one_line(fmt::format(": {} {}", machine.failure->code, machine.failure->message)) : "";
  return end_machine("M7", machine, "it has failed" + why, actions);
}

bool is_a_double(const Pass&, const Machine& machine, const NodeView* node, Actions& actions) {
  if (node == nullptr || node->has(powered_down) || node->has(powering_down) || node->machine == &machine) return false;
  return end_machine("M2", machine, fmt::format("the node keeps {}", node->machine->id), actions);
}

bool is_an_orphan(const Pass& pass, const Machine& machine, const NodeView* node, Actions& actions) {
  if (node == nullptr || !node->has(powered_down) || node->has(power_up) || node->has(powering_up)) return false;
  if (node->is(NodeBase::allocated) || node->is(NodeBase::mixed)) return false;
  if (!older_than(pass, machine, pass.policy.timing.orphan_grace)) return false;
  return end_machine("M3", machine, "its node is powered down", actions);
}

bool outlived_its_suspend(const Pass& pass, const Machine& machine, const NodeView* node, Actions& actions) {
  if (node == nullptr || !lasts(pass, *node, kPoweringDown, 0, pass.policy.suspend_timeout / 2)) return false;
  if (node->sighting->since == pass.now) return false;  // SuspendProgram may not have run yet
  return end_machine("M4", machine, "its node is powering down and it still lives", actions);
}

bool has_no_such_node(const Pass& pass, const Machine& machine, const NodeView* node, Actions& actions) {
  if (node != nullptr) {
    // A job may run there; the node's own rows end the machine in time.
    if (node->beyond_max_nodes) warn("M5", machine, "its node is beyond MaxNodes", actions);
    return node->beyond_max_nodes;
  }
  warn("M5", machine, "Slurm does not know its node", actions);
  if (pass.view.nodes.empty() || !older_than(pass, machine, pass.policy.timing.orphan_grace)) return true;
  return end_machine("M5", machine, "Slurm does not know its node", actions);
}

constexpr std::array kMachineRows{
    MachineRow{"M7", has_failed},   MachineRow{"M1", bears_no_node},        MachineRow{"M2", is_a_double},
    MachineRow{"M3", is_an_orphan}, MachineRow{"M4", outlived_its_suspend}, MachineRow{"M5", has_no_such_node},
};

}  // namespace

std::span<const MachineRow> machine_rows() { return kMachineRows; }

}  // namespace burst::reconcile
