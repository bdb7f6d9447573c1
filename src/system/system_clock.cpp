// SPDX-License-Identifier: Apache-2.0
// The machine's clock: the one place that asks it.
#include "system/system_clock.h"

#include <thread>

namespace burst {

std::chrono::sys_time<std::chrono::milliseconds> SystemClock::now() const {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

std::chrono::steady_clock::time_point SystemClock::steady_now() const { return std::chrono::steady_clock::now(); }

void SystemClock::sleep_for(std::chrono::milliseconds duration) {
  if (duration.count() > 0) std::this_thread::sleep_for(duration);
}

}  // namespace burst
