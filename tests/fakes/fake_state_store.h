// SPDX-License-Identifier: Apache-2.0
// StateDir in memory: locks that another program can hold, memories of groups, records of launches.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "burst/error.h"
#include "burst/launch_journal.h"
#include "burst/state_store.h"

namespace burst {

class FakeStateStore : public StateStore {
 public:
  std::map<std::string, std::string> memory;  ///< group -> text
  std::set<std::string> held_by_another;      ///< groups
  bool change_state_runs = false;
  bool unwritable = false;         ///< nothing can be locked or written
  bool memory_unreadable = false;  ///< read_memory() fails
  bool memory_unwritable = false;  ///< write_memory() fails
  int lock_attempts = 0;           ///< on any lock, successful or not
  std::vector<std::string> writes;
  std::function<void()> before_write = [] {};

  /// The groups whose locks are held by the program under test.
  std::set<std::string> held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }

  std::unique_ptr<StateLock> lock_group(const std::string& group_key, std::chrono::milliseconds) override {
    const std::lock_guard lock(mutex_);
    ++lock_attempts;
    fail_if(unwritable);
    if (held_by_another.contains(group_key) || !held_.insert(group_key).second) return nullptr;
    return std::make_unique<Lock>(*this, group_key);
  }

  std::unique_ptr<StateLock> lock_change_state() override {
    const std::lock_guard lock(mutex_);
    ++lock_attempts;
    fail_if(unwritable);
    return change_state_runs ? nullptr : std::make_unique<StateLock>();
  }

  std::string read_memory(const std::string& group_key) const override {
    const std::lock_guard lock(mutex_);
    fail_if(memory_unreadable);
    const auto text = memory.find(group_key);
    return text == memory.end() ? "" : text->second;
  }

  void write_memory(const std::string& group_key, std::string_view text) override {
    before_write();
    const std::lock_guard lock(mutex_);
    fail_if(unwritable || memory_unwritable);
    writes.push_back(group_key);
    memory[group_key] = text;
  }

 private:
  class Lock : public StateLock {
   public:
    Lock(FakeStateStore& store, std::string key) : store_(store), key_(std::move(key)) {}
    ~Lock() override {
      const std::lock_guard lock(store_.mutex_);
      store_.held_.erase(key_);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    FakeStateStore& store_;
    std::string key_;
  };

  mutable std::mutex mutex_;
  std::set<std::string> held_;

  static void fail_if(bool broken) {
    if (broken) throw Error("StateDirError", "StateDir \"/state\": Read-only file system");
  }
};

/// A record whose object is gone without finished() is that of a dead launch.
class FakeLaunchJournal : public LaunchJournal {
 public:
  struct Record {
    Assignments assigned;
    bool running = false;
  };
  std::map<std::pair<std::string, std::string>, Record> records;  ///< {group, launch} -> record
  bool unwritable = false;

  std::unique_ptr<LaunchRecord> begin(const std::string& group_key, const std::string& launch_id) override {
    const std::lock_guard lock(mutex_);
    if (unwritable) throw Error("StateDirError", "StateDir \"/state/launches\": Read-only file system");
    records[{group_key, launch_id}].running = true;
    return std::make_unique<OpenRecord>(*this, group_key, launch_id);
  }

  Assignments assignments(const std::string& group_key) const override {
    const std::lock_guard lock(mutex_);
    Assignments all;
    for (const auto& [key, record] : records) {
      if (key.first == group_key) all.insert(record.assigned.begin(), record.assigned.end());
    }
    return all;
  }

  bool running(const std::string& group_key, const std::string& launch_id) const override {
    const std::lock_guard lock(mutex_);
    const auto record = records.find({group_key, launch_id});
    return record != records.end() && record->second.running;
  }

  void forget_dead(const std::string& group_key, std::span<const std::string> unnamed_machines) override {
    const std::lock_guard lock(mutex_);
    std::erase_if(records, [&](const auto& entry) {
      if (entry.first.first != group_key || entry.second.running) return false;
      for (const auto& machine : unnamed_machines) {
        if (entry.second.assigned.contains(machine)) return false;
      }
      return true;
    });
  }

 private:
  class OpenRecord : public LaunchRecord {
   public:
    OpenRecord(FakeLaunchJournal& journal, std::string group_key, std::string launch_id)
        : journal_(journal), group_(std::move(group_key)), id_(std::move(launch_id)) {}
    ~OpenRecord() override {
      const std::lock_guard lock(journal_.mutex_);
      const auto record = journal_.records.find({group_, id_});
      if (record != journal_.records.end()) record->second.running = false;
    }
    OpenRecord(const OpenRecord&) = delete;
    OpenRecord& operator=(const OpenRecord&) = delete;

    const std::string& id() const override { return id_; }
    void assign(const Assignments& assignments) override {
      const std::lock_guard lock(journal_.mutex_);
      for (const auto& [machine, node] : assignments) journal_.records[{group_, id_}].assigned[machine] = node;
    }
    void finished() override {
      const std::lock_guard lock(journal_.mutex_);
      journal_.records.erase({group_, id_});
    }

   private:
    FakeLaunchJournal& journal_;
    std::string group_, id_;
  };

  mutable std::mutex mutex_;
};

}  // namespace burst
