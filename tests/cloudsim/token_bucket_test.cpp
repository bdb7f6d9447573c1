// SPDX-License-Identifier: Apache-2.0
// The request limit: what it lets through, and when.
#include "token_bucket.h"

#include <gtest/gtest.h>

namespace cloudsim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TokenBucket::TimePoint kStart{seconds{1000}};

TEST(TokenBucket, LetsABurstOfItsCapacityThroughAndNoMore) {
  TokenBucket bucket({3, 1});
  EXPECT_TRUE(bucket.take(1, kStart));
  EXPECT_TRUE(bucket.take(2, kStart));
  EXPECT_FALSE(bucket.take(1, kStart));
}

TEST(TokenBucket, RefillsWithTheTimeThatPasses) {
  TokenBucket bucket({2, 10});
  EXPECT_TRUE(bucket.take(2, kStart));
  EXPECT_FALSE(bucket.take(1, kStart + milliseconds{99}));
  EXPECT_TRUE(bucket.take(1, kStart + milliseconds{100}));
  EXPECT_FALSE(bucket.take(1, kStart + milliseconds{150}));
}

TEST(TokenBucket, NeverHoldsMoreThanItsCapacity) {
  TokenBucket bucket({2, 10});
  EXPECT_TRUE(bucket.take(2, kStart));
  EXPECT_FALSE(bucket.take(3, kStart + seconds{3600}));
  EXPECT_TRUE(bucket.take(2, kStart + seconds{3600}));
}

TEST(TokenBucket, TakesNothingWhenItRefuses) {
  TokenBucket bucket({5, 1});
  EXPECT_FALSE(bucket.take(6, kStart));
  EXPECT_TRUE(bucket.take(5, kStart));
}

}  // namespace
}  // namespace cloudsim
