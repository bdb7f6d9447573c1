// SPDX-License-Identifier: Apache-2.0
// Cool-down and bootstrap protection: when a node group pauses, and how it comes back.
#include <algorithm>

#include <fmt/format.h>

#include "burst/text.h"
#include "core/reconcile_rows.h"

namespace burst::reconcile {
namespace {

using enum NodeFlag;

/// So many registrations with errors in a row are no accident of one machine.
constexpr int kInvalidRegistrationLimit = 3;

bool has_registered(const NodeView& node) {
  return is_up(node) && !node.has(powering_up) && !node.has(powered_down) && !node.has(powering_down) &&
         !node.has(not_responding) && !node.has(invalid_reg);
}

bool waits_in_queue(const NodeView& node) {
  return node.machine != nullptr && node.machine->state == MachineState::queued;
}

bool is_started(const NodeView& node) { return node.machine != nullptr && node.machine->state != MachineState::queued; }

/// The provider had nothing to give: no fault of the machine.
bool was_refused(const Pass& pass, const NodeView& node) {
  if (!start_has_failed(pass, node) || !node.failed->failure) return false;
  const Outcome outcome = node.failed->failure->outcome;
  return outcome == Outcome::no_capacity || outcome == Outcome::over_quota;
}

bool ran_into_resume_timeout(const NodeView& node) {
  return node.is(NodeBase::down) && node.node->reason.find("ResumeTimeout reached") != std::string::npos;
}

/// N4 or N19 ends this start now.
bool gives_up_boot(const Pass& pass, const NodeView& node) {
  return start_is_lost(pass, node) || start_has_failed(pass, node) || boots_too_long(pass, node);
}

/// A machine was there and never registered.
bool failed_to_boot(const Pass& pass, const NodeView& node) {
  if (boots_too_long(pass, node)) return true;
  if (node.booting == nullptr || was_refused(pass, node)) return false;
  return ran_into_resume_timeout(node) || gives_up_boot(pass, node);
}

/// Slurm has not judged this start yet.
bool is_undecided(const NodeView& node) {
  return node.has(powering_up) || (is_up(node) && node.has(not_responding) && !has_power_flag(node));
}

void forgive(GroupMemory& memory) {
  memory.bootstrap_failures = 0;
  memory.invalid_registrations = 0;
  if (memory.cool_down && memory.cool_down->code == kBootstrapFailing && memory.cool_down->probing_since) {
    memory.cool_down.reset();
    memory.last_length = std::chrono::seconds(0);
  }
}

void add_line(Actions& actions, std::string_view row, ActionKind kind, std::string reason) {
  Action action;
  action.row = row;
  action.kind = kind;
  action.reason = std::move(reason);
  actions.push_back(std::move(action));
}

void protect(Pass& pass, const std::string& message, Actions& actions) {
  if (!record_refusal(pass.memory, std::string(kBootstrapFailing), message, pass.now, pass.policy.timing)) return;
  add_line(actions, "C4", ActionKind::alarm,
           fmt::format("{}: {}: the node group takes no jobs for {} s", pass.view.group.key(), message,
                       pass.memory.cool_down->length.count()));
}

/// Open again after probe_time; where machines never registered only after a whole start could have shown it. A
/// ResumeTimeout of many hours is a queue's: nobody may want just one node for so long.
bool probe_is_over(const Pass& pass) {
  const CoolDown& cool_down = *pass.memory.cool_down;
  const auto& timing = pass.policy.timing;
  if (cool_down.code != kBootstrapFailing) return pass.now >= *cool_down.probing_since + timing.probe_time;
  return pass.memory.booting.empty() &&
         pass.now >= *cool_down.probing_since +
                         std::max(timing.probe_time, std::min(pass.policy.resume_timeout, timing.max_cool_down));
}

/// Nodes that a cool-down keeps closed, and that may be opened.
bool is_candidate(const NodeView& node) {
  return node.is(NodeBase::down) && node.has(powered_down) && !node.has(power_up) && !node.has(powering_up) &&
         !node.has(powering_down) && !node.has(invalid_reg) && !node.has(drain) && !node.has(fail) &&
         may_mend(node.node->reason) && node.no_machine() && !node.beyond_max_nodes && !is_left_alone(*node.node);
}

}  // namespace

std::string cool_down_reason(const GroupMemory& memory) {
  return one_line(fmt::format("burst:{} {}", memory.cool_down->code, memory.cool_down->message));
}

void follow_queue(Pass& pass, std::span<const NodeView> nodes) {
  const bool one_came = std::ranges::any_of(nodes, [](const NodeView& node) {
    return node.has(powering_up) && is_started(node) && node.machine->register_by && node.booting == nullptr;
  });
  if (one_came) record_success(pass.memory);
  const auto refused = std::ranges::find_if(nodes, [&](const NodeView& node) { return was_refused(pass, node); });
  if (refused == nodes.end()) return;
  const MachineFailure& failure = *refused->failed->failure;
  record_refusal(pass.memory, failure.code, failure.message, pass.now, pass.policy.timing);
}

void follow_boots(Pass& pass, std::span<const NodeView> nodes, Actions& actions) {
  auto& memory = pass.memory;
  bool registered = false, failed = false, invalid = false;
  for (const auto& node : nodes) {
    if (node.booting != nullptr && has_registered(node)) registered = true;
    if (gives_up_boot(pass, node)) continue;
    if (node.has(powering_up) && is_started(node)) {
      memory.booting[node.node->name] = node.machine->id;
    } else if (node.booting != nullptr && !waits_in_queue(node) && is_undecided(node)) {
      memory.booting[node.node->name] = *node.booting;
    }
  }
  // In one pass a success and failures may meet; in which order they came is not known: the success wins.
  if (registered) forgive(memory);
  for (const auto& node : nodes) {
    if (!registered && failed_to_boot(pass, node)) {
      ++memory.bootstrap_failures;
      failed = true;
    }
    if (!registered && registered_with_errors(pass, node)) {
      ++memory.invalid_registrations;
      invalid = true;
    }
  }
  const int limit = pass.policy.timing.bootstrap_failure_limit;
  if (limit <= 0) return;
  if (failed && memory.bootstrap_failures >= limit) {
    protect(pass, fmt::format("{} machines in a row never registered with Slurm", memory.bootstrap_failures), actions);
  } else if (invalid && memory.invalid_registrations >= kInvalidRegistrationLimit) {
    protect(pass,
            fmt::format("{} machines in a row registered with less than slurm.conf says", memory.invalid_registrations),
            actions);
  }
}

void advance_cool_down(Pass& pass, std::span<const NodeView> nodes, Actions& actions) {
  auto& cool_down = pass.memory.cool_down;
  if (!cool_down) return;
  if (!cool_down->probing_since && pass.now >= cool_down->until) {
    cool_down->probing_since = pass.now;
    const auto is_closed_by_us = [](const NodeView& node) {
      return is_candidate(node) && is_our_reason(node.node->reason);
    };
    auto probe = std::ranges::find_if(nodes, is_closed_by_us);
    if (probe == nodes.end()) probe = std::ranges::find_if(nodes, is_candidate);
    if (probe != nodes.end()) pass.probe = probe->node;
  } else if (cool_down->probing_since && probe_is_over(pass)) {
    add_line(actions, "C3", ActionKind::warn,
             fmt::format("{}: the cool-down after {} is over", pass.view.group.key(), cool_down->code));
    cool_down.reset();
  }
  pass.closed = cool_down && !cool_down->probing_since;
}

void hold_back(Pass& pass, std::span<const NodeView> nodes) {
  const auto limit = pass.policy.timing.bootstrap_failure_limit;
  if (limit <= 0 || pass.memory.bootstrap_failures == 0) return;
  const auto boots = [&](const NodeView& node) {
    return is_undecided(node) && !waits_in_queue(node) && !gives_up_boot(pass, node);
  };
  auto allowed = limit - pass.memory.bootstrap_failures - std::ranges::count_if(nodes, boots);
  for (const auto& node : nodes) {
    if (is_down_and_off(node) && allowed-- <= 0) pass.held.insert(node.node);
  }
}

}  // namespace burst::reconcile
