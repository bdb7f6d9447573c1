// SPDX-License-Identifier: Apache-2.0
// SuspendProgram and ResumeFailProgram: ends the machines of a hostlist.
#include "programs/suspend.h"

#include <atomic>
#include <unordered_set>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/hostlist.h"

namespace burst {
namespace {

/// A resume of the same group holds the lock while it waits for the provider's answer.
constexpr std::chrono::seconds kLockWait{60};

bool report(const NodeOutcome& outcome, Log& log) {
  if (outcome.outcome == Outcome::ready) {
    if (outcome.machine.id.empty()) {
      log.info(fmt::format("Node {} has no machine", outcome.node));
    } else {
      log.info(fmt::format("Terminated instance {} {}", outcome.node, outcome.machine.id));
    }
    return true;
  }
  if (outcome.outcome == Outcome::pending) {
    log.info(fmt::format("Instance {} {} ends as soon as it can{}{}", outcome.node, outcome.machine.id,
                         outcome.message.empty() ? "" : ": ", outcome.message));
    return true;
  }
  log.error(fmt::format("Failed to terminate instance {} {} - {}: {}", outcome.node, outcome.machine.id, outcome.code,
                        outcome.message));
  return false;
}

void print_plan(const GroupNodes& part, Provider& provider, std::ostream& out) {
  const std::unordered_set<std::string_view> wanted(part.nodes.begin(), part.nodes.end());
  std::unordered_set<std::string> with_machine;
  for (const auto& machine : provider.list()) {
    if (!machine.node || !wanted.contains(*machine.node)) continue;
    with_machine.insert(*machine.node);
    out << fmt::format("{}: would end {}{}\n", *machine.node, machine.id,
                       machine.state == MachineState::stopping ? " (is ending already)" : "");
  }
  for (const auto& node : part.nodes) {
    if (!with_machine.contains(node)) out << fmt::format("{}: has no machine\n", node);
  }
}

/// Without the lock the machines that are known are ended all the same: a leaked machine costs more than a race that
/// change_state mends.
std::unique_ptr<StateLock> try_group_lock(const NodeGroup& group, Suite& suite) {
  try {
    auto lock = suite.state.lock_group(group.key(), kLockWait);
    if (!lock) {
      suite.services.log.warning(
          fmt::format("{}: another program works on this node group since {} s; going on without its lock", group.key(),
                      kLockWait.count()));
    }
    return lock;
  } catch (const Error& error) {
    suite.services.log.error(fmt::format("{}: {}; going on without the lock", group.key(), error.what()));
    return nullptr;
  }
}

bool suspend_group(const GroupNodes& part, Suite& suite) {
  bool all_done = true;
  const auto fault = fault_of(*part.group, suite.services.log, [&] {
    const auto provider = suite.provider(*part.group);
    const auto lock = try_group_lock(*part.group, suite);
    for (const auto& outcome : provider->stop(part.nodes)) all_done = report(outcome, suite.services.log) && all_done;
  });
  return !fault && all_done;
}

}  // namespace

int suspend(const std::string& hostlist, bool dry_run, Suite& suite) {
  Log& log = suite.services.log;
  log.info("Hostlist: " + hostlist);
  const GroupedNodes grouped = group_nodes(expand_hostlist(hostlist), suite.config, log);
  std::atomic<bool> all_done{grouped.complete};
  if (dry_run) {
    for (const auto& part : grouped.groups) {
      if (fault_of(*part.group, log, [&] { print_plan(part, *suite.provider(*part.group), suite.out); }))
        all_done = false;
    }
    return all_done ? kDone : kFailed;
  }
  run_side_by_side(grouped.groups.size(), [&](std::size_t i) {
    if (!suspend_group(grouped.groups[i], suite)) all_done = false;
  });
  return all_done ? kDone : kFailed;
}

}  // namespace burst
