// SPDX-License-Identifier: Apache-2.0
// The reconciler: compares Slurm with the cloud and mends what differs.
#include "programs/change_state.h"

#include <atomic>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "burst/error.h"

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

Policy make_policy(const Suite& suite) {
  return {suite.config.timing, suite.slurm_conf.suspend_timeout, suite.slurm_conf.resume_timeout,
          suite.slurm_conf.kill_wait, suite.slurm_conf.unkillable_step_timeout};
}

/// False when the group has to be left alone for a fault; a busy group is none.
bool read_group(GroupPass& pass, bool dry_run, Suite& suite) {
  return !fault_of(*pass.group, suite.services.log, [&] {
    if (!dry_run) {
      pass.lock = suite.state.lock_group(pass.group->key(), kLockWait);
      if (!pass.lock) {
        suite.services.log.info(fmt::format("{}: busy, left for the next pass", pass.group->key()));
        return;
      }
    }
    pass.provider = suite.provider(*pass.group);
    pass.machines = pass.provider->list();
  });
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

GroupView make_view(const GroupPass& pass, const LaunchJournal& journal) {
  GroupView view{*pass.group, pass.nodes, *pass.machines, {}};
  for (const auto& machine : *pass.machines) {
    if (!machine.node && !machine.launch.empty() && journal.running(pass.group->key(), machine.launch))
      view.running_launches.insert(machine.launch);
  }
  return view;
}

bool mend_group(GroupPass& pass, bool dry_run, Suite& suite) {
  bool complete = true;
  const auto fault = fault_of(*pass.group, suite.services.log, [&] {
    const std::string key = pass.group->key();
    const GroupMemory memory = parse_group_memory(suite.state.read_memory(key));
    const auto now = std::chrono::floor<std::chrono::seconds>(suite.services.clock.now());
    const Decision decision = decide(make_view(pass, suite.journal), make_policy(suite), now, memory);
    if (dry_run) {
      for (const auto& action : decision.actions) suite.out << describe_action(action) << "\n";
      return;
    }
    // Before the actions: after a kill between the two, a cool-down that is known twice does no harm, one that is not
    // known would.
    if (decision.memory != memory) suite.state.write_memory(key, to_json(decision.memory));
    complete = apply_actions(decision.actions, *pass.provider, suite).complete;
    pass.lock.reset();
    for (const auto& failed : pass.provider->finish()) {
      suite.services.log.error(fmt::format("Failed to tag node {} {} - {}: {}", failed.node, failed.machine.id,
                                           failed.code, failed.message));
      complete = false;
    }
  });
  return !fault && complete;
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

  std::atomic<bool> complete{true};
  bool slurm_read = false;
  run_side_by_side(passes.size() + 1, [&](std::size_t i) {
    if (i == 0) {
      slurm_read = read_nodes(passes, suite);
    } else if (!read_group(passes[i - 1], dry_run, suite)) {
      complete = false;
    }
  });
  if (!slurm_read) return kFailed;

  for (auto& pass : passes) {
    if (pass.machines && !mend_group(pass, dry_run, suite)) complete = false;
  }
  return complete ? kDone : kFailed;
}

}  // namespace burst
