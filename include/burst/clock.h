// SPDX-License-Identifier: Apache-2.0
// Time and waiting, as a part of the world that tests replace.
#pragma once

#include <chrono>

namespace burst {

/// Wall time for what is compared with a cloud's or Slurm's times; steady time for deadlines and delays.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::chrono::sys_time<std::chrono::milliseconds> now() const = 0;
  virtual std::chrono::steady_clock::time_point steady_now() const = 0;
  /// Blocks the calling thread; returns at once for zero or less.
  virtual void sleep_for(std::chrono::milliseconds duration) = 0;
};

}  // namespace burst
