// SPDX-License-Identifier: Apache-2.0
// Fault rules: which call they strike, and how often.
#include "faults.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cloudsim {
namespace {

TEST(Faults, EndsWhenItsTimeIsOver) {
  Faults faults(1);
  faults.add({{"kind", "throttle"}, {"count", -1}, {"seconds", 60}});
  faults.add({{"kind", "drop_after"}, {"count", -1}, {"seconds", 0}});
  const auto first = faults.take("Any", {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, FaultKind::throttle);
  EXPECT_EQ(faults.list().size(), 1U);
}

TEST(Faults, GarbageIsAsLongAsWanted) {
  Faults faults(1);
  faults.add({{"kind", "garbage"}, {"bytes", 10'000'000}});
  HttpReply reply;
  apply_to_reply(*faults.take("Any", {}), reply);
  EXPECT_GE(reply.body.size(), 10'000'000U);
  EXPECT_LT(reply.body.size(), 10'000'100U);
}

TEST(Faults, StrikeTheirActionUntilTheyAreUsedUp) {
  Faults faults(1);
  faults.add({{"action", "CreateTags"}, {"kind", "throttle"}, {"count", 2}});
  EXPECT_FALSE(faults.take("CreateFleet", {}));
  EXPECT_TRUE(faults.take("CreateTags", {}));
  EXPECT_TRUE(faults.take("CreateTags", {}));
  EXPECT_FALSE(faults.take("CreateTags", {}));
  EXPECT_TRUE(faults.list().empty());
}

TEST(Faults, StrikeForEverWithANegativeCount) {
  Faults faults(1);
  faults.add({{"action", "*"}, {"kind", "drop_before"}, {"count", -1}});
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(faults.take("Any", {}));
  }
}

TEST(Faults, LookAtTheParametersThatAreNamed) {
  Faults faults(1);
  faults.add({{"kind", "error"}, {"match", {{"A", "1"}, {"B", "2"}}}});
  EXPECT_FALSE(faults.take("X", {{"A", "1"}}));
  EXPECT_FALSE(faults.take("X", {{"A", "1"}, {"B", "3"}}));
  EXPECT_TRUE(faults.take("X", {{"A", "1"}, {"B", "2"}, {"C", "3"}}));
}

TEST(Faults, WithTheSameSeedStrikeTheSameCalls) {
  Faults one(5);
  Faults two(5);
  int struck = 0;
  for (auto* faults : {&one, &two}) {
    faults->add({{"kind", "error"}, {"count", -1}, {"probability", 0.5}});
  }
  for (int i = 0; i < 1000; ++i) {
    const bool first = one.take("X", {}).has_value();
    EXPECT_EQ(first, two.take("X", {}).has_value());
    struck += first ? 1 : 0;
  }
  EXPECT_GT(struck, 400);
  EXPECT_LT(struck, 600);
}

TEST(Faults, RefuseRulesThatTheyDoNotUnderstand) {
  Faults faults(1);
  EXPECT_THROW(faults.add({{"kind", "unknown"}}), std::invalid_argument);
  EXPECT_THROW(faults.add({{"kindd", "error"}}), std::invalid_argument);
  EXPECT_THROW(faults.add(nlohmann::json::array()), std::invalid_argument);
  EXPECT_TRUE(faults.list().empty());
}

}  // namespace
}  // namespace cloudsim
