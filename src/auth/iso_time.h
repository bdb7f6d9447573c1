// SPDX-License-Identifier: Apache-2.0
// Reading the time stamps that clouds write.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace burst::auth {

/// `2030-01-02T03:04:05Z`, with a fraction of a second (dropped) or an offset (`+02:00`, `+0200`) too; a blank may
/// stand for `T`, and no zone at all is UTC. Nothing for anything else.
std::optional<std::chrono::sys_seconds> parse_iso_time(std::string_view text);

}  // namespace burst::auth
