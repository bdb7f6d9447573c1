// SPDX-License-Identifier: Apache-2.0
// Carrying out what change_state decides, batched.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "burst/error.h"
#include "burst/hostlist.h"
#include "burst/text.h"
#include "programs/suite.h"

namespace burst {
namespace {

/// Shorter than what Slurm keeps of a comment, so that one which stands already is known again.
constexpr std::size_t kCommentLimit = 200;

/// Runs one batch; a failure is logged and remembered. False for a failure.
bool attempt(Applied& applied, Log& log, std::string_view doing, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    log.error(fmt::format("{}: {}", doing, error.what()));
    applied.complete = false;
    return false;
  }
}

void set_addresses(std::span<const Action> actions, Suite& suite, Applied& applied) {
  std::vector<NodeAddress> addresses;
  for (const auto& action : actions) {
    if (action.kind == ActionKind::set_address) addresses.push_back({action.node, action.address, action.hostname});
  }
  if (addresses.empty()) return;
  attempt(applied, suite.services.log, "Failed to update node addresses",
          [&] { suite.slurm.set_addresses(addresses); });
}

/// Returns the nodes for which it failed.
std::set<NodeName> set_states(std::span<const Action> actions, Suite& suite, Applied& applied) {
  std::set<NodeName> failed;
  std::map<std::pair<StateChange, std::string>, std::vector<NodeName>> changes;
  for (const auto& action : actions) {
    if (action.kind == ActionKind::set_state) changes[{action.change, action.reason}].push_back(action.node);
  }
  for (const auto& batch : changes) {
    const auto& nodes = batch.second;
    const StateChange change = batch.first.first;
    const std::string& reason = batch.first.second;
    const std::string doing = fmt::format("Failed to set nodes to state {}", to_string(change));
    const bool done = attempt(applied, suite.services.log, doing, [&] {
      suite.slurm.set_state(nodes, change, reason);
      for (const auto& node : nodes)
        suite.services.log.info(fmt::format("Set node {} to state {}", node, to_string(change)));
    });
    if (!done) failed.insert(nodes.begin(), nodes.end());
  }
  return failed;
}

/// False: it could not be ended.
bool report_end(const NodeOutcome& outcome, Log& log) {
  if (outcome.outcome == Outcome::ready) {
    log.info(fmt::format("Terminated instance {} {}", outcome.node, outcome.machine.id));
  } else if (outcome.outcome == Outcome::pending) {
    log.info(fmt::format("Instance {} {} ends as soon as it can{}{}", outcome.node, outcome.machine.id,
                         outcome.message.empty() ? "" : ": ", outcome.message));
  } else {
    log.error(fmt::format("Failed to terminate instance {} {} - {}: {}", outcome.node, outcome.machine.id, outcome.code,
                          outcome.message));
    return false;
  }
  return true;
}

/// A machine whose node could not be told stays for the next pass: what it died of is the node's reason (N4).
void end_machines(std::span<const Action> actions, const std::set<NodeName>& untold, Provider& provider, Suite& suite,
                  Applied& applied) {
  std::vector<Machine> machines;
  for (const auto& action : actions) {
    if (action.kind != ActionKind::end_machine || untold.find(action.node) != untold.end()) continue;
    Machine machine;
    machine.id = action.machine_id;
    if (!action.node.empty()) machine.node = action.node;
    machines.push_back(std::move(machine));
  }
  if (machines.empty()) return;
  Log& log = suite.services.log;
  attempt(applied, log, "Failed to terminate instances", [&] {
    for (const auto& outcome : provider.stop_machines(machines)) {
      if (!report_end(outcome, log)) applied.complete = false;
    }
  });
}

/// In the order of the actions: the new ones are there before the old ones go.
void change_reservations(std::span<const Action> actions, Suite& suite, Applied& applied) {
  for (const auto& action : actions) {
    const auto& reservation = action.reservation;
    if (action.kind == ActionKind::reserve) {
      attempt(applied, suite.services.log, "Failed to create reservation " + reservation.name,
              [&] { suite.slurm.create_reservation(reservation); });
    } else if (action.kind == ActionKind::unreserve) {
      attempt(applied, suite.services.log, "Failed to delete reservation " + reservation.name,
              [&] { suite.slurm.delete_reservation(reservation.name); });
    }
  }
}

bool is_waiting(const SlurmJob& job) { return job.state == "PENDING" || job.state == "CONFIGURING"; }

/// A job that ends meanwhile is no reason to leave out the others.
void comment_jobs(std::span<const Action> actions, Suite& suite, Applied& applied) {
  std::map<NodeName, std::string> comments;
  for (const auto& action : actions) {
    if (action.kind == ActionKind::comment_jobs) comments[action.node] = one_line(action.reason, kCommentLimit);
  }
  if (comments.empty()) return;
  Log& log = suite.services.log;
  std::vector<SlurmJob> jobs;
  attempt(applied, log, "Failed to read jobs for their comments", [&] { jobs = suite.slurm.jobs(); });
  for (const auto& job : jobs) {
    if (!is_waiting(job)) continue;
    const auto node = std::find_if(job.nodes.begin(), job.nodes.end(),
                                   [&](const NodeName& name) { return comments.find(name) != comments.end(); });
    if (node == job.nodes.end() || job.comment == comments[*node]) continue;
    const bool done = attempt(applied, log, fmt::format("Failed to set the comment of job {}", job.id),
                              [&] { suite.slurm.set_job_comment(job.id, comments[*node]); });
    if (done) log.info(fmt::format("Set comment of job {}: {}", job.id, comments[*node]));
  }
}

LogLevel level_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::warn:
      return LogLevel::warning;
    case ActionKind::alarm:
      return LogLevel::critical;
    case ActionKind::comment_jobs:  // the same each minute while a machine is queued
      return LogLevel::debug;
    default:
      return LogLevel::info;
  }
}

}  // namespace

Applied apply_actions(std::span<const Action> actions, Provider& provider, Suite& suite) {
  Applied applied;
  for (const auto& action : actions) suite.services.log.write(level_of(action.kind), describe_action(action));
  set_addresses(actions, suite, applied);
  const auto untold = set_states(actions, suite, applied);
  end_machines(actions, untold, provider, suite, applied);
  change_reservations(actions, suite, applied);
  comment_jobs(actions, suite, applied);
  return applied;
}

std::string describe_action(const Action& action) {
  const std::string reason = action.reason.empty() ? "" : fmt::format(", reason \"{}\"", action.reason);
  switch (action.kind) {
    case ActionKind::set_address:
      return fmt::format("{} {}: update NodeAddr to {}, NodeHostName to {}", action.row, action.node, action.address,
                         action.hostname);
    case ActionKind::set_state:
      return fmt::format("{} {}: set to {}{}", action.row, action.node, to_string(action.change), reason);
    case ActionKind::end_machine:
      return fmt::format("{} {}: end machine {}{}", action.row, action.node.empty() ? "(no node)" : action.node,
                         action.machine_id, reason);
    case ActionKind::comment_jobs:
      return fmt::format("{} {}: comment on its jobs: {}", action.row, action.node, action.reason);
    case ActionKind::reserve:
      return fmt::format("{} {}: create reservation {} from {:%FT%TZ}{}", action.row,
                         fold_hostlist(action.reservation.nodes), action.reservation.name, action.reservation.start,
                         reason);
    case ActionKind::unreserve:
      return fmt::format("{} {}: delete reservation {}{}", action.row, fold_hostlist(action.reservation.nodes),
                         action.reservation.name, reason);
    case ActionKind::warn:
    case ActionKind::alarm: {
      const bool has_both = !action.node.empty() && !action.machine_id.empty();
      const std::string about = fmt::format("{}{}{}", action.node, has_both ? " " : "", action.machine_id);
      return fmt::format("{} {}{}{}", action.row, about, about.empty() ? "" : ": ", action.reason);
    }
  }
  return action.row;
}

}  // namespace burst
