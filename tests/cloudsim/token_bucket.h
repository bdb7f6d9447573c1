// SPDX-License-Identifier: Apache-2.0
// A provider's request limit: so many at once, so many a second from then on.
#pragma once

#include <chrono>

namespace cloudsim {

class TokenBucket {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Size {
    double capacity = 0;
    double refill_per_second = 0;
  };

  explicit TokenBucket(Size size) : size_(size), tokens_(size.capacity) {}

  /// Takes `count` tokens, or none and says false. A bucket is full when it is first used.
  bool take(double count, TimePoint now);

 private:
  Size size_;
  double tokens_;
  TimePoint last_{};
  bool used_ = false;
};

}  // namespace cloudsim
