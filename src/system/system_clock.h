// SPDX-License-Identifier: Apache-2.0
// The machine's clock.
#pragma once

#include "burst/clock.h"

namespace burst {

class SystemClock : public Clock {
 public:
  std::chrono::sys_time<std::chrono::milliseconds> now() const override;
  std::chrono::steady_clock::time_point steady_now() const override;
  void sleep_for(std::chrono::milliseconds duration) override;
};

}  // namespace burst
