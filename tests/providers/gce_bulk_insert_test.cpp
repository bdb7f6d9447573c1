// SPDX-License-Identifier: Apache-2.0
// Starting and ending machines that Google gives at once, on the simulated Compute Engine.
#include "providers/gce_fixture.h"

namespace burst::gce {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class GceBulkInsert : public GceFixture {};

TEST_F(GceBulkInsert, MachinesBearLabelsFromTheirCreationAndAreCalledAsTheirNodes) {
  config_.machine_tags = {{"team", "hpc"}};
  const auto outcomes = start(*provider(), {launch("p-g-[0-1]", 17)});
  for (const auto& [node, outcome] : outcomes) {
    EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.message;
    EXPECT_EQ(outcome.machine.hostname, node);
    EXPECT_EQ(outcome.machine.job, 17U);
  }
  for (const auto& machine : sim_.alive("gce")) {
    EXPECT_EQ(machine["labels"]["burst-cluster"], "test");
    EXPECT_EQ(machine["labels"]["burst-job"], "17");
    EXPECT_EQ(machine["labels"]["team"], "hpc");
    EXPECT_EQ(machine["labels"]["burst-launch"], outcomes.at(machine["name"]).machine.launch);
  }
}

TEST_F(GceBulkInsert, OneZoneIsAskedByItself) {
  start(*provider(R"({"Zones": ["us-central1-b"]})"), {launch("p-g-0")});
  EXPECT_EQ(sim_.calls("Instances.bulkInsert"), 1);
  EXPECT_EQ(sim_.calls("Regioninstances.bulkInsert"), 0);
  EXPECT_EQ(sim_.alive("gce")[0]["zone"], "us-central1-b");
}

TEST_F(GceBulkInsert, AllZonesOfTheRegionServeAGroupThatNamesNone) {
  EXPECT_EQ(start(*provider(R"({"Zones": []})"), {launch("p-g-0")}).at("p-g-0").outcome, Outcome::ready);
}

TEST_F(GceBulkInsert, ManyNodesCostFewCallsAndEveryPageIsRead) {
  const auto cloud = provider();
  for (const auto& [node, outcome] : start(*cloud, {launch("p-g-[0-1000]")}))
    ASSERT_EQ(outcome.outcome, Outcome::ready) << outcome.message;
  EXPECT_EQ(sim_.calls("Regioninstances.bulkInsert"), 1);
  EXPECT_LE(sim_.calls("Instances.aggregatedList"), 3) << "pages of 500";
  EXPECT_LE(sim_.calls("Regionoperations.wait"), 1);
  EXPECT_EQ(sim_.calls("Zoneoperations.list"), 0) << "nothing is missing";
  EXPECT_THAT(cloud->list(), SizeIs(1001));
  for (const auto& [node, outcome] : stop(*cloud, "p-g-[0-1000]")) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_EQ(sim_.calls("Instances.delete"), 1001);
  EXPECT_THAT(alive(), IsEmpty());
}

TEST_F(GceBulkInsert, SpotMachinesAreSpotMachines) {
  start(*provider(R"({"ProvisioningModel": "SPOT"})"), {launch("p-g-0")});
  EXPECT_EQ(sim_.alive("gce")[0]["model"], "SPOT");
}

TEST_F(GceBulkInsert, LaunchesAreAskedForSideBySideAndOnesFailureTouchesNoOther) {
  sim_.fault({{"action", "Regioninstances.bulkInsert"}, {"kind", "error"}, {"code", "invalid"}, {"status", 400}});
  int ready = 0, refused = 0;
  for (const auto& [node, outcome] : start(*provider(), {launch("p-g-0"), launch("p-g-1"), launch("p-g-2")})) {
    ready += outcome.outcome == Outcome::ready ? 1 : 0;
    refused += outcome.outcome == Outcome::rejected && outcome.code == "invalid" ? 1 : 0;
  }
  EXPECT_EQ(ready, 2);
  EXPECT_EQ(refused, 1);
}

TEST_F(GceBulkInsert, QuotaIsToldAsQuotaWithTheOperationsName) {
  knobs({{"quota", {{"vms", 2}}}});
  const auto outcomes = start(*provider(), {launch("p-g-[0-2]")});
  int ready = 0;
  for (const auto& [node, outcome] : outcomes) {
    if (outcome.outcome == Outcome::ready) {
      ++ready;
    } else {
      EXPECT_EQ(outcome.outcome, Outcome::over_quota);
      EXPECT_THAT(outcome.code, testing::AnyOf("QUOTA_EXCEEDED", "quotaExceeded"));
      EXPECT_THAT(outcome.message, HasSubstr("(operation "));
    }
  }
  EXPECT_EQ(ready, 2);
}

TEST_F(GceBulkInsert, AMissedMinimumIsToldByItsCause) {
  knobs({{"capacity", {{{"where", "us-central1"}, {"available", 2}, {"code", "ZONE_RESOURCE_POOL_EXHAUSTED"}}}}});
  for (const auto& [node, outcome] : start(*provider(), {launch("p-g-[0-2]", 17, true)}))
    EXPECT_EQ(outcome.code, "ZONE_RESOURCE_POOL_EXHAUSTED") << outcome.message;
  EXPECT_THAT(alive(), IsEmpty());
}

TEST_F(GceBulkInsert, AnOperationThatFailsWithoutTellingOfItsMachinesIsNoSilence) {
  knobs({{"insert_operations", false}, {"capacity", {{{"where", "us-central1"}, {"available", 0}}}}});
  for (const auto& [node, outcome] : start(*provider(), {launch("p-g-[0-1]")})) {
    EXPECT_EQ(outcome.outcome, Outcome::no_capacity);
    EXPECT_EQ(outcome.code, "VM_MIN_COUNT_NOT_REACHED");
    EXPECT_THAT(outcome.message, HasSubstr("(operation "));
  }
}

TEST_F(GceBulkInsert, WhatTheOperationSaysOfAllIsToldOfAll) {
  sim_.fault({{"action", "Regioninstances.bulkInsert"},
              {"kind", "operation_error"},
              {"code", "PERMISSIONS_ERROR"},
              {"message", "Required 'compute.instances.create'"}});
  const auto outcome = start(*provider(), {launch("p-g-0")}).at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::rejected);
  EXPECT_EQ(outcome.code, "PERMISSIONS_ERROR");
  EXPECT_THAT(outcome.message, HasSubstr("compute.instances.create"));
}

TEST_F(GceBulkInsert, ADeadlineThatPassesWhileGoogleWorksLeavesTheNodesToWhatListSays) {
  knobs({{"operation_ms", 100}});
  for (const bool all_or_nothing : {false, true}) {
    SilentFrom silent(*http_, "/wait");
    const std::string nodes = all_or_nothing ? "p-g-[2-3]" : "p-g-[0-1]";
    for (const auto& [node, outcome] :
         start(*provider("{}", "g", "test", &silent), {launch(nodes, 17, all_or_nothing)})) {
      EXPECT_EQ(outcome.outcome, Outcome::pending) << node;
      EXPECT_EQ(outcome.code, "NotListed");
    }
  }
  EXPECT_THAT(provider()->list(), SizeIs(4));
}

TEST_F(GceBulkInsert, AnUnansweredLaunchThatListsShowIsReady) {
  knobs({{"operation_ms", 100}});
  sim_.fault({{"action", "Regionoperations.wait"}, {"kind", "error"}, {"code", "notFound"}, {"status", 404}});
  for (const auto& [node, outcome] : start(*provider(), {launch("p-g-[0-1]")}))
    EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.message;
}

TEST_F(GceBulkInsert, ANameThatAnotherOwnsIsRefusedAndItsMachineLives) {
  start(*provider("{}", "g", "elsewhere"), {launch("p-g-1")});
  const auto outcomes = start(*provider(), {launch("p-g-[1-2]")});
  EXPECT_EQ(outcomes.at("p-g-1").outcome, Outcome::rejected);
  EXPECT_EQ(outcomes.at("p-g-1").code, "RESOURCE_ALREADY_EXISTS");
  EXPECT_THAT(outcomes.at("p-g-1").message, HasSubstr("does not own"));
  EXPECT_EQ(outcomes.at("p-g-2").outcome, Outcome::ready);
  EXPECT_THAT(alive(), UnorderedElementsAre("p-g-1", "p-g-2"));
}

TEST_F(GceBulkInsert, ANodeWhoseMachineIsStillBeingDeletedWaitsForItsName) {
  sim_.knobs({{"terminate_ms", 1500}});
  const auto cloud = provider();
  start(*cloud, {launch("p-g-[0-1]")});
  stop(*cloud, "p-g-0");
  const auto next = provider();
  const auto listed = next->list();
  EXPECT_TRUE(std::ranges::any_of(listed, [](const auto& machine) { return machine.state == MachineState::stopping; }));
  const auto outcomes = start(*next, {launch("p-g-[0,2]")});
  EXPECT_EQ(outcomes.at("p-g-0").outcome, Outcome::ready) << outcomes.at("p-g-0").message;
  EXPECT_EQ(outcomes.at("p-g-2").outcome, Outcome::ready);
  EXPECT_THAT(alive(), UnorderedElementsAre("p-g-0", "p-g-1", "p-g-2"));
}

TEST_F(GceBulkInsert, AZoneOutOfReachIsAnErrorAndAnotherRegionsIsNot) {
  start(*provider(), {launch("p-g-0")});
  knobs({{"unreachable", {"europe-west4-a"}}});
  EXPECT_THAT(provider()->list(), SizeIs(1));
  knobs({{"unreachable", {"us-central1-f"}}});
  EXPECT_THROW(provider()->list(), Error);
}

TEST_F(GceBulkInsert, AnInstanceThatStoppedHasFailedAndIsEnded) {
  const auto cloud = provider();
  start(*cloud, {launch("p-g-[0-1]")});
  sim_.post("/_control/gce/instances/p-g-0", {{"action", "stop"}});
  ASSERT_TRUE(eventually([&] {
    const auto machines = cloud->list();
    return std::ranges::any_of(machines, [](const auto& machine) { return machine.state == MachineState::failed; });
  }));
  EXPECT_EQ(stop(*cloud, "p-g-0").at("p-g-0").outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return cloud->list().size() == 1; }));
}

}  // namespace
}  // namespace burst::gce
