// SPDX-License-Identifier: Apache-2.0
// StateDir: locks between our programs, and what is remembered of a node group.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace burst {

/// Held while the object lives; the kernel drops it when the process dies, on whatever host of a shared StateDir.
class StateLock {
 public:
  virtual ~StateLock() = default;
};

/// Losing StateDir loses no machine; a StateDir that can't be written stops launches, because nothing may be started
/// that can't be recorded. Failures throw Error{"StateDirError"} naming the path. Safe to call from several threads.
class StateStore {
 public:
  virtual ~StateStore() = default;
  /// resume, suspend and change_state of one group exclude one another. Waits up to `wait`; null when it is still held.
  virtual std::unique_ptr<StateLock> lock_group(const std::string& group_key, std::chrono::milliseconds wait) = 0;
  /// One change_state at a time; null when another runs.
  virtual std::unique_ptr<StateLock> lock_change_state() = 0;
  /// The group's memory (JSON text); empty when there is none. Call with the group's lock held.
  virtual std::string read_memory(const std::string& group_key) const = 0;
  virtual void write_memory(const std::string& group_key, std::string_view text) = 0;
};

}  // namespace burst
