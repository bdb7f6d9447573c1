// SPDX-License-Identifier: Apache-2.0
// A node group for the reconciler's tests: nodes, machines and passes a minute apart.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/reconcile.h"

namespace burst {

inline const std::chrono::sys_seconds kStart{std::chrono::seconds(1'780'000'000)};

inline std::string change_name(StateChange change) {
  static const char* const kNames[] = {"down",     "idle",       "resume",          "undrain",
                                       "power_up", "power_down", "power_down_force"};
  return kNames[static_cast<std::size_t>(change)];
}

/// `N4 p-g-1 power_down_force burst:NoMachine`: what a test compares. Of a reason only the first word.
inline std::string line(const Action& action) {
  const std::string reason = action.reason.substr(0, action.reason.find(' '));
  switch (action.kind) {
    case ActionKind::set_address:
      return fmt::format("{} {} address {} {}", action.row, action.node, action.address, action.hostname);
    case ActionKind::set_state:
      return fmt::format("{} {} {}{}{}", action.row, action.node, change_name(action.change), reason.empty() ? "" : " ",
                         reason);
    case ActionKind::end_machine:
      return fmt::format("{} {} end {}", action.row, action.node, action.machine_id);
    case ActionKind::comment_jobs:
      return fmt::format("{} {} comment {}", action.row, action.node, action.reason);
    case ActionKind::reserve:
      return fmt::format("{} reserve {}", action.row, action.reservation.name);
    case ActionKind::unreserve:
      return fmt::format("{} unreserve {}", action.row, action.reservation.name);
    case ActionKind::warn:
      return fmt::format("{} {} warn", action.row, action.node);
    case ActionKind::alarm:
      return fmt::format("{} alarm", action.row);
  }
  return "";
}

class ReconcileTest : public testing::Test {
 protected:
  using seconds = std::chrono::seconds;

  ReconcileTest() {
    group.partition = "p";
    group.name = "g";
    group.max_nodes = 100;
    policy.suspend_timeout = seconds(120);
    policy.resume_timeout = seconds(300);
  }

  SlurmNode& node(const std::string& name, const std::string& state, const std::string& reason = "",
                  const std::string& address = "") {
    SlurmNode& node = nodes.emplace_back();
    node.name = name;
    node.state = parse_node_state(state);
    node.reason = reason;
    node.address = address.empty() ? name : address;
    return node;
  }

  Machine& machine(const std::string& id, const std::string& name, MachineState state = MachineState::running,
                   const std::string& address = "", seconds age = seconds(1000)) {
    Machine& machine = machines.emplace_back();
    machine.id = id;
    if (!name.empty()) machine.node = name;
    machine.state = state;
    machine.address = address;
    machine.hostname = address.empty() ? "" : "h-" + address;
    machine.created = now - age;
    return machine;
  }

  /// One pass; `now` moves on a minute afterwards.
  std::vector<std::string> pass() {
    auto decision = decide(GroupView{group, nodes, machines, launches}, policy, now, memory);
    memory = decision.memory;
    actions = std::move(decision.actions);
    now += seconds(60);
    std::vector<std::string> lines;
    for (const auto& action : actions) lines.push_back(line(action));
    return lines;
  }
  /// The first actions that come within so many passes; empty when none come. Goes on with what follows the action.
  std::vector<std::string> passes(int count) {
    for (int i = 0; i < count; ++i) {
      if (auto lines = pass(); !lines.empty()) return lines;
    }
    return {};
  }
  void reset() {
    nodes.clear();
    machines.clear();
    launches.clear();
    memory = {};
  }
  void cool_down(const std::string& code = "NoCapacity") {
    record_refusal(memory, code, "none left", now, policy.timing);
  }
  void again(const std::string& state, const std::string& reason = "") {
    nodes[0].state = parse_node_state(state);
    nodes[0].reason = reason;
  }

  NodeGroup group;
  Policy policy;
  std::chrono::sys_seconds now = kStart;
  std::vector<SlurmNode> nodes;
  std::vector<Machine> machines;
  std::set<std::string> launches;
  GroupMemory memory;
  std::vector<Action> actions;
};

}  // namespace burst
