// SPDX-License-Identifier: Apache-2.0
// StateDir on disk.
#include "system/state_dir.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "burst/error.h"
#include "system/descriptor.h"
#include "system/disk_files.h"

namespace burst {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw Error("StateDirError",
              fmt::format("StateDir \"{}\": {}; it must be writable for SlurmUser", path, std::strerror(errno)));
}

class FileLock : public StateLock {
 public:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;  // closing it drops the lock
};

/// An open, exclusively locked file; nothing when another holds it.
Descriptor try_lock(const std::string& path) {
  Descriptor file(open_for_owner(path, O_RDWR | O_CREAT, 0640));
  if (!file) fail(path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK && errno != EINTR) fail(path);
  return {};
}

std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> names;
  DIR* handle = opendir(folder.c_str());
  if (handle == nullptr) return names;
  while (const dirent* entry = readdir(handle)) {  // NOLINT(concurrency-mt-unsafe): the handle is ours alone
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(handle);
  return names;
}

Assignments parse_assignments(std::string_view text) {
  Assignments result;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) break;  // a line cut by a kill: its assign() never returned
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto blank = line.find(' ');
    if (blank != std::string_view::npos)
      result.insert_or_assign(std::string(line.substr(0, blank)), line.substr(blank + 1));
  }
  return result;
}

class FileLaunchRecord : public LaunchRecord {
 public:
  FileLaunchRecord(std::string id, std::string path, Descriptor file)
      : id_(std::move(id)), path_(std::move(path)), file_(std::move(file)) {}

  const std::string& id() const override { return id_; }

  void assign(const Assignments& assignments) override {
    std::string text;
    for (const auto& [machine, node] : assignments) text += fmt::format("{} {}\n", machine, node);
    std::string_view left = text;
    while (!left.empty()) {
      const ssize_t written = ::write(file_.get(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_);
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    if (fdatasync(file_.get()) != 0) fail(path_);
  }

  void finished() override { unlink(path_.c_str()); }

 private:
  std::string id_, path_;
  Descriptor file_;
};

}  // namespace

StateDir::StateDir(std::string path, Files& files, Clock& clock)
    : path_(std::move(path)), files_(files), clock_(clock) {}

std::string StateDir::folder(const std::string& name) const {
  std::string full = path_ + "/" + name;
  if (!make_folder_for_owner(full, 0750)) fail(full);
  return full;
}

std::string StateDir::launches(const std::string& group_key) const { return path_ + "/launches/" + group_key; }

std::unique_ptr<StateLock> StateDir::lock_group(const std::string& group_key, std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds longest_pause{50};
  const std::string path = folder("locks") + "/" + group_key + ".lock";
  const auto end = clock_.steady_now() + wait;
  std::chrono::milliseconds pause{5};
  for (;;) {
    if (Descriptor file = try_lock(path)) return std::make_unique<FileLock>(std::move(file));
    if (clock_.steady_now() >= end) return nullptr;
    clock_.sleep_for(pause);  // flock() can't wait with a limit, and signals are no way to end it in a library
    pause = std::min(pause * 2, longest_pause);
  }
}

std::unique_ptr<StateLock> StateDir::lock_change_state() {
  Descriptor file = try_lock(folder("locks") + "/change_state.lock");
  return file ? std::make_unique<FileLock>(std::move(file)) : nullptr;
}

std::string StateDir::read_memory(const std::string& group_key) const {
  return files_.read(path_ + "/groups/" + group_key + ".json").value_or("");
}

void StateDir::write_memory(const std::string& group_key, std::string_view text) {
  files_.write(folder("groups") + "/" + group_key + ".json", text);
}

std::unique_ptr<LaunchRecord> StateDir::begin(const std::string& group_key, const std::string& launch_id) {
  const std::string path = folder("launches/" + group_key) + "/" + launch_id;
  Descriptor file(open_for_owner(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0640));
  if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0) fail(path);
  return std::make_unique<FileLaunchRecord>(launch_id, path, std::move(file));
}

Assignments StateDir::assignments(const std::string& group_key) const {
  Assignments all;
  for (const auto& name : entries(launches(group_key)))
    all.merge(parse_assignments(files_.read(launches(group_key) + "/" + name).value_or("")));
  return all;
}

bool StateDir::running(const std::string& group_key, const std::string& launch_id) const {
  const std::string path = launches(group_key) + "/" + launch_id;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    fail(path);
  }
  return flock(file.get(), LOCK_SH | LOCK_NB) != 0;
}

void StateDir::forget_dead(const std::string& group_key, std::span<const std::string> unnamed_machines) {
  for (const auto& name : entries(launches(group_key))) {
    if (running(group_key, name)) continue;
    const std::string path = launches(group_key) + "/" + name;
    const Assignments assigned = parse_assignments(files_.read(path).value_or(""));
    const auto is_needed = [&](const std::string& machine) { return assigned.contains(machine); };
    if (std::none_of(unnamed_machines.begin(), unnamed_machines.end(), is_needed)) files_.remove(path);
  }
}

}  // namespace burst
