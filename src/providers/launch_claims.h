// SPDX-License-Identifier: Apache-2.0
// Nodes whose launch is under way, known to all processes that share StateDir: so a launch needs no lock.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "burst/launch_journal.h"
#include "burst/log.h"
#include "burst/machine.h"
#include "burst/random.h"

namespace burst {

/// One running start() of some process.
struct Claim {
  std::string id;  ///< of its record in the journal
  std::chrono::sys_seconds since{};
  std::vector<NodeName> nodes;
};

/// The claims of one node group. A claim ends with its process, however that ends.
class LaunchClaims {
 public:
  LaunchClaims(LaunchJournal& journal, std::string group_key);

  /// Makes the nodes known, durably; records of dead processes go. With the group's lock held: then no claim is just
  /// being made by another. Throws Error{"StateDirError"}.
  void claim(std::span<const Launch> launches, std::chrono::sys_seconds now, Random& random);
  /// Ends what claim() has made, if it has made anything.
  void finish();

  /// Those that run, this process's own among them. To be read before the cloud is: what ends in between has its
  /// machines by then. Throws Error{"StateDirError"}.
  std::vector<Claim> running() const;
  /// To end machines by: without a journal those that are there can still be ended. The error goes to the log.
  std::vector<Claim> running_or_none(Log& log) const;

 private:
  LaunchJournal& journal_;
  std::string group_key_;
  std::unique_ptr<LaunchRecord> record_;
};

/// Whether an id is that of a machine that a claim stands for.
bool is_claim_id(const std::string& machine_id);

/// Of a machine that is to end and that a claim stands for.
NodeOutcome still_starting(const Machine& machine);

/// Adds, for each claimed node without a machine that lives or waits, one that is `starting`; and says of a request
/// that holds no machine yet (a queued machine without a node) which claim it belongs to, where that may be so.
void add_claimed_machines(const std::vector<Claim>& claims, std::vector<Machine>& machines);

}  // namespace burst
