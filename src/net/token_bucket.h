// SPDX-License-Identifier: Apache-2.0
// Token buckets by key: how soon the next request of an API action may go out.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "burst/http.h"

namespace burst::net {

/// The buckets of one client, shared by all of its threads.
///
/// A cloud's own bucket has the same size and rate, but sees our requests in the order and at the times that the
/// network makes of them. So that requests which we send just in time do not trip it, ours lags behind: after a full
/// bucket was first drawn on, it starts to refill kSlack later, and it refills at kShare of the rate. A burst from a
/// full bucket is not reduced.
class TokenBuckets {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;
  static constexpr std::chrono::milliseconds kSlack{100};
  static constexpr double kShare = 0.97;

  /// Takes one token and returns zero, or takes none and returns how long it is until one is there (Duration::max()
  /// when the limit never refills). A limit without a key is no limit. A burst below 1 counts as 1.
  Duration take(const RequestLimit& limit, TimePoint now);

 private:
  struct Bucket {
    double tokens = 0;
    TimePoint refilled;  ///< up to here; may lie ahead by kSlack
  };
  std::mutex mutex_;
  std::map<std::string, Bucket, std::less<>> buckets_;
};

}  // namespace burst::net
