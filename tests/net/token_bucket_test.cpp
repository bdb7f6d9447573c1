// SPDX-License-Identifier: Apache-2.0
// Tests of the token buckets, against a server's own bucket too.
#include "net/token_bucket.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/fake_services.h"

namespace burst::net {
namespace {

using std::chrono::milliseconds;
using Duration = TokenBuckets::Duration;
using TimePoint = TokenBuckets::TimePoint;

const TimePoint kStart{std::chrono::hours(1)};

TEST(TokenBuckets, GiveAFullBurstAtOnce) {
  TokenBuckets buckets;
  const RequestLimit limit{"a", 100, 10};
  for (int i = 0; i < 100; ++i) ASSERT_EQ(buckets.take(limit, kStart), Duration::zero()) << i;
  EXPECT_GT(buckets.take(limit, kStart), Duration::zero());
}

TEST(TokenBuckets, SayExactlyHowLongToWait) {
  TokenBuckets buckets;
  const RequestLimit limit{"a", 2, 10};
  buckets.take(limit, kStart);
  buckets.take(limit, kStart);
  const auto delay = buckets.take(limit, kStart);
  EXPECT_GE(delay, TokenBuckets::kSlack + milliseconds(100));
  EXPECT_LE(delay, TokenBuckets::kSlack + milliseconds(110));
  EXPECT_GT(buckets.take(limit, kStart + delay - milliseconds(1)), Duration::zero());
  EXPECT_EQ(buckets.take(limit, kStart + delay), Duration::zero());
  EXPECT_GT(buckets.take(limit, kStart + delay), Duration::zero());
}

TEST(TokenBuckets, OfDifferentKeysDoNotMeet) {
  TokenBuckets buckets;
  EXPECT_EQ(buckets.take({"a", 1, 1}, kStart), Duration::zero());
  EXPECT_EQ(buckets.take({"b", 1, 1}, kStart), Duration::zero());
  EXPECT_GT(buckets.take({"a", 1, 1}, kStart), Duration::zero());
}

TEST(TokenBuckets, WithoutAKeyDoNotLimit) {
  TokenBuckets buckets;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(buckets.take({}, kStart), Duration::zero());
}

TEST(TokenBuckets, ThatNeverRefillSaySo) {
  TokenBuckets buckets;
  EXPECT_EQ(buckets.take({"a", 0, 0}, kStart), Duration::zero());
  EXPECT_EQ(buckets.take({"a", 0, 0}, kStart + std::chrono::hours(1000)), Duration::max());
}

TEST(TokenBuckets, HoldNoMoreThanABurstAfterALongRest) {
  TokenBuckets buckets;
  const RequestLimit limit{"a", 3, 10};
  buckets.take(limit, kStart);
  const auto later = kStart + std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(buckets.take(limit, later), Duration::zero());
  EXPECT_GT(buckets.take(limit, later), Duration::zero());
}

/// Sends `count` requests as early as our bucket allows, each delayed on its way by up to `jitter`, to a server with
/// the same bucket, full at its first request; returns how many that server refuses.
int refused_by_server(const RequestLimit& limit, int count, milliseconds jitter, std::uint64_t seed) {
  TokenBuckets ours;
  FakeRandom random;
  random.state = seed;
  std::vector<TimePoint> arrivals;
  auto now = kStart;
  while (static_cast<int>(arrivals.size()) < count) {
    const auto delay = ours.take(limit, now);
    if (delay > Duration::zero()) {
      now += delay;
    } else {
      arrivals.push_back(now + milliseconds((random.next() >> 33U) % static_cast<unsigned>(jitter.count() + 1)));
    }
  }
  std::ranges::sort(arrivals);
  double tokens = limit.burst;
  auto last = arrivals.front();
  int refused = 0;
  for (const auto arrival : arrivals) {
    tokens = std::min(limit.burst, tokens + limit.per_second * std::chrono::duration<double>(arrival - last).count());
    last = arrival;
    if (tokens >= 1) {
      tokens -= 1;
    } else {
      ++refused;
    }
  }
  return refused;
}

TEST(TokenBuckets, DoNotTripAServersOwnBucketThroughJitter) {
  for (const auto& limit : {RequestLimit{"CreateTags", 100, 10}, RequestLimit{"RunInstances", 5, 2},
                            RequestLimit{"Topology", 1, 1}, RequestLimit{"Describe", 100, 20}}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      EXPECT_EQ(refused_by_server(limit, 400, milliseconds(90), seed), 0) << limit.key << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace burst::net
