// SPDX-License-Identifier: Apache-2.0
// Token buckets by key: how soon the next request of an API action may go out.
#include "net/token_bucket.h"

#include <algorithm>
#include <cmath>

namespace burst::net {

TokenBuckets::Duration TokenBuckets::take(const RequestLimit& limit, TimePoint now) {
  using Seconds = std::chrono::duration<double>;
  static constexpr double kRounding = 1e-6;  // a caller that slept exactly as long as we said finds its token
  if (limit.key.empty()) return Duration::zero();
  const double burst = std::max(1.0, limit.burst);
  const double rate = std::max(0.0, limit.per_second) * kShare;

  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = buckets_.try_emplace(limit.key, Bucket{burst, now});
  auto& bucket = entry->second;
  if (now > bucket.refilled) {
    bucket.tokens = std::min(burst, bucket.tokens + rate * Seconds(now - bucket.refilled).count());
    bucket.refilled = now;
  }
  if (bucket.tokens >= 1.0 - kRounding) {
    if (bucket.tokens >= burst) bucket.refilled = now + kSlack;
    bucket.tokens -= 1.0;
    return Duration::zero();
  }
  static constexpr double kLongest = 1e6;  // seconds; beyond that the tick count could overflow
  const double missing = 1.0 - bucket.tokens;
  if (rate <= 0 || missing / rate > kLongest) return Duration::max();
  const auto refill = std::chrono::duration_cast<Duration>(Seconds(missing / rate)) + Duration(1);
  return std::max(Duration::zero(), bucket.refilled - now) + refill;
}

}  // namespace burst::net
