// SPDX-License-Identifier: Apache-2.0
// What must hold of every decision, on generated views and over passes in which Slurm and the cloud follow.
#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/expiry_reservations.h"
#include "core/reconcile.h"

namespace burst {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;
using enum NodeFlag;

constexpr unsigned kSeed = 20260802;

class World {
 public:
  explicit World(unsigned seed) : random_(seed) {
    group.partition = "p";
    group.name = "g";
    group.max_nodes = 12;
    group.min_nodes = pick(0, 2);
    policy.timing.bootstrap_failure_limit = pick(0, 3);
    policy.suspend_timeout = seconds(120);
    for (int i = 0; i < 14; ++i) add_node(i);
    for (int i = pick(0, 20); i > 0; --i) add_machine();
    if (pick(0, 3) == 0) record_refusal(memory, "NoCapacity", "none", now, policy.timing);
  }

  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  Decision pass() {
    auto decision = decide(GroupView{group, nodes, machines, launches}, policy, now, memory);
    EXPECT_EQ(decision.actions, decide(GroupView{group, nodes, machines, launches}, policy, now, memory).actions);
    EXPECT_EQ(parse_group_memory(to_json(decision.memory)), decision.memory);
    memory = decision.memory;
    now += seconds(60);
    return decision;
  }

  /// Queued machines come or fail, expired ones go, Slurm hears of nodes whose machines boot and cancels jobs.
  void move_on() {
    for (auto& machine : machines) {
      if (machine.state == MachineState::queued && pick(0, 3) == 0) come_or_fail(machine);
    }
    std::erase_if(machines, [&](const Machine& machine) { return machine.expires && *machine.expires <= now; });
    for (auto& node : nodes) {
      if (!node.state.has(powering_up) || node.state.base == NodeBase::down) continue;
      if (pick(0, 5) == 0) node.state.base = NodeBase::idle;
      const bool boots = std::ranges::any_of(machines, [&](const Machine& machine) {
        return machine.node == node.name && machine.state == MachineState::running;
      });
      if (boots && pick(0, 2) == 0) clear(node, {powering_up, not_responding});
    }
  }

  /// Slurm and the cloud do what they were told, as far as they would.
  void obey(const std::vector<Action>& actions) {
    for (const auto& action : actions) {
      if (action.kind == ActionKind::end_machine) {
        std::erase_if(machines, [&](const Machine& machine) { return machine.id == action.machine_id; });
      }
      const auto node = std::ranges::find(nodes, action.node, &SlurmNode::name);
      if (node == nodes.end()) continue;
      if (action.kind == ActionKind::set_address) node->address = action.address;
      if (action.kind == ActionKind::set_state) change(*node, action);
    }
    for (auto& node : nodes) {
      if (!node.state.has(powering_down) || pick(0, 2) != 0) continue;
      clear(node, {powering_down, not_responding});
      node.state.set(powered_down);
    }
  }

  NodeGroup group;
  Policy policy;
  std::vector<SlurmNode> nodes;
  std::vector<Machine> machines;
  std::set<std::string> launches{"alive"};
  GroupMemory memory;
  sys_seconds now{seconds(1'780'000'000)};

 private:
  void add_node(int id) {
    static const std::vector<std::string> states{"IDLE+CLOUD+POWERED_DOWN",
                                                 "ALLOCATED+CLOUD+POWERED_DOWN",
                                                 "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP",
                                                 "IDLE+CLOUD",
                                                 "MIXED+CLOUD",
                                                 "ALLOCATED+CLOUD+POWER_DOWN",
                                                 "IDLE+CLOUD+POWERING_DOWN",
                                                 "DOWN+CLOUD+POWERED_DOWN",
                                                 "DOWN+CLOUD+NOT_RESPONDING+POWERING_UP",
                                                 "DOWN+CLOUD+NOT_RESPONDING",
                                                 "IDLE+CLOUD+DRAIN+INVALID_REG",
                                                 "IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING",
                                                 "IDLE+CLOUD+DRAIN+POWERED_DOWN",
                                                 "IDLE+CLOUD+COMPLETING+DRAIN",
                                                 "IDLE+CLOUD+REBOOT_ISSUED",
                                                 "MAINT+CLOUD",
                                                 "DOWN*+CLOUD+POWER",
                                                 "IDLE#+CLOUD",
                                                 "DOWN%+CLOUD",
                                                 "UNKNOWN",
                                                 ""};
    static const std::vector<std::string> reasons{
        "", "", "burst:X y", "admin", "ResumeTimeout reached", "Not responding", "node_stuck"};
    SlurmNode& node = nodes.emplace_back();
    node.name = group.node(id);
    node.address = pick(0, 1) == 0 ? node.name : "10.0.0." + std::to_string(pick(1, 5));
    node.reason = reasons[static_cast<std::size_t>(pick(0, static_cast<int>(reasons.size()) - 1))];
    const auto& state = states[static_cast<std::size_t>(pick(0, static_cast<int>(states.size()) - 1))];
    if (!state.empty()) {
      node.state = parse_node_state(state);
      return;
    }
    node.state.base = static_cast<NodeBase>(pick(0, 5));
    for (int flags = pick(0, 5); flags > 0; --flags) node.state.set(static_cast<NodeFlag>(pick(0, 21)));
  }

  void add_machine() {
    Machine& machine = machines.emplace_back();
    machine.id = "i-" + std::to_string(machines.size());
    if (pick(0, 5) != 0) machine.node = group.node(pick(0, 16));
    machine.state = static_cast<MachineState>(pick(0, 4));
    if (pick(0, 2) == 0) machine.job = 7;
    if (pick(0, 2) == 0) machine.expires = now + seconds(pick(-300, 3000));
    if (pick(0, 2) == 0) machine.register_by = now + seconds(pick(-60, 600));
    if (machine.state == MachineState::failed) give_up(machine);
    if (pick(0, 2) != 0) machine.address = "10.0.0." + std::to_string(pick(1, 5));
    machine.created = pick(0, 9) == 0 ? sys_seconds() : now - seconds(pick(-10, 300));
    machine.launch = pick(0, 3) == 0 ? "alive" : "dead";
  }

  void give_up(Machine& machine) {
    machine.state = MachineState::failed;
    if (pick(0, 4) != 0)
      machine.failure = MachineFailure{static_cast<Outcome>(pick(2, 4)), pick(0, 1) == 0 ? "CODE" : "", "said\nso"};
  }

  void come_or_fail(Machine& machine) {
    if (pick(0, 2) == 0) return give_up(machine);
    machine.state = MachineState::running;
    machine.address = "10.0.0." + std::to_string(pick(1, 5));
    machine.register_by = now + seconds(300);
  }

  static void clear(SlurmNode& node, std::initializer_list<NodeFlag> flags) {
    for (const auto flag : flags) node.state.flags &= ~(1U << static_cast<unsigned>(flag));
  }

  static void change(SlurmNode& node, const Action& action) {
    if (!action.reason.empty()) node.reason = action.reason;
    switch (action.change) {
      case StateChange::down:
        node.state.base = NodeBase::down;
        break;
      case StateChange::idle:
        if (node.state.has(invalid_reg)) break;  // Slurm refuses
        node.state.base = NodeBase::idle;
        clear(node, {drain, fail});
        node.reason.clear();
        break;
      case StateChange::resume:
        clear(node, {powering_down});
        node.state.set(powered_down);
        node.reason.clear();
        break;
      case StateChange::power_up:
        clear(node, {powered_down});
        node.state.set(powering_up);
        node.state.set(not_responding);
        break;
      default:
        clear(node, {powering_up, power_up, power_down, invalid_reg, completing});
        node.state.set(powering_down);
        if (node.state.base != NodeBase::down) node.state.base = NodeBase::idle;
        break;
    }
  }

  std::mt19937 random_;
};

/// A job is there, or on its way there.
bool is_wanted(const SlurmNode& node) {
  const bool busy = node.state.base == NodeBase::allocated || node.state.base == NodeBase::mixed;
  return busy && !node.state.has(powering_down);
}

/// Of what ends: nothing that runs for a wanted node, but a double; everything that has failed.
void check_ends(const World& world, const std::set<std::string>& ended) {
  for (const auto& machine : world.machines) {
    if (machine.state == MachineState::failed) {
      EXPECT_TRUE(ended.contains(machine.id)) << machine.id;
    }
    if (machine.state != MachineState::running || !machine.node || !ended.contains(machine.id)) continue;
    const auto node = std::ranges::find(world.nodes, *machine.node, &SlurmNode::name);
    if (node == world.nodes.end() || !is_wanted(*node)) continue;
    EXPECT_TRUE(std::ranges::any_of(world.machines,
                                    [&](const Machine& other) {  // the one at NodeAddr may just start
                                      const bool is_up =
                                          other.state == MachineState::running || other.state == MachineState::starting;
                                      return other.node == machine.node && is_up && !ended.contains(other.id);
                                    }))
        << machine.id << " ran for " << *machine.node << " " << to_string(node->state);
  }
}

bool is_foreign(const std::string& reason) { return reason == "admin"; }

void check(const World& world, const std::vector<Action>& actions) {
  std::map<NodeName, const Action*> changed;
  std::set<std::string> ended;
  for (const auto& action : actions) {
    const auto found = std::ranges::find(world.nodes, action.node, &SlurmNode::name);
    const SlurmNode* node = found == world.nodes.end() ? nullptr : &*found;
    if (action.kind == ActionKind::end_machine) {
      EXPECT_TRUE(ended.insert(action.machine_id).second) << "ended twice: " << action.machine_id;
      const auto machine = std::ranges::find(world.machines, action.machine_id, &Machine::id);
      ASSERT_NE(machine, world.machines.end());
      EXPECT_NE(machine->state, MachineState::stopping);
      EXPECT_EQ(action.node, machine->node.value_or(""));
      continue;
    }
    if (action.kind == ActionKind::warn || action.kind == ActionKind::alarm) continue;
    ASSERT_NE(node, nullptr) << action.row << " for a node that Slurm did not show";
    EXPECT_TRUE(changed.emplace(action.node, &action).second) << "two changes of " << action.node;
    const std::string state = to_string(node->state);
    if (action.kind == ActionKind::set_address) {
      EXPECT_FALSE(action.address.empty());
      const auto machine = std::ranges::find(world.machines, action.machine_id, &Machine::id);
      ASSERT_NE(machine, world.machines.end());
      EXPECT_TRUE(machine->state == MachineState::running || machine->state == MachineState::starting);
      EXPECT_NE(action.address, node->address);
      continue;
    }
    if (action.kind != ActionKind::set_state) continue;
    EXPECT_NE(node->state.base, NodeBase::unknown) << state;
    EXPECT_FALSE(node->state.has(maintenance) || node->state.has(reboot_issued)) << action.row << " " << state;
    EXPECT_EQ(action.reason.find('\n'), std::string::npos);
    if (action.change == StateChange::power_down || action.change == StateChange::power_down_force) {
      EXPECT_FALSE(node->state.has(powered_down) || node->state.has(powering_down)) << action.row << " " << state;
    }
    if (action.change == StateChange::down || action.change == StateChange::idle) {
      EXPECT_FALSE(node->state.has(powering_up)) << action.row << " " << state;
    }
    if (action.change == StateChange::idle) {
      EXPECT_FALSE(node->state.has(drain) && is_foreign(node->reason)) << action.row << " " << state;
      for (const auto& machine : world.machines) EXPECT_NE(machine.node, action.node) << action.row << " " << state;
    }
    if (node->state.base == NodeBase::down) {
      EXPECT_FALSE(is_foreign(node->reason)) << action.row << " " << state;
    }
    if (!action.reason.empty()) {
      EXPECT_TRUE(action.reason.starts_with("burst:") || action.reason == "node_stuck") << action.reason;
    }
  }
  check_ends(world, ended);
  for (const auto& [name, action] :
       changed) {  // a node that is made to start, or found alive, loses no machine but doubles
    if (action->kind != ActionKind::set_state || action->change != StateChange::power_up) continue;
    for (const auto& other : actions) EXPECT_FALSE(other.kind == ActionKind::end_machine && other.node == name);
  }
}

TEST(ReconcileProperty, HoldsForAnyView) {
  std::cout << "seed " << kSeed << "\n";
  for (unsigned round = 0; round < 3000 && !testing::Test::HasFailure(); ++round) {
    World world(kSeed + round);
    SCOPED_TRACE("round " + std::to_string(round));
    for (int i = 0; i < 4; ++i) {
      const World seen = world;
      check(seen, world.pass().actions);
    }
  }
}

TEST(ReconcileProperty, ComesToRestWhenItIsObeyed) {
  std::cout << "seed " << kSeed << "\n";
  for (unsigned round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    World world(kSeed + round);
    world.group.min_nodes = 0;  // static nodes are powered up for ever where no cloud answers
    SCOPED_TRACE("round " + std::to_string(round));
    std::vector<Action> last;
    for (int i = 0; i < 300; ++i) {
      if (i < 60) world.move_on();
      const World seen = world;
      last = world.pass().actions;
      check(seen, last);
      world.obey(last);
    }
    EXPECT_TRUE(std::ranges::none_of(world.machines,
                                     [](const Machine& machine) { return machine.state == MachineState::failed; }));
    // What goes on for ever: warnings, comments, and N0, which Slurm's flag outlives.
    std::erase_if(last, [](const Action& action) {
      return action.kind == ActionKind::warn || action.kind == ActionKind::comment_jobs || action.row == "N0";
    });
    EXPECT_TRUE(last.empty()) << last.front().row << " " << last.front().node << " "
                              << to_string(std::ranges::find(world.nodes, last.front().node, &SlurmNode::name)->state);
  }
}

TEST(ReconcileProperty, ReservesEachExpiringNodeOnce) {
  std::cout << "seed " << kSeed << "\n";
  for (unsigned round = 0; round < 1000 && !testing::Test::HasFailure(); ++round) {
    World world(kSeed + round);
    SCOPED_TRACE("round " + std::to_string(round));
    std::vector<SlurmReservation> existing{{"burst-expiry-p-g-0-0", {"p-g-0"}, world.now, world.now},
                                           {"someone's", {"p-g-0"}, world.now, world.now}};
    for (int i = 0; i < 10; ++i) {
      const GroupView view{world.group, world.nodes, world.machines, world.launches};
      for (const auto& action : plan_expiry_reservations(view, existing, world.now)) {
        ASSERT_TRUE(action.reservation.name.starts_with("burst-expiry-p-g-"));
        std::erase_if(existing, [&](const auto& one) { return one.name == action.reservation.name; });
        if (action.kind == ActionKind::reserve) existing.push_back(action.reservation);
      }
      EXPECT_TRUE(plan_expiry_reservations(view, existing, world.now).empty()) << "nothing is left to do";
      std::set<NodeName> reserved;
      for (const auto& one : existing) {
        if (one.name == "someone's") continue;
        for (const auto& name : one.nodes) EXPECT_TRUE(reserved.insert(name).second) << name;
      }
      world.now += seconds(60);
      world.move_on();
    }
  }
}

}  // namespace
}  // namespace burst
