// SPDX-License-Identifier: Apache-2.0
// Nodes whose launch is under way, as other processes see them.
#include "providers/gce_fixture.h"

namespace burst::gce {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFlex = R"({"ProvisioningModel": "FLEX_START", "InstanceTemplate": "flex-template"})";

class GceClaims : public GceFixture {};

TEST_F(GceClaims, AClaimedNodeHasAMachineThatNobodyCanEndUntilItsLaunchIsOver) {
  const auto starting = provider();
  const auto other = provider();
  const std::vector launches{launch("p-g-[0-1]", 17)};
  EXPECT_TRUE(starting->claim(launches));
  auto listed = other->list();
  ASSERT_THAT(listed, SizeIs(2));
  for (const auto& machine : listed) {
    EXPECT_EQ(machine.state, MachineState::starting);
    EXPECT_TRUE(machine.address.empty());
    EXPECT_NEAR(static_cast<double>(machine.created.time_since_epoch().count()),
                static_cast<double>(std::chrono::floor<std::chrono::seconds>(clock_.now()).time_since_epoch().count()),
                60.0);
  }
  EXPECT_EQ(stop(*other, "p-g-0").at("p-g-0").code, "StillStarting");
  for (const auto& outcome : other->stop_machines(listed)) EXPECT_EQ(outcome.outcome, Outcome::pending);
  EXPECT_EQ(sim_.calls("Instances.delete"), 0);

  for (const auto& [node, outcome] : start(*starting, launches)) EXPECT_EQ(outcome.outcome, Outcome::ready);
  listed = other->list();
  ASSERT_THAT(listed, SizeIs(2));
  for (const auto& machine : listed) EXPECT_EQ(machine.zone.find("us-central1"), 0U) << machine.id;
  EXPECT_TRUE(state_.assignments("p-g").empty());
  EXPECT_EQ(stop(*other, "p-g-0").at("p-g-0").outcome, Outcome::ready);
}

TEST_F(GceClaims, AClaimIsOfItsGroupAndEndsWithItsProcess) {
  auto starting = provider();
  EXPECT_TRUE(starting->claim(std::vector{launch("p-g-0")}));
  EXPECT_THAT(provider("{}", "g2")->list(), IsEmpty());
  starting.reset();
  EXPECT_THAT(provider()->list(), IsEmpty());
  EXPECT_EQ(stop(*provider(), "p-g-0").at("p-g-0").outcome, Outcome::ready);
}

TEST_F(GceClaims, WhatDeadProcessesClaimedIsForgottenByTheNextClaim) {
  provider()->claim(std::vector{launch("p-g-0")});
  EXPECT_THAT(state_.assignments("p-g"), SizeIs(1));
  const auto next = provider();
  next->claim(std::vector{launch("p-g-[1-2]")});
  EXPECT_THAT(state_.assignments("p-g"), SizeIs(2));
}

TEST_F(GceClaims, AnInstanceGroupWithoutItsRequestIsOfARunningLaunch) {
  knobs({{"accepted_ms", nullptr}});
  KilledAt killed(*http_, "/resizeRequests");
  auto starting = provider(kFlex, "g", "test", &killed);
  const std::vector launches{launch("p-g-0", 17)};
  EXPECT_TRUE(starting->claim(launches));
  EXPECT_THROW(start(*starting, launches), Error);  // as long as the object lives it is at work
  const auto other = provider(kFlex);
  auto listed = other->list();
  ASSERT_THAT(listed, SizeIs(2)) << "the group and the claimed node";
  for (const auto& machine : listed) EXPECT_TRUE(state_.running("p-g", machine.launch)) << machine.id;
  starting.reset();
  listed = other->list();
  ASSERT_THAT(listed, SizeIs(1));
  EXPECT_FALSE(state_.running("p-g", listed[0].launch));
}

}  // namespace
}  // namespace burst::gce
