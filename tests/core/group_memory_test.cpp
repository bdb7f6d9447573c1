// SPDX-License-Identifier: Apache-2.0
// What is remembered of a group: its text, and how cool-downs begin, double and end.
#include "core/group_memory.h"

#include <string>

#include <gtest/gtest.h>

namespace burst {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

const sys_seconds kNow{seconds(1'780'000'000)};

TEST(GroupMemory, SurvivesItsText) {
  GroupMemory memory;
  memory.cool_down = CoolDown{"NoCapacity", "say \"none\"\xff", kNow, seconds(600), kNow + seconds(5)};
  memory.last_length = seconds(600);
  memory.bootstrap_failures = 3;
  memory.invalid_registrations = 2;
  memory.booting = {{"p-g-1", "i-1"}};
  memory.sightings = {{"p-g-2", {"powering down", kNow, 4}}};
  memory.expires = {{"p-g-3", kNow + seconds(7)}};
  memory.machines_since = {{"i-9", kNow}};
  const auto text = to_json(memory);
  auto read = parse_group_memory(text);
  EXPECT_EQ(read.cool_down->message, "say \"none\"\xef\xbf\xbd");
  read.cool_down->message = memory.cool_down->message;
  EXPECT_EQ(read, memory);
  EXPECT_EQ(parse_group_memory(to_json(GroupMemory())), GroupMemory());
  memory.cool_down->probing_since.reset();
  EXPECT_FALSE(parse_group_memory(to_json(memory)).cool_down->probing_since);
}

TEST(GroupMemory, IsEmptyWhenItsTextIsDamaged) {
  GroupMemory memory;
  memory.cool_down = CoolDown{"NoCapacity", "none", kNow, seconds(600), std::nullopt};
  memory.booting = {{"p-g-1", "i-1"}};
  const auto text = to_json(memory);
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_EQ(parse_group_memory(text.substr(0, length)), GroupMemory()) << length;
  }
  for (const auto* bad :
       {"[]", "3", "null", "{\"cool_down\":3}", "{\"cool_down\":{}}", "{\"booting\":[1]}", "{\"sightings\":{\"n\":{}}}",
        "{\"last_length\":\"x\"}", "{\"machines_since\":{\"i\":\"x\"}}", "{\"expires\":{\"n\":\"x\"}}", "\xff\xfe"}) {
    EXPECT_EQ(parse_group_memory(bad), GroupMemory()) << bad;
  }
}

TEST(GroupMemory, KeepsTimesThatCanBeReckonedWith) {
  const auto memory = parse_group_memory(
      R"({"sightings":{"n":{"state":"x","since":9223372036854775807,"passes":1},"m":{"state":"x","since":-9223372036854775807,"passes":1}},"last_length":9223372036854775807})");
  ASSERT_EQ(memory.sightings.size(), 2U);
  EXPECT_LT((memory.sightings.at("n").since - kNow).count(), std::int64_t{1} << 60);
  EXPECT_EQ(memory.sightings.at("m").since, sys_seconds());
  EXPECT_GT((memory.last_length * 2).count(), 0);
}

class CoolDownTest : public testing::Test {
 protected:
  bool refuse(sys_seconds now) { return record_refusal(memory, "NoCapacity", "none left", now, timing); }
  GroupMemory memory;
  Timing timing;
};

TEST_F(CoolDownTest, BeginsWithTheFirstRefusal) {
  EXPECT_TRUE(record_refusal(memory, "No\nCapacity", "none\n\"left\"", kNow, timing));
  ASSERT_TRUE(memory.cool_down);
  EXPECT_EQ(memory.cool_down->code, "No Capacity");
  EXPECT_EQ(memory.cool_down->message, "none 'left'");
  EXPECT_EQ(memory.cool_down->until, kNow + seconds(600));
  EXPECT_FALSE(memory.cool_down->probing_since);
}

TEST_F(CoolDownTest, StaysAsItIsWhileItRuns) {
  refuse(kNow);
  const auto before = memory;
  EXPECT_FALSE(refuse(kNow + seconds(599)));
  EXPECT_EQ(memory, before);
}

TEST_F(CoolDownTest, DoublesUpToItsMaximumWhileProbesFail) {
  sys_seconds now = kNow;
  for (const int expected : {600, 1200, 2400, 3600, 3600}) {
    EXPECT_TRUE(refuse(now));
    EXPECT_EQ(memory.cool_down->length, seconds(expected));
    EXPECT_EQ(memory.cool_down->until, now + seconds(expected));
    EXPECT_FALSE(memory.cool_down->probing_since);
    now = memory.cool_down->until;
    memory.cool_down->probing_since = now;
  }
}

TEST_F(CoolDownTest, DoublesWhenItEndedWithoutASuccess) {
  refuse(kNow);
  memory.cool_down.reset();
  refuse(kNow + seconds(900));
  EXPECT_EQ(memory.cool_down->length, seconds(1200));
}

TEST_F(CoolDownTest, IsOverAndForgottenWhenAProbeGetsItsMachine) {
  refuse(kNow);
  memory.cool_down->probing_since = kNow + seconds(600);
  record_success(memory);
  EXPECT_FALSE(memory.cool_down);
  refuse(kNow + seconds(700));
  EXPECT_EQ(memory.cool_down->length, seconds(600));
}

TEST_F(CoolDownTest, StaysWhenTheLastMachineCameBesideTheRefusal) {
  refuse(kNow);
  const auto before = memory;
  record_success(memory);
  EXPECT_EQ(memory, before);
}

TEST_F(CoolDownTest, ForgetsItsLengthWithASuccessAfterIt) {
  refuse(kNow);
  memory.cool_down.reset();
  record_success(memory);
  refuse(kNow + seconds(900));
  EXPECT_EQ(memory.cool_down->length, seconds(600));
}

TEST_F(CoolDownTest, OfBootstrapProtectionIsNotEndedByAMachineThatStarts) {
  memory.bootstrap_failures = 10;
  record_refusal(memory, std::string(kBootstrapFailing), "10 machines", kNow, timing);
  memory.cool_down->probing_since = kNow + seconds(600);
  const auto before = memory;
  record_success(memory);
  EXPECT_EQ(memory, before);
}

}  // namespace
}  // namespace burst
