// SPDX-License-Identifier: Apache-2.0
// How long to wait before a request is tried again.
#include "net/retry_delay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include <curl/curl.h>

namespace burst::net {

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value, std::chrono::sys_seconds now) {
  using std::chrono::seconds;
  long number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure == std::errc{} && end == value.data() + value.size()) {
    static constexpr long kYear = 365L * 24 * 3600;
    return seconds(std::clamp(number, 0L, kYear));
  }
  const auto date = curl_getdate(std::string(value).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::max(seconds(0), seconds(date) - now.time_since_epoch());
}

std::chrono::milliseconds retry_delay(int attempt, const RetryVerdict& verdict,
                                      std::optional<std::chrono::milliseconds> retry_after, Random& random) {
  if (verdict.after) return std::max(*verdict.after, std::chrono::milliseconds(0));
  static constexpr int kDoublings = 20;  // past the cap already
  const auto ceiling = std::min(kRetryCap, kRetryBase * (1L << std::clamp(attempt - 1, 0, kDoublings)));
  const double share = std::ldexp(static_cast<double>(random.next() >> 11U), -53);  // 53 bits: [0, 1)
  const std::chrono::milliseconds jitter(std::lround(share * static_cast<double>(ceiling.count())));
  return retry_after.value_or(std::chrono::milliseconds(0)) + jitter;
}

}  // namespace burst::net
