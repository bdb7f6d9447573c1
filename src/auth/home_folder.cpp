// SPDX-License-Identifier: Apache-2.0
// Where the user's own files are.
#include "auth/home_folder.h"

#include <cstddef>
#include <utility>

#include <pwd.h>
#include <unistd.h>

namespace burst::auth {

std::string home_folder(const Environment& environment) {
  if (auto home = environment.get("HOME"); home && !home->empty()) return *std::move(home);
  static constexpr std::size_t kEntrySize = 16384;
  std::string buffer(kEntrySize, '\0');
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return "/";
  return found->pw_dir;
}

}  // namespace burst::auth
