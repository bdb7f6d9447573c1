// SPDX-License-Identifier: Apache-2.0
// How long to wait before a request is tried again.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "burst/http.h"
#include "burst/random.h"

namespace burst::net {

inline constexpr std::chrono::milliseconds kRetryBase{100};
inline constexpr std::chrono::milliseconds kRetryCap{20'000};

/// What a Retry-After header asks for: seconds, or an HTTP date less `now`; never negative. Nothing when it is neither.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value, std::chrono::sys_seconds now);

/// The delay after attempt number `attempt` (1, 2, ...). The verdict's own delay is taken as it is. Else full jitter:
/// uniform between zero and kRetryBase * 2^(attempt - 1), at most kRetryCap, on top of what the server asked for.
std::chrono::milliseconds retry_delay(int attempt, const RetryVerdict& verdict,
                                      std::optional<std::chrono::milliseconds> retry_after, Random& random);

}  // namespace burst::net
