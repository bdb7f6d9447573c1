// SPDX-License-Identifier: Apache-2.0
// The node table of docs/reconcile.md, one function a row.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "burst/text.h"
#include "core/reconcile_rows.h"

namespace burst::reconcile {
namespace {

using enum NodeFlag;

/// How long Slurm may keep an idle, powered-down node marked as not responding before N0 says IDLE again.
constexpr std::chrono::seconds kDeafTime{600};

constexpr std::string_view kExpired = "burst:MachineExpired its machine reached its maximum run duration";

void set_state(Action& action, StateChange change, std::string reason = {}) {
  action.kind = ActionKind::set_state;
  action.change = change;
  action.reason = std::move(reason);
}

bool is_booting(const NodeView& node) {
  return is_up(node) && node.has(powering_up) && !node.has(powered_down) && !node.has(powering_down);
}
bool is_plainly_up(const NodeView& node) { return is_up(node) && !has_power_flag(node); }
bool is_off(const NodeView& node) {
  return node.has(powered_down) && !node.has(powering_up) && !node.has(powering_down);
}

/// The machine has an address, and Slurm another.
bool address_differs(const NodeView& node) {
  return node.machine != nullptr && node.machine->state != MachineState::queued && !node.machine->address.empty() &&
         node.machine->address != node.node->address;
}

void update_address(const Pass&, const NodeView& node, Action& action) {
  action.kind = ActionKind::set_address;
  action.machine_id = node.machine->id;
  action.address = node.machine->address;
  action.hostname = node.machine->hostname;
}

void make_idle(const Pass&, const NodeView&, Action& action) { set_state(action, StateChange::idle); }

/// DOWN and off by us or by Slurm. A drain on top of it is someone else's, unless the reason is ours. While it is
/// INVALID_REG (which powering down clears since 22.05.1) Slurm refuses IDLE.
bool is_taken_down(const NodeView& node) {
  const bool foreign_drain = (node.has(drain) || node.has(fail)) && !is_our_reason(node.node->reason);
  return node.is(NodeBase::down) && is_off(node) && !node.has(power_up) && !node.has(invalid_reg) &&
         may_mend(node.node->reason) && !foreign_drain;
}

/// With words of Slurm's own about it, such as after a ResumeTimeout.
bool is_down_by_slurm(const NodeView& node) { return is_taken_down(node) && !is_our_reason(node.node->reason); }

// C1: a cool-down closes the group, so that the scheduler takes others. The nodes that failed for the same cause say
// so.
bool is_closed(const Pass& pass, const NodeView& node) {
  return pass.closed && (is_closable(*node.node) || is_down_by_slurm(node));
}
void close(const Pass& pass, const NodeView&, Action& action) {
  set_state(action, StateChange::down, cool_down_reason(pass.memory));
}

// C2: the cool-down is over; one node goes first.
bool is_probe(const Pass& pass, const NodeView& node) { return node.node == pass.probe; }

// N0: ResumeTimeout (up to 23.02.4) and RESUME leave NOT_RESPONDING behind; after its next restart slurmctld keeps such
// a node from jobs until someone says IDLE, which makes it available but does not take the flag away (22.05.8).
bool is_off_and_deaf(const Pass& pass, const NodeView& node) {
  return node.no_machine() && !node.has(drain) && !node.has(fail) && !node.has(power_up) && !node.has(invalid_reg) &&
         !node.is_static && lasts(pass, node, kOffNotResponding, 2, kDeafTime);
}

// N1: off, or about to be resumed.
bool is_off_as_it_should(const Pass&, const NodeView& node) {
  const bool wanted = node.is_static && node.is(NodeBase::idle) && !node.has(power_up);
  return is_up(node) && is_off(node) && node.no_machine() && !wanted && !node.has(drain);
}

// N2
bool boots_elsewhere(const Pass&, const NodeView& node) { return is_booting(node) && address_differs(node); }

// N3
bool boots(const Pass&, const NodeView& node) { return is_booting(node) && node.machine != nullptr; }
bool boots_and_waits(const Pass& pass, const NodeView& node) {
  return boots(pass, node) && node.machine->state == MachineState::queued && !node.machine->detail.empty();
}
void comment_on_wait(const Pass&, const NodeView& node, Action& action) {
  action.kind = ActionKind::comment_jobs;
  action.machine_id = node.machine->id;
  action.reason = one_line(node.machine->detail);
}

/// Why the machine is gone, where the provider's last word is still to be had.
std::string why_gone(const NodeView& node) {
  return node.stopping == nullptr || node.stopping->detail.empty() ? "" : ": " + one_line(node.stopping->detail);
}

/// What the provider said of a machine that failed, as the node's reason.
std::string failure_reason(const Machine& machine) {
  if (!machine.failure) return "burst:MachineFailed its machine failed";
  const auto& failure = *machine.failure;
  return one_line(fmt::format("burst:{} {}", failure.code.empty() ? "MachineFailed" : failure.code, failure.message));
}

// N4
void give_up_failed_start(const Pass&, const NodeView& node, Action& action) {
  set_state(action, StateChange::power_down_force, failure_reason(*node.failed));
}
void give_up_start(const Pass&, const NodeView& node, Action& action) {
  set_state(action, StateChange::power_down_force,
            node.booting != nullptr || node.stopping != nullptr
                ? "burst:MachineGone its machine ended before the node registered" + why_gone(node)
                : "burst:NoMachine no machine was started for the node");
}

// N18
bool lost_its_job(const Pass& pass, const NodeView& node) {
  return lasts(pass, node, kQueuedWithoutJob, 2, std::chrono::seconds(0));
}
void leave_the_queue(const Pass&, const NodeView& node, Action& action) {
  set_state(action, StateChange::power_down_force,
            fmt::format("burst:JobEnded job {} ended before its machine came", *node.machine->job));
}

// N19
void give_up_boot(const Pass&, const NodeView& node, Action& action) {
  set_state(action, StateChange::power_down_force,
            fmt::format("burst:BootTimeout machine {} runs and did not register in time", node.machine->id));
}

// N5
bool is_down_while_booting(const Pass&, const NodeView& node) {
  return node.is(NodeBase::down) && node.has(powering_up) && !node.has(power_down) && !node.has(powered_down) &&
         !node.has(powering_down) && may_mend(node.node->reason);
}
void power_down_quietly(const Pass&, const NodeView&, Action& action) { set_state(action, StateChange::power_down); }

// N6
bool may_come_back(const Pass& pass, const NodeView& node) {
  return is_down_and_off(node) && !pass.memory.cool_down && !pass.held.contains(node.node);
}

// N7
bool waits_to_come_back(const Pass& pass, const NodeView& node) {
  return is_down_and_off(node) && !may_come_back(pass, node);
}

// N8
bool is_our_drain_and_off(const Pass& pass, const NodeView& node) {
  return node.is(NodeBase::idle) && node.has(drain) && is_off(node) && !node.has(power_up) && !node.has(invalid_reg) &&
         is_our_reason(node.node->reason) && node.no_machine() && !pass.memory.cool_down;
}

// N9
bool is_static_and_off(const Pass& pass, const NodeView& node) {
  return node.is_static && node.is(NodeBase::idle) && is_off(node) && !node.has(power_up) && !node.has(drain) &&
         !node.has(fail) && node.no_machine() && !pass.closed;
}
void power_up_static(const Pass&, const NodeView&, Action& action) { set_state(action, StateChange::power_up); }

// N10
void end_invalid(const Pass&, const NodeView& node, Action& action) {
  const std::string& said = node.node->reason;
  set_state(action, StateChange::power_down_force,
            is_our_reason(said) ? said : one_line("burst:InvalidRegistration " + said));
}

// N11
bool does_not_respond(const Pass&, const NodeView& node) {
  return node.is(NodeBase::down) && node.has(not_responding) && !has_power_flag(node) && may_mend(node.node->reason);
}
void end_unresponsive(const Pass& pass, const NodeView& node, Action& action) {
  set_state(action, StateChange::power_down_force,
            has_expired(pass, node) ? std::string(kExpired)
            : node.machine == nullptr
                ? "burst:node_not_responding it has no machine" + why_gone(node)
                : fmt::format("burst:node_not_responding slurmd does not answer, machine {} runs", node.machine->id));
}

// N12
bool lost_its_machine(const Pass& pass, const NodeView& node) {
  if (!is_plainly_up(node) || node.machine != nullptr) return false;
  const bool is_certain = has_expired(pass, node) || (node.failed != nullptr && !pass.launching);
  return is_certain || lasts(pass, node, kUpWithoutMachine, 2, pass.policy.timing.missing_grace);
}
void power_down_lost(const Pass& pass, const NodeView& node, Action& action) {
  std::string why = "burst:MachineGone its machine does not exist any more" + why_gone(node);
  if (node.failed != nullptr) why = failure_reason(*node.failed);
  if (has_expired(pass, node)) why = kExpired;
  // Someone's own words about the node stay.
  set_state(action, StateChange::power_down_force, may_mend(node.node->reason) ? why : "");
}

// N13
bool runs_elsewhere(const Pass&, const NodeView& node) { return is_plainly_up(node) && address_differs(node); }

// N14
bool is_silent_for_now(const Pass&, const NodeView& node) {
  return is_plainly_up(node) && node.has(not_responding) && node.machine != nullptr;
}

// N15
std::chrono::seconds stuck_time(const Pass& pass) {
  return pass.policy.unkillable_step_timeout + pass.policy.kill_wait + std::chrono::seconds(60);
}
bool is_stuck_completing(const Pass& pass, const NodeView& node) {
  return is_up(node) && node.has(completing) && node.has(drain) && !node.has(powered_down) && !node.has(powering_up) &&
         !node.has(powering_down) && lasts(pass, node, kCompleting, 2, stuck_time(pass));
}
void end_stuck(const Pass& pass, const NodeView&, Action& action) {
  set_state(action, StateChange::down,
            fmt::format("burst:node_stuck its jobs did not end within {} s", stuck_time(pass).count()));
}

// N16
bool has_powered_down(const Pass& pass, const NodeView& node) {
  return node.is(NodeBase::idle) && node.has(powering_down) && !node.has(drain) && !node.has(fail) &&
         !node.has(completing) && node.no_machine() &&
         lasts(pass, node, kPoweringDown, has_expired(pass, node) ? 1 : 2, std::chrono::seconds(0));
}
void resume_early(const Pass&, const NodeView&, Action& action) { set_state(action, StateChange::resume); }

// N17
bool is_anything_else(const Pass&, const NodeView&) { return true; }

constexpr std::array kNodeRows{
    NodeRow{"C1", is_closed, close},
    NodeRow{"C2", is_probe, make_idle},
    NodeRow{"N0", is_off_and_deaf, make_idle},
    NodeRow{"N1", is_off_as_it_should, nullptr},
    NodeRow{"N2", boots_elsewhere, update_address, true},
    NodeRow{"N18", lost_its_job, leave_the_queue},
    NodeRow{"N19", boots_too_long, give_up_boot},
    NodeRow{"N3", boots_and_waits, comment_on_wait},
    NodeRow{"N3", boots, nullptr},
    NodeRow{"N4", start_has_failed, give_up_failed_start},
    NodeRow{"N4", start_is_lost, give_up_start},
    NodeRow{"N5", is_down_while_booting, power_down_quietly},
    NodeRow{"N6", may_come_back, make_idle},
    NodeRow{"N7", waits_to_come_back, nullptr},
    NodeRow{"N8", is_our_drain_and_off, make_idle},
    NodeRow{"N9", is_static_and_off, power_up_static},
    NodeRow{"N10", registered_with_errors, end_invalid},
    NodeRow{"N11", does_not_respond, end_unresponsive},
    NodeRow{"N12", lost_its_machine, power_down_lost},
    NodeRow{"N13", runs_elsewhere, update_address, true},
    NodeRow{"N14", is_silent_for_now, nullptr},
    NodeRow{"N15", is_stuck_completing, end_stuck},
    NodeRow{"N16", has_powered_down, resume_early},
    NodeRow{"N17", is_anything_else, nullptr, true},
};

}  // namespace

std::span<const NodeRow> node_rows() { return kNodeRows; }

bool is_down_and_off(const NodeView& node) { return is_taken_down(node) && node.no_machine(); }

bool is_up(const NodeView& node) {
  return node.is(NodeBase::idle) || node.is(NodeBase::allocated) || node.is(NodeBase::mixed);
}

bool has_power_flag(const NodeView& node) {
  return node.has(power_up) || node.has(power_down) || node.has(powered_down) || node.has(powering_up) ||
         node.has(powering_down);
}

bool is_left_alone(const SlurmNode& node) {
  const auto& state = node.state;
  return state.has(reboot_requested) || state.has(reboot_issued) || state.has(maintenance) ||
         state.base == NodeBase::unknown || state.base == NodeBase::future;
}

bool is_our_reason(std::string_view reason) {
  const std::string_view first = reason.substr(0, reason.find(" : "));  // Slurm appends what it has to say itself
  return reason.starts_with("burst:") || first == "node_not_responding" || first == "node_stuck";
}

bool may_mend(std::string_view reason) {
  constexpr std::array<std::string_view, 4> slurms_reasons{"ResumeTimeout reached", "Not responding",
                                                           "Node unexpectedly rebooted", "reboot timed out"};
  if (reason.empty() || is_our_reason(reason)) return true;
  while (!reason.empty()) {
    const auto end = reason.find(" : ");
    if (std::ranges::find(slurms_reasons, reason.substr(0, end)) == slurms_reasons.end()) return false;
    reason = end == std::string_view::npos ? std::string_view() : reason.substr(end + 3);
  }
  return true;
}

bool lasts(const Pass& pass, const NodeView& node, std::string_view state, int passes, std::chrono::seconds time) {
  return node.sighting != nullptr && node.sighting->state == state && node.sighting->passes >= passes &&
         pass.now - node.sighting->since >= time;
}

bool start_is_lost(const Pass& pass, const NodeView& node) {
  return is_booting(node) && node.machine == nullptr && !is_left_alone(*node.node) &&
         lasts(pass, node, kStartingWithoutMachine, 2, pass.policy.timing.launch_grace);
}

bool start_has_failed(const Pass& pass, const NodeView& node) {
  return is_booting(node) && node.machine == nullptr && node.failed != nullptr && !is_left_alone(*node.node) &&
         !pass.launching;
}

bool waits_without_job(const NodeView& node) {
  return is_booting(node) && node.is(NodeBase::idle) && !node.is_static && node.machine != nullptr &&
         node.machine->state == MachineState::queued && node.machine->job.has_value();
}

bool boots_too_long(const Pass& pass, const NodeView& node) {
  return is_booting(node) && node.machine != nullptr && node.machine->state != MachineState::queued &&
         node.machine->register_by && pass.now > *node.machine->register_by && !is_left_alone(*node.node);
}

bool has_expired(const Pass& pass, const NodeView& node) {
  return node.machine == nullptr && !pass.launching && node.expires != nullptr && *node.expires <= pass.now;
}

bool registered_with_errors(const Pass&, const NodeView& node) {
  // Slurm leaves such a node up and drains it, with its own words; DOWN it is by someone's will.
  const bool ours_to_mend = is_up(node) || (node.is(NodeBase::down) && may_mend(node.node->reason));
  return node.has(invalid_reg) && node.machine != nullptr && !has_power_flag(node) && ours_to_mend &&
         !is_left_alone(*node.node);
}

bool is_closable(const SlurmNode& node) {
  const auto& state = node.state;
  const bool busy = state.has(power_up) || state.has(power_down) || state.has(powering_up) || state.has(completing);
  return state.base == NodeBase::idle && (state.has(powered_down) || state.has(powering_down)) && !busy &&
         !state.has(drain) && !state.has(fail) && !is_left_alone(node);
}

}  // namespace burst::reconcile
