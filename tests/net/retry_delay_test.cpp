// SPDX-License-Identifier: Apache-2.0
// Tests of the delay between attempts.
#include "net/retry_delay.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/fake_services.h"

namespace burst::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class FixedRandom : public Random {
 public:
  explicit FixedRandom(std::uint64_t value) : value_(value) {}
  std::uint64_t next() override { return value_; }

 private:
  std::uint64_t value_;
};

TEST(RetryDelay, DoublesItsCeilingUpToTheCap) {
  FixedRandom most(~std::uint64_t{0});
  const int ceilings[] = {100, 200, 400, 800, 1600, 3200, 6400, 12800, 20000, 20000};  // NOLINT
  for (int attempt = 1; attempt <= 10; ++attempt) {
    EXPECT_EQ(retry_delay(attempt, {true, {}}, {}, most).count(), ceilings[attempt - 1]) << attempt;
  }
  EXPECT_EQ(retry_delay(1'000'000, {true, {}}, {}, most), kRetryCap);
}

TEST(RetryDelay, MayBeNoDelayAtAll) {
  FixedRandom least(0);
  EXPECT_EQ(retry_delay(5, {true, {}}, {}, least).count(), 0);
}

TEST(RetryDelay, IsSpreadOverTheWholeRange) {
  FakeRandom random;
  int low = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto delay = retry_delay(4, {true, {}}, {}, random);
    ASSERT_GE(delay.count(), 0);
    ASSERT_LE(delay.count(), 800);
    if (delay < milliseconds(400)) ++low;
  }
  EXPECT_GT(low, 400);
  EXPECT_LT(low, 600);
}

TEST(RetryDelay, AddsJitterToWhatTheServerAskedFor) {
  FixedRandom most(~std::uint64_t{0});
  EXPECT_EQ(retry_delay(1, {true, {}}, milliseconds(3000), most), milliseconds(3100));
}

TEST(RetryDelay, TakesTheJudgesOwnDelayAsItIs) {
  FixedRandom most(~std::uint64_t{0});
  EXPECT_EQ(retry_delay(3, {true, milliseconds(7)}, milliseconds(3000), most), milliseconds(7));
}

TEST(RetryAfter, ReadsSecondsAndDates) {
  const std::chrono::sys_seconds now{seconds(784'111'777)};  // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(parse_retry_after("0", now), milliseconds(0));
  EXPECT_EQ(parse_retry_after("120", now), seconds(120));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now), seconds(10));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:07 GMT", now), seconds(0));
  EXPECT_EQ(parse_retry_after("-5", now), seconds(0));
  EXPECT_EQ(parse_retry_after("soon", now), std::nullopt);
  EXPECT_EQ(parse_retry_after("", now), std::nullopt);
}

}  // namespace
}  // namespace burst::net
