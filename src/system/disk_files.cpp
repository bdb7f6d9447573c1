// SPDX-License-Identifier: Apache-2.0
// Files on disk: read whole, replaced by rename.
#include "system/disk_files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burst/error.h"
#include "system/descriptor.h"

namespace burst {
namespace {

[[noreturn]] void fail(const char* doing, const std::string& path) {
  throw Error("FileError", fmt::format("{} \"{}\": {}", doing, path, std::strerror(errno)));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void take_folders_owner(int descriptor, const std::string& folder) {
  struct stat info {};
  if (geteuid() != 0 || stat(folder.c_str(), &info) != 0) return;
  // Best effort: a file that stays root's is still right for root.
  if (fchown(descriptor, info.st_uid, info.st_gid) != 0) errno = 0;
}

void write_all(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("writing", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Deletes the temporary file unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }
  void renamed() { path_.clear(); }

 private:
  std::string path_;
};

}  // namespace

std::optional<std::string> DiskFiles::read(const std::string& path) const {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail("reading", path);
  }
  std::string content;
  struct stat info {};
  if (fstat(file.get(), &info) == 0 && info.st_size > 0) content.reserve(static_cast<std::size_t>(info.st_size));
  std::array<char, 16384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("reading", path);
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void DiskFiles::write(const std::string& path, std::string_view content, unsigned mode) {
  TemporaryFile temporary(fmt::format("{}.tmp.{}", path, getpid()));
  const Descriptor file(open_for_owner(temporary.path(), O_WRONLY | O_CREAT | O_TRUNC, mode));
  if (!file) fail("writing", path);
  struct stat replaced {};
  if (stat(path.c_str(), &replaced) == 0) {
    if (fchmod(file.get(), replaced.st_mode & 07777U) != 0) fail("writing", path);
    if (geteuid() == 0 && fchown(file.get(), replaced.st_uid, replaced.st_gid) != 0) fail("writing", path);
  }
  write_all(file.get(), content, path);
  if (fsync(file.get()) != 0) fail("writing", path);
  if (rename(temporary.path().c_str(), path.c_str()) != 0) fail("writing", path);
  temporary.renamed();
}

void DiskFiles::remove(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) fail("removing", path);
}

int open_for_owner(const std::string& path, int flags, unsigned mode) {
  struct stat info {};
  const bool is_new = stat(path.c_str(), &info) != 0;
  const int descriptor = open(path.c_str(), flags | O_CLOEXEC, mode);  // NOLINT(cppcoreguidelines-pro-type-vararg)
  if (descriptor >= 0 && is_new) take_folders_owner(descriptor, folder_of(path));
  return descriptor;
}

bool make_folder_for_owner(const std::string& path, unsigned mode) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return true;
    errno = ENOTDIR;
    return false;
  }
  const std::string parent = folder_of(path);
  if (parent != path && !make_folder_for_owner(parent, mode)) return false;
  if (mkdir(path.c_str(), mode) != 0) return errno == EEXIST;
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) take_folders_owner(folder.get(), parent);
  return true;
}

}  // namespace burst
