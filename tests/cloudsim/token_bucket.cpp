// SPDX-License-Identifier: Apache-2.0
// A provider's request limit.
#include "token_bucket.h"

#include <algorithm>

namespace cloudsim {

bool TokenBucket::take(double count, TimePoint now) {
  if (used_) {
    const double seconds = std::chrono::duration<double>(now - last_).count();
    tokens_ = std::min(size_.capacity, tokens_ + std::max(0.0, seconds) * size_.refill_per_second);
  }
  used_ = true;
  last_ = now;
  static constexpr double kRoundingError = 1e-9;
  if (tokens_ + kRoundingError < count) {
    return false;
  }
  tokens_ -= count;
  return true;
}

}  // namespace cloudsim
