// SPDX-License-Identifier: Apache-2.0
// Reading and replacing small files, as a part of the world that tests replace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burst {

/// Small text files: configuration, credentials, state. Every failure but absence throws
/// Error{"FileError", `reading "PATH": ...`}.
class Files {
 public:
  virtual ~Files() = default;
  /// The whole content; nothing when there is no such file.
  virtual std::optional<std::string> read(const std::string& path) const = 0;
  /// Writes a temporary file beside it, syncs, renames: a reader sees the old content or the new, never a part. Keeps
  /// owner and mode of a file that it replaces; a new one gets `mode` and, when run as root, its folder's owner.
  virtual void write(const std::string& path, std::string_view content, unsigned mode = 0640) = 0;
  /// Deletes a file; no error when it is not there.
  virtual void remove(const std::string& path) = 0;
};

}  // namespace burst
