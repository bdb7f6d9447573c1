// SPDX-License-Identifier: Apache-2.0
// Randomness, as a part of the world that tests replace.
#pragma once

#include <cstdint>

namespace burst {

/// Uniform random bits for retry jitter and launch ids; not for keys. Safe to call from several threads.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
};

}  // namespace burst
