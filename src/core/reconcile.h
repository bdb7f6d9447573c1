// SPDX-License-Identifier: Apache-2.0
// What change_state decides: one pure function over what Slurm and the cloud say.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "burst/config.h"
#include "burst/machine.h"
#include "burst/slurm.h"
#include "core/group_memory.h"

namespace burst {

/// Times that the decisions depend on.
struct Policy {
  Timing timing;
  std::chrono::seconds suspend_timeout{30}, resume_timeout{60}, kill_wait{30}, unkillable_step_timeout{60};
};

/// One node group as seen in this pass. Slurm and the cloud were read within a second or so.
struct GroupView {
  const NodeGroup& group;
  std::span<const SlurmNode> nodes;        ///< those of this group, ids beyond MaxNodes included
  std::span<const Machine> machines;       ///< Provider::list()
  std::set<std::string> running_launches;  ///< launch ids among the machines' that are still under way
};

enum class ActionKind {
  set_address,   ///< node, address, hostname
  set_state,     ///< node, change, reason
  end_machine,   ///< machine_id (and node, where it bears one)
  comment_jobs,  ///< node: its waiting jobs get `reason` as comment
  reserve,       ///< reservation
  unreserve,     ///< reservation, by its name
  warn,          ///< reason: a line for the log, nothing is changed
  alarm          ///< reason: a line at CRITICAL
};

struct Action {
  std::string row;  ///< of the table in docs: "N4", "M3", "C1" (cool-down)
  ActionKind kind = ActionKind::warn;
  NodeName node;
  std::string machine_id;
  std::string address, hostname;
  StateChange change = StateChange::idle;
  std::string reason;
  SlurmReservation reservation;
  bool operator==(const Action&) const = default;
};

struct Decision {
  std::vector<Action> actions;  ///< in the order of nodes, then machines
  GroupMemory memory;           ///< what to keep for the next pass
};

/// The tables of docs/reconcile.md: the first matching row wins for a node; machine rows apply to machines that no
/// node row used. Pure: same arguments, same decision.
Decision decide(const GroupView& view, const Policy& policy, std::chrono::sys_seconds now, const GroupMemory& memory);

/// The nodes that a running cool-down closes: powered down, idle, without a job or a wish to power up; and the reason.
/// decide() applies it each pass; resume at once when it has just been refused.
std::vector<Action> close_group(std::span<const SlurmNode> nodes, const GroupMemory& memory,
                                std::chrono::sys_seconds now);

}  // namespace burst
