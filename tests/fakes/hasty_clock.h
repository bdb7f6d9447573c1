// SPDX-License-Identifier: Apache-2.0
// Real time, with sleeps that are cut short.
#pragma once

#include <algorithm>
#include <chrono>

#include "system/system_clock.h"

namespace burst {

/// For the real HTTP client on a simulated cloud: time passes as it does, but a test waits less.
class HastyClock : public SystemClock {
 public:
  std::chrono::milliseconds longest_sleep{100};
  void sleep_for(std::chrono::milliseconds duration) override {
    SystemClock::sleep_for(std::min(duration, longest_sleep));
  }
};

}  // namespace burst
