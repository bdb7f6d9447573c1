// SPDX-License-Identifier: Apache-2.0
// The reconciler: compares Slurm with the cloud and mends what differs.
#include "programs/change_state.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "burst/error.h"
#include "core/expiry_reservations.h"
#include "core/group_timeouts.h"

namespace burst {
namespace {

/// A resume holds the lock for some seconds; a group that stays busy has its turn in the next pass.
constexpr std::chrono::seconds kLockWait{3};

/// One group in this pass.
struct GroupPass {
  const NodeGroup* group = nullptr;
  std::unique_ptr<StateLock> lock;
  std::unique_ptr<Provider> provider;
  std::optional<std::vector<Machine>> machines;  ///< nothing: not read, nothing is decided
  std::vector<SlurmNode> nodes;
};

Policy make_policy(const NodeGroup& group, const Suite& suite) {
  const GroupTimeouts timeouts = group_timeouts(suite.config, group, suite.slurm_conf);
  return {suite.config.timing, timeouts.suspend, timeouts.resume, suite.slurm_conf.kill_wait,
          suite.slurm_conf.unkillable_step_timeout};
}

/// Does it for each group, side by side; false when one failed.
bool for_each_group(std::vector<GroupPass>& passes, const std::function<bool(GroupPass&)>& work) {
  std::atomic<bool> complete{true};
  run_side_by_side(passes.size(), [&](std::size_t i) {
    if (!work(passes[i])) complete = false;
  });
  return complete;
}

/// False for a fault; a busy group is none.
bool lock_group(GroupPass& pass, Suite& suite) {
  const std::string key = pass.group->key();
  return !fault_of(*pass.group, suite.services.log, [&] {
    pass.lock = suite.state.lock_group(key, kLockWait);
    if (!pass.lock) suite.services.log.info(fmt::format("{}: busy, left for the next pass", key));
  });
}

/// False when the group has to be left alone for a fault.
bool list_machines(GroupPass& pass, Suite& suite) {
  const auto fault = fault_of(*pass.group, suite.services.log, [&] {
    pass.provider = suite.provider(*pass.group);
    pass.machines = pass.provider->list();
  });
  if (fault) pass.lock.reset();
  return !fault;
}

/// Slurm's nodes, to the passes of their groups; nothing when Slurm can't be read.
bool read_nodes(std::vector<GroupPass>& passes, Suite& suite) {
  std::unordered_map<const NodeGroup*, GroupPass*> by_group;
  for (auto& pass : passes) by_group.emplace(pass.group, &pass);
  try {
    for (auto& node : suite.slurm.nodes()) {
      const auto found = by_group.find(suite.config.find_group(node.name));
      if (found != by_group.end()) found->second->nodes.push_back(std::move(node));
    }
    return true;
  } catch (const Error& error) {
    suite.services.log.error(fmt::format("reading nodes from Slurm: {}; nothing is decided", error.what()));
    return false;
  }
}

/// What Slurm reserves for us; read only where a group wants it.
struct Reservations {
  bool complete = true;
  std::optional<std::vector<SlurmReservation>> found;
};

Reservations read_reservations(std::span<const GroupPass> passes, Suite& suite) {
  Reservations reservations;
  if (std::ranges::none_of(passes, [](const GroupPass& pass) { return pass.group->reserve_before_expiry; }))
    return reservations;
  try {
    reservations.found = suite.slurm.reservations(kExpiryPrefix);
  } catch (const Error& error) {
    suite.services.log.error(fmt::format("reading reservations from Slurm: {}; none is changed", error.what()));
    reservations.complete = false;
  }
  return reservations;
}

GroupView make_view(const GroupPass& pass, const LaunchJournal& journal) {
  GroupView view{*pass.group, pass.nodes, *pass.machines, {}};
  for (const auto& machine : *pass.machines) {
    if (!machine.node && !machine.launch.empty() && journal.running(pass.group->key(), machine.launch))
      view.running_launches.insert(machine.launch);
  }
  return view;
}

/// The tables of reconcile.h, and the reservations of a group that wants them.
Decision decide_group(GroupPass& pass, const Reservations& reservations, const GroupMemory& memory, Suite& suite) {
  const auto now = std::chrono::floor<std::chrono::seconds>(suite.services.clock.now());
  const bool reserves = pass.group->reserve_before_expiry && reservations.found;
  if (reserves) ignore_our_maintenance(pass.nodes, *reservations.found, now);
  const GroupView view = make_view(pass, suite.journal);
  Decision decision = decide(view, make_policy(*pass.group, suite), now, memory);
  if (reserves) {
    auto planned = plan_expiry_reservations(view, *reservations.found, now);
    std::ranges::move(planned, std::back_inserter(decision.actions));
  }
  return decision;
}

bool mend_group(GroupPass& pass, const Reservations& reservations, bool dry_run, Suite& suite) {
  bool complete = true;
  const auto fault = fault_of(*pass.group, suite.services.log, [&] {
    const std::string key = pass.group->key();
    const GroupMemory memory = parse_group_memory(suite.state.read_memory(key));
    const Decision decision = decide_group(pass, reservations, memory, suite);
    if (dry_run) {
      for (const auto& action : decision.actions) suite.out << describe_action(action) << "\n";
      return;
    }
    // Before the actions: after a kill between the two, a cool-down that is known twice does no harm, one that is not
    // known would.
    if (decision.memory != memory) suite.state.write_memory(key, to_json(decision.memory));
    complete = apply_actions(decision.actions, *pass.provider, suite).complete;
  });
  pass.lock.reset();
  return !fault && complete;
}

/// Finishes what dead launches left unnamed. It may take minutes: without any group's lock.
bool name_machines(GroupPass& pass, Suite& suite) {
  return !pass.machines || finish_naming(*pass.group, *pass.provider, suite.services.log);
}

}  // namespace

int change_state(bool dry_run, Suite& suite) {
  std::unique_ptr<StateLock> only_one;
  if (!dry_run) {
    only_one = suite.state.lock_change_state();
    if (!only_one) {
      suite.services.log.info("another change_state runs: nothing to do");
      return kDone;
    }
  }
  std::vector<GroupPass> passes;
  for (const NodeGroup* group : suite.config.groups()) passes.emplace_back().group = group;

  // Once the locks are held none of our programs starts or ends a machine, so Slurm and the clouds can be read side by
  // side: what changes between the two reads is their own doing, and the graces of the tables outlast that second.
  bool complete = true;
  if (!dry_run) {
    complete = for_each_group(passes, [&](GroupPass& pass) { return lock_group(pass, suite); });
    std::erase_if(passes, [](const GroupPass& pass) { return !pass.lock; });
  }
  Reservations reservations;
  bool slurm_read = false;
  bool clouds_read = false;
  run_side_by_side(2, [&](std::size_t i) {
    if (i == 0) {
      slurm_read = read_nodes(passes, suite);
      if (slurm_read) reservations = read_reservations(passes, suite);
    } else {
      clouds_read = for_each_group(passes, [&](GroupPass& pass) { return list_machines(pass, suite); });
    }
  });
  if (!slurm_read) return kFailed;
  complete = complete && clouds_read && reservations.complete;
  for (auto& pass : passes) {
    if (pass.machines && !mend_group(pass, reservations, dry_run, suite)) complete = false;
  }
  if (!dry_run)
    complete = for_each_group(passes, [&](GroupPass& pass) { return name_machines(pass, suite); }) && complete;
  return complete ? kDone : kFailed;
}

}  // namespace burst
