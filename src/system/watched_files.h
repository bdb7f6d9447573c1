// SPDX-License-Identifier: Apache-2.0
// Files, with a word about each that is read and that others may write.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "burst/files.h"
#include "burst/log.h"

namespace burst {

/// Whoever can write our configuration, a pod template or credentials decides what runs as SlurmUser: one warning a
/// path and run for each that group or others may write, whatever it is read for. They are read all the same: an
/// upgrade must not stop a cluster over its modes. Safe to use from several threads.
class WatchedFiles : public Files {
 public:
  explicit WatchedFiles(Files& files) : files_(files) {}

  std::optional<std::string> read(const std::string& path) const override;
  void write(const std::string& path, std::string_view content, unsigned mode) override {
    files_.write(path, content, mode);
  }
  void remove(const std::string& path) override { files_.remove(path); }

  /// The same for a file or folder that is not read as a whole; no warning for what is not there.
  void check(const std::string& path) const;
  /// What was found so far goes there now, what is found later at once. The log outlives this object's use.
  void report_to(Log& log);

 private:
  Files& files_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> known_;
  mutable std::vector<std::string> waiting_;
  Log* log_ = nullptr;
};

}  // namespace burst
