// SPDX-License-Identifier: Apache-2.0
// Splitting a command line into words as a POSIX shell does, without a shell.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace burst::auth {

/// Blanks separate; '...' is literal; in "..." a backslash escapes `"` and itself; elsewhere it escapes any character.
/// Nothing is expanded. Nothing is returned for an open quote or a backslash at the end.
std::optional<std::vector<std::string>> split_shell_words(std::string_view text);

}  // namespace burst::auth
