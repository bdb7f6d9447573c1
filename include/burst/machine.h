// SPDX-License-Identifier: Apache-2.0
// A machine of a provider, and what became of a node that was to get one.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "burst/node_name.h"

namespace burst {

using JobId = std::uint32_t;

/// ready: a machine with an address; pending: it comes later, change_state follows it; the others: refused.
enum class Outcome { ready, pending, no_capacity, over_quota, rejected };

/// queued: asked for, and the provider brings it when it can; failed: the provider has given up on it, or stopped it
/// for good: nothing runs, but what is left of it (a request, a disk) is to be ended.
enum class MachineState { queued, starting, running, stopping, failed };

/// Why a machine failed.
struct MachineFailure {
  Outcome outcome = Outcome::rejected;  ///< no_capacity, over_quota or rejected
  std::string code;                     ///< the vendor's: `ZONE_RESOURCE_POOL_EXHAUSTED`
  std::string message;                  ///< one line
  bool operator==(const MachineFailure&) const = default;
};

/// An EC2 instance, a GCE VM, a pod: whatever runs one slurmd.
struct Machine {
  std::string id;                ///< the provider's: `i-0123...`
  std::optional<NodeName> node;  ///< nothing: it was launched and not named yet
  std::string address;           ///< what goes into NodeAddr; empty: not known yet
  std::string hostname;          ///< what goes into NodeHostName
  std::string type, zone;
  std::string launch;  ///< the id of the launch that made it; empty when the provider does not say
  MachineState state = MachineState::starting;
  std::chrono::sys_seconds created{};
  std::optional<std::chrono::sys_seconds> expires;  ///< when the provider will end it
  std::string detail;                               ///< the provider's last word on why it waits; may be empty
  std::optional<JobId> job;                         ///< the job that it was asked for, where the provider knows
  /// By then its slurmd has registered, or never will: set where it waited in a queue first, so that Slurm's
  /// ResumeTimeout, which covers the queue, is no measure.
  std::optional<std::chrono::sys_seconds> register_by;
  std::optional<MachineFailure> failure;  ///< of a failed one
};

struct NodeOutcome {
  NodeName node;
  Outcome outcome = Outcome::ready;
  Machine machine;       ///< for ready and pending
  std::string code;      ///< the vendor's code, for the others: `InsufficientInstanceCapacity`
  std::string message;   ///< one line, with the vendor's request id
  bool adopted = false;  ///< it had a machine already, none was started
};

/// One request for machines: all for one node group.
struct Launch {
  std::vector<NodeName> nodes;
  std::optional<JobId> job;
  std::optional<std::chrono::seconds> job_time_limit;  ///< of `job`; nothing: unlimited, or not asked for
  bool all_or_nothing = false;                         ///< where not every node can have a machine, none is kept
};

}  // namespace burst
