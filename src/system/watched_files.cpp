// SPDX-License-Identifier: Apache-2.0
// Files, with a word about each that is read and that others may write.
#include "system/watched_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "burst/text.h"

namespace burst {

std::optional<std::string> WatchedFiles::read(const std::string& path) const {
  auto content = files_.read(path);
  if (content) check(path);
  return content;
}

void WatchedFiles::check(const std::string& path) const {
  struct stat info {};
  // A descriptor of another process, as SLURM_RESUME_FILE is: who may open it is decided there, not by its mode.
  if (path.starts_with("/proc/")) return;
  if (stat(path.c_str(), &info) != 0 || !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) return;
  const bool by_group = (info.st_mode & S_IWGRP) != 0, by_others = (info.st_mode & S_IWOTH) != 0;
  if (!by_group && !by_others) return;
  const std::lock_guard lock(mutex_);
  if (!known_.insert(path).second) return;
  auto message = fmt::format(
      "\"{}\" is writable by {} (mode {:04o}): who can write it decides what these programs do; "
      "chmod {}-w",
      one_line(path), by_others ? "everybody" : "its group", info.st_mode & 07777U, by_others ? "go" : "g");
  if (log_ != nullptr) {
    log_->warning(message);
  } else {
    waiting_.push_back(std::move(message));
  }
}

void WatchedFiles::report_to(Log& log) {
  const std::lock_guard lock(mutex_);
  log_ = &log;
  for (const auto& message : waiting_) log.warning(message);
  waiting_.clear();
}

}  // namespace burst
