// SPDX-License-Identifier: Apache-2.0
// Foreign text made safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace burst {

/// One line that is safe in a log, on a terminal and in Slurm's `reason=`: control characters and runs of blanks
/// become one blank, quotes become `'`, bytes that are not UTF-8 `?`; cut at `limit` bytes with `...`.
std::string one_line(std::string_view text, std::size_t limit = 300);

/// Overlong forms, surrogates and codes beyond U+10FFFF are none.
bool is_utf8(std::string_view text);

}  // namespace burst
