// SPDX-License-Identifier: Apache-2.0
// Random numbers seeded by the kernel, mixed by SplitMix64.
#include "system/system_random.h"

#include <chrono>

#include <sys/random.h>

namespace burst {

SystemRandom::SystemRandom() {
  if (getrandom(&state_, sizeof state_, 0) != static_cast<ssize_t>(sizeof state_)) {
    state_ = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
}

std::uint64_t SystemRandom::next() {
  const std::lock_guard lock(mutex_);
  state_ += 0x9E3779B97F4A7C15ULL;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ mixed >> 30U) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ mixed >> 27U) * 0x94D049BB133111EBULL;
  return mixed ^ mixed >> 31U;
}

}  // namespace burst
