// SPDX-License-Identifier: Apache-2.0
// The contract that every cloud fulfils, one object a node group.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "burst/config.h"
#include "burst/launch_journal.h"
#include "burst/machine.h"
#include "burst/services.h"

namespace burst {

/// Takes nodes whose machines have addresses, while the provider still works on (naming machines, other launches).
using StartedSink = std::function<void(std::span<const NodeOutcome>)>;

/// How a provider wants its launches cut.
struct LaunchNeeds {
  bool by_job = false;          ///< a launch a job, whatever LaunchStrategy says: one job must not wait for another's
  bool job_time_limit = false;  ///< Launch::job_time_limit is to be filled in
  /// start() gives what an all-or-nothing launch gives up to the launches that it makes whole: its machines bear no
  /// names. Where it can't, those launches are worth a second try.
  bool hands_over = false;
};

/// The machines of one node group. Idempotent by node name. A refused node is a value; only a call that failed as a
/// whole (credentials, network, configuration) throws Error, and then no machine was started that is not in list().
/// Not for use by two threads at once; the caller holds the group's lock where a function says so.
class Provider {
 public:
  virtual ~Provider() = default;

  /// Sends no request.
  virtual LaunchNeeds launch_needs() const { return {}; }

  /// Before start(), with the group's lock held: makes these launches known to every process that shares StateDir. From
  /// then on list() shows a machine for each of their nodes, as long as this process lives and start() has not ended,
  /// and start() needs the lock no more. False: it needs it. Throws Error{"StateDirError"}.
  virtual bool claim(std::span<const Launch> launches) {
    static_cast<void>(launches);
    return false;
  }

  /// Starts a machine for each node; the caller knows that none of them has one (list()). One outcome a node, in any
  /// order. `started` gets each ready node once, as soon as its address is known. Needs the group's lock until it
  /// returns, unless claim() said otherwise; what must be done without the lock waits for finish().
  virtual std::vector<NodeOutcome> start(std::span<const Launch> launches, const StartedSink& started) = 0;

  /// Work of start() that may take long and needs no lock (EC2: the per-node tags, 10 a second). Returns the nodes
  /// for which it failed, as outcomes; their machines live and list() still knows them.
  virtual std::vector<NodeOutcome> finish() { return {}; }

  /// Ends the machines of these nodes, however many each has. A node without one is `ready` (done). The outcomes of
  /// the others say why they could not be ended. Needs the group's lock.
  virtual std::vector<NodeOutcome> stop(std::span<const NodeName> nodes) = 0;

  /// Ends machines by id: orphans and doubles. As stop(); the outcomes carry machine.id.
  virtual std::vector<NodeOutcome> stop_machines(std::span<const Machine> machines) = 0;

  /// Every machine of this cluster and group that is not gone: named or not, `stopping`, `queued` and `failed` ones
  /// too. A request that holds no machine at all (its launch died) is a queued machine without a node.
  virtual std::vector<Machine> list() = 0;
};

/// What providers are made from. All references outlive the family and its providers.
struct ProviderContext {
  const Config& config;
  std::string cluster;  ///< Slurm's ClusterName or the configuration's
  Services services;
  LaunchJournal& journal;
};

/// Makes the providers of one kind of cloud and holds what they share: credentials of a profile, tokens.
class ProviderFamily {
 public:
  virtual ~ProviderFamily() = default;
  /// The group outlives the provider; so does the family. Safe to call from one thread at a time; the providers that
  /// it made may be used side by side. Sends no request.
  virtual std::unique_ptr<Provider> provider(const NodeGroup& group) = 0;
};

/// What a provider knows of a group's nodes before there is any.
struct GroupFacts {
  SlurmOptions slurm_specifications;    ///< options that the group's SlurmSpecifications do not give
  std::vector<ConfigProblem> problems;  ///< of what its keys name; the messages do not name the group
};

/// One row of the registry.
struct ProviderEntry {
  ProviderKeys keys;
  std::unique_ptr<ProviderFamily> (*make)(const ProviderContext&) = nullptr;
  /// For generate_conf; null: nothing is known. Sends no request and throws nothing: what can't be read is a problem.
  GroupFacts (*facts)(const NodeGroup& group, const Config& config, const Files& files) = nullptr;
};

/// All providers that this build knows; src/providers/registry.cpp is the one place that names them.
std::span<const ProviderEntry> provider_registry();

}  // namespace burst
