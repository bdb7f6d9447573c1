// SPDX-License-Identifier: Apache-2.0
// What launches under way have assigned, kept in StateDir so that nothing is lost when a program is killed.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "burst/node_name.h"

namespace burst {

/// Machine id -> node, for machines that do not bear their node's name yet.
using Assignments = std::map<std::string, NodeName>;

/// A launch that this process runs. While the object lives, the launch counts as running for every process that shares
/// StateDir (a lock that the kernel drops when the process dies).
class LaunchRecord {
 public:
  virtual ~LaunchRecord() = default;
  virtual const std::string& id() const = 0;
  /// Adds assignments durably: they are on disk when it returns; a machine's last one counts. Throws
  /// Error{"StateDirError"}.
  virtual void assign(const Assignments& assignments) = 0;
  /// The launch is over and every machine bears its name: the record goes. Without it the record stays for
  /// change_state.
  virtual void finished() = 0;
};

/// Losing the journal loses no machine: it shortens the time until an unnamed one is known again.
class LaunchJournal {
 public:
  virtual ~LaunchJournal() = default;
  /// Opens the record of a new launch before its first request is sent. Throws Error{"StateDirError"}: nothing may be
  /// started that can't be recorded.
  virtual std::unique_ptr<LaunchRecord> begin(const std::string& group_key, const std::string& launch_id) = 0;
  /// What the group's launches, running or dead, have assigned.
  virtual Assignments assignments(const std::string& group_key) const = 0;
  virtual bool running(const std::string& group_key, const std::string& launch_id) const = 0;
  /// Drops the records of dead launches whose machines are all named or gone.
  virtual void forget_dead(const std::string& group_key, std::span<const std::string> unnamed_machines) = 0;
};

}  // namespace burst
