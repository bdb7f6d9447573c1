// SPDX-License-Identifier: Apache-2.0
// Random numbers seeded by the kernel.
#pragma once

#include <mutex>

#include "burst/random.h"

namespace burst {

class SystemRandom : public Random {
 public:
  SystemRandom();
  std::uint64_t next() override;

 private:
  std::mutex mutex_;
  std::uint64_t state_ = 0;
};

}  // namespace burst
