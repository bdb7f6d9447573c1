// SPDX-License-Identifier: Apache-2.0
// StateDir on disk: lock files, one memory file a group, the journal of launches.
#pragma once

#include "burst/clock.h"
#include "burst/files.h"
#include "burst/launch_journal.h"
#include "burst/state_store.h"

namespace burst {

/// Layout: locks/GROUP.lock, locks/change_state.lock, groups/GROUP.json, launches/GROUP/LAUNCH (held with flock while
/// the launch runs; one `MACHINE NODE` line an assignment). Folders are made on first use. flock works on local disks
/// and, on Linux, on NFS.
class StateDir : public StateStore, public LaunchJournal {
 public:
  StateDir(std::string path, Files& files, Clock& clock);

  std::unique_ptr<StateLock> lock_group(const std::string& group_key, std::chrono::milliseconds wait) override;
  std::unique_ptr<StateLock> lock_change_state() override;
  std::string read_memory(const std::string& group_key) const override;
  void write_memory(const std::string& group_key, std::string_view text) override;

  std::unique_ptr<LaunchRecord> begin(const std::string& group_key, const std::string& launch_id) override;
  Assignments assignments(const std::string& group_key) const override;
  bool running(const std::string& group_key, const std::string& launch_id) const override;
  void forget_dead(const std::string& group_key, std::span<const std::string> unnamed_machines) override;

 private:
  std::string path_;
  Files& files_;
  Clock& clock_;

  std::string folder(const std::string& name) const;  ///< made if it is not there
  std::string launches(const std::string& group_key) const;
};

}  // namespace burst
