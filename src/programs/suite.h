// SPDX-License-Identifier: Apache-2.0
// What resume, suspend and change_state work with.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "burst/config.h"
#include "burst/provider.h"
#include "burst/services.h"
#include "burst/slurm.h"
#include "burst/state_store.h"
#include "core/reconcile.h"

namespace burst {

/// Put together by src/system; every reference outlives the program's run.
struct Suite {
  const Config& config;
  const SlurmConf& slurm_conf;
  Services services;
  Slurm& slurm;
  StateStore& state;
  LaunchJournal& journal;
  std::function<std::unique_ptr<Provider>(const NodeGroup&)> provider;  ///< safe to call from several threads
  std::ostream& out;                                                    ///< what --dry-run prints
};

/// Exit statuses of all four programs.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;         ///< part of the work failed, or the command line was not understood
inline constexpr int kNotConfigured = 2;  ///< the configuration can't be used: nothing was done

/// The nodes of one group that a program was called for.
struct GroupNodes {
  const NodeGroup* group = nullptr;
  std::vector<NodeName> nodes;  ///< in the order of the hostlist, each once
};

/// Nodes by group. Names that are of no group, beyond its MaxNodes or with a padded id (`aws-node-007`) get an error
/// line each and are left out.
struct GroupedNodes {
  std::vector<GroupNodes> groups;
  bool complete = true;  ///< no name was left out
};
GroupedNodes group_nodes(std::span<const NodeName> nodes, const Config& config, Log& log);

/// Runs `work` for each index below `count`, side by side on at most `threads` threads (in the caller's own for one).
/// `work` must not throw.
void run_side_by_side(std::size_t count, const std::function<void(std::size_t)>& work, std::size_t threads = 16);

struct Fault {
  std::string code, message;
};

/// Runs `work` and catches what it throws, for a caller that says itself what it means.
std::optional<Fault> fault_of(const std::function<void()>& work);
/// Runs `work` and catches what it throws: an error line that names the group, and the fault; the other groups go on.
std::optional<Fault> fault_of(const NodeGroup& group, Log& log, const std::function<void()>& work);

/// Provider::finish(), without any lock: false, and an error line each, for machines that could not be named.
bool finish_naming(const NodeGroup& group, Provider& provider, Log& log);

/// What applying actions came to.
struct Applied {
  bool complete = true;  ///< every action was carried out
};

/// Carries out decisions of reconcile.h, batched: one scontrol run for each distinct change, one provider call for all
/// machines. A failed one is logged and the others go on. Needs the group's lock.
Applied apply_actions(std::span<const Action> actions, Provider& provider, Suite& suite);

/// An action as a line for the log or --dry-run: `N4 aws-node-3: set to POWER_DOWN_FORCE, reason "burst:..."`.
std::string describe_action(const Action& action);

}  // namespace burst
