// SPDX-License-Identifier: Apache-2.0
// The parts of reconcile.cpp: what a row of the tables sees, and the tables themselves.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "core/reconcile.h"

namespace burst::reconcile {

/// States that are mended only when they last: the `state` of a Sighting.
inline constexpr std::string_view kStartingWithoutMachine = "starting without machine";
inline constexpr std::string_view kUpWithoutMachine = "up without machine";
inline constexpr std::string_view kCompleting = "completing";
inline constexpr std::string_view kPoweringDown = "powering down";
inline constexpr std::string_view kOffNotResponding = "off, not responding";
inline constexpr std::string_view kQueuedWithoutJob = "queued without job";

/// One node and what is known of it.
struct NodeView {
  const SlurmNode* node = nullptr;
  const Machine* machine = nullptr;                   ///< the one to keep: queued, starting or running; null: none
  const Machine* stopping = nullptr;                  ///< one that is on its way out
  const Machine* failed = nullptr;                    ///< one that the provider has given up on
  const Sighting* before = nullptr;                   ///< what the last pass remembered
  const std::string* booting = nullptr;               ///< the machine with which the last pass saw it POWERING_UP
  const Sighting* sighting = nullptr;                 ///< of this pass
  const std::chrono::sys_seconds* expires = nullptr;  ///< of the machine that the last pass saw
  bool is_static = false, beyond_max_nodes = false;

  bool has(NodeFlag flag) const { return node->state.has(flag); }
  bool is(NodeBase base) const { return node->state.base == base; }
  bool no_machine() const { return machine == nullptr && stopping == nullptr && failed == nullptr; }
};

/// What all rows see.
struct Pass {
  const GroupView& view;
  const Policy& policy;
  std::chrono::sys_seconds now;
  GroupMemory memory;                ///< of the next pass
  bool launching = false;            ///< machines of a launch that still runs bear no node yet: any node may get one
  bool closed = false;               ///< a cool-down runs and no probe is out
  const SlurmNode* probe = nullptr;  ///< the node that this pass releases
  /// Nodes that wait until those that boot have shown whether their image is good.
  std::set<const SlurmNode*> held = {};
};

using Actions = std::vector<Action>;

/// A row of the node table. Without `act` it means that nothing is done.
struct NodeRow {
  std::string_view id;
  bool (*matches)(const Pass&, const NodeView&);
  void (*act)(const Pass&, const NodeView&, Action&);
  bool always = false;  ///< also for nodes that reboot or are in maintenance
};
std::span<const NodeRow> node_rows();

/// A row of the machine table; it adds its actions, and tells whether it matched. `node` is null when Slurm does not
/// know the machine's node, or it bears none.
struct MachineRow {
  std::string_view id;
  bool (*apply)(const Pass&, const Machine&, const NodeView* node, Actions&);
};
std::span<const MachineRow> machine_rows();

/// Base IDLE, ALLOCATED or MIXED.
bool is_up(const NodeView& node);
/// POWER_UP, POWER_DOWN, POWERED_DOWN, POWERING_UP or POWERING_DOWN.
bool has_power_flag(const NodeView& node);
/// Reboots, is in maintenance, or has no base state that we know: nothing but its address is our business.
bool is_left_alone(const SlurmNode& node);
/// The reason is ours (`burst:...`, or one of the Python plugin's two).
bool is_our_reason(std::string_view reason);
/// Nobody but us or Slurm's power saving gave a reason: rows with a plus may mend such a node.
bool may_mend(std::string_view reason);
/// The node has been in its remembered state for so many passes and so long.
bool lasts(const Pass& pass, const NodeView& node, std::string_view state, int passes, std::chrono::seconds time);

/// The node's last machine has reached its maximum run duration and is gone: no accident of a list.
bool has_expired(const Pass& pass, const NodeView& node);

/// Rows that are needed before their turn comes.
bool start_is_lost(const Pass& pass, const NodeView& node);           // N4
bool start_has_failed(const Pass& pass, const NodeView& node);        // N4, at once
bool waits_without_job(const NodeView& node);                         // N18, when it lasts
bool boots_too_long(const Pass& pass, const NodeView& node);          // N19
bool registered_with_errors(const Pass& pass, const NodeView& node);  // N10
bool is_closable(const SlurmNode& node);                              // C1
bool is_down_and_off(const NodeView& node);                           // N6, N7
std::string cool_down_reason(const GroupMemory& memory);

/// What became of queued machines: one that came is a success, one that the provider refused begins a cool-down.
void follow_queue(Pass& pass, std::span<const NodeView> nodes);
/// C2, C3, C4: counts starts that failed, begins and ends cool-downs, chooses the probe.
void follow_boots(Pass& pass, std::span<const NodeView> nodes, Actions& actions);
void advance_cool_down(Pass& pass, std::span<const NodeView> nodes, Actions& actions);
/// While starts fail, no more nodes come back than can fail before the limit is reached: the others are held.
void hold_back(Pass& pass, std::span<const NodeView> nodes);

}  // namespace burst::reconcile
