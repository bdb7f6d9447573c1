// SPDX-License-Identifier: Apache-2.0
// Files on disk.
#pragma once

#include "burst/files.h"

namespace burst {

class DiskFiles : public Files {
 public:
  std::optional<std::string> read(const std::string& path) const override;
  void write(const std::string& path, std::string_view content, unsigned mode) override;
  void remove(const std::string& path) override;
};

/// Opens for writing; when run as root a new file gets its folder's owner, so that a later run as SlurmUser can use
/// it too. Returns a negative number and sets errno on failure. O_CLOEXEC is added to `flags`.
int open_for_owner(const std::string& path, int flags, unsigned mode);

/// Makes a folder and its parents; as root a new one gets its parent's owner. False (errno set) on failure.
bool make_folder_for_owner(const std::string& path, unsigned mode);

}  // namespace burst
