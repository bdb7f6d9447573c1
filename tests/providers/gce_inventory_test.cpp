// SPDX-License-Identifier: Apache-2.0
// Which machines a group has by what Google lists, and what their end means for their instance groups.
#include "providers/gce/gce_inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/gce/gce_flex_stop.h"

namespace burst::gce {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const GroupIdentity kIdentity{"test", "p", "g"};

std::chrono::sys_seconds at(long value) { return std::chrono::sys_seconds{seconds{value}}; }

GroupSettings flex_settings() {
  GroupSettings settings;
  settings.model = ProvisioningModel::flex_start;
  settings.boot_timeout = seconds{1'800};
  return settings;
}

Instance instance(const std::string& name, const std::string& group, const std::string& status = "RUNNING") {
  Instance made;
  made.name = made.hostname = name;
  made.zone = "us-central1-a";
  made.status = status;
  made.address = "10.0.0.1";
  made.created = at(1'000);
  made.labels = {{kLaunchLabel, group}, {kJobLabel, "17"}};
  return made;
}

ResizeRequest request(const std::string& state, std::vector<std::string> nodes) {
  return {"nodes", state, std::move(nodes), {}, {}};
}

FlexGroup flex_group(const std::string& name, std::vector<ResizeRequest> requests) {
  return {{name, "", at(500)}, {17, {}}, std::move(requests)};
}

std::vector<Machine> machines(const Inventory& inventory) { return machines_of(inventory, kIdentity, flex_settings()); }

struct StatusCase {
  const char* status;
  MachineState state;
};

TEST(GceInventory, EveryStatusOfAnInstanceHasAState) {
  for (const auto& row :
       {StatusCase{"PROVISIONING", MachineState::starting}, StatusCase{"STAGING", MachineState::starting},
        StatusCase{"RUNNING", MachineState::running}, StatusCase{"REPAIRING", MachineState::running},
        StatusCase{"STOPPING", MachineState::stopping}, StatusCase{"SUSPENDING", MachineState::stopping},
        StatusCase{"PENDING_STOP", MachineState::stopping}, StatusCase{"TERMINATED", MachineState::failed},
        StatusCase{"SUSPENDED", MachineState::failed}, StatusCase{"STOPPED", MachineState::failed}}) {
    const Machine machine = to_machine(instance("p-g-1", "sb-1", row.status), kIdentity);
    EXPECT_EQ(machine.state, row.state) << row.status;
    EXPECT_EQ(machine.failure.has_value(), row.state == MachineState::failed) << row.status;
  }
  EXPECT_EQ(to_machine(instance("p-g-1", "sb-1", "TERMINATED"), kIdentity).failure,
            (MachineFailure{Outcome::rejected, "MachineStopped", "us-central1-a/p-g-1 is TERMINATED"}));
}

TEST(GceInventory, AnInstanceIsItsNodesMachineByNameAndLabel) {
  auto made = instance("p-g-1", "sb-1");
  made.expires = at(9'000);
  const Machine machine = to_machine(made, kIdentity);
  EXPECT_EQ(machine.id, "us-central1-a/p-g-1");
  EXPECT_EQ(machine.node, "p-g-1");
  EXPECT_EQ(machine.launch, "sb-1");
  EXPECT_EQ(machine.job, 17U);
  EXPECT_EQ(machine.expires, at(9'000));
  EXPECT_FALSE(to_machine(instance("p-g2-1", "sb-1"), kIdentity).node) << "another group's node";
  EXPECT_FALSE(to_machine(instance("p-g-x", "sb-1"), kIdentity).node);
}

TEST(GceInventory, NodesOfAnActiveRequestAreQueuedUntilTheyHaveInstances) {
  auto waiting = request("ACCEPTED", {"p-g-1", "p-g-10", "other-1"});
  waiting.last_word = ApiError{"ZONE_RESOURCE_POOL_EXHAUSTED", "none left"};
  const auto found = machines({{instance("p-g-10", "mig")}, {flex_group("mig", {waiting})}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, "us-central1-a/p-g-10");
  EXPECT_EQ(found[0].register_by, at(1'000 + 1'800));
  EXPECT_EQ(found[1].id, "mig/p-g-1");
  EXPECT_EQ(found[1].state, MachineState::queued);
  EXPECT_EQ(found[1].launch, "mig");
  EXPECT_EQ(found[1].created, at(500));
  EXPECT_EQ(found[1].job, 17U);
  EXPECT_EQ(found[1].detail, "ZONE_RESOURCE_POOL_EXHAUSTED: none left");
  EXPECT_FALSE(found[1].register_by);
}

TEST(GceInventory, ANameThatTheRequestDoesNotTellComesFromTheDescription) {
  auto flex = flex_group("mig", {request("CREATING", {})});
  flex.about.nodes = {"p-g-4"};
  const auto found = machines({{}, {flex}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].node, "p-g-4");
}

TEST(GceInventory, NodesOfAFailedRequestHaveFailedWithGooglesCode) {
  auto failed = request("FAILED", {"p-g-1"});
  failed.error = ApiError{"QUOTA_EXCEEDED", "too many"};
  const auto found = machines({{}, {flex_group("mig", {failed})}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].state, MachineState::failed);
  EXPECT_EQ(found[0].failure,
            (MachineFailure{Outcome::over_quota, "QUOTA_EXCEEDED", "resize request of mig: too many"}));
  const auto cancelled = machines({{}, {flex_group("mig", {request("CANCELLED", {"p-g-1"})})}});
  ASSERT_EQ(cancelled.size(), 1U);
  EXPECT_EQ(cancelled[0].failure->code, "ResizeRequestCancelled");
}

TEST(GceInventory, ANodeThatIsAskedForAgainHasNotFailed) {
  const auto found =
      machines({{}, {flex_group("mig", {request("FAILED", {"p-g-1"}), request("ACCEPTED", {"p-g-1"})})}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].state, MachineState::queued);
}

TEST(GceInventory, AMissingRoleOfTheServiceAgentIsExplainedToWhoWaits) {
  auto waiting = request("ACCEPTED", {"p-g-1"});
  waiting.last_word = ApiError{"PERMISSIONS_ERROR", "denied"};
  EXPECT_THAT(machines({{}, {flex_group("mig", {waiting})}})[0].detail,
              testing::HasSubstr("roles/compute.instanceAdmin.v1"));
}

TEST(GceInventory, AnInstanceGroupThatHoldsNothingIsAMachineWithoutANode) {
  for (const auto& requests : {std::vector<ResizeRequest>{}, {request("SUCCEEDED", {"p-g-1"})}}) {
    const auto found = machines({{}, {flex_group("mig", requests)}});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "mig");
    EXPECT_EQ(found[0].launch, "mig");
    EXPECT_EQ(found[0].state, MachineState::queued);
    EXPECT_FALSE(found[0].node);
  }
  EXPECT_EQ(machines({{instance("p-g-1", "mig")}, {flex_group("mig", {request("SUCCEEDED", {"p-g-1"})})}}).size(), 1U);
}

// What the end of machines means.

EndingPlan plan(const Inventory& inventory, const std::set<std::string>& ids) {
  return plan_endings(inventory, ids, kIdentity);
}

TEST(GceEndings, AGroupGoesWhenNothingOfItWouldLiveOn) {
  const Inventory inventory{{instance("p-g-1", "mig"), instance("p-g-2", "mig"), instance("p-g-3", "mig", "STOPPING"),
                             instance("p-g-4", "mig", "TERMINATED")},
                            {flex_group("mig", {request("SUCCEEDED", {"p-g-1", "p-g-2", "p-g-3", "p-g-4"})})}};
  const auto whole = plan(inventory, {"us-central1-a/p-g-1", "us-central1-a/p-g-2"});
  ASSERT_EQ(whole.groups.size(), 1U);
  EXPECT_TRUE(whole.groups[0].whole);
  const auto part = plan(inventory, {"us-central1-a/p-g-1"});
  ASSERT_EQ(part.groups.size(), 1U);
  EXPECT_FALSE(part.groups[0].whole);
  EXPECT_THAT(part.groups[0].instances, ElementsAre("us-central1-a/p-g-1"));
  EXPECT_THAT(part.instances, IsEmpty());
}

TEST(GceEndings, NamesAreComparedWhole) {
  const Inventory inventory{
      {instance("p-g-10", "mig-1")},
      {flex_group("mig-1", {request("SUCCEEDED", {"p-g-10"})}), flex_group("mig-10", {request("ACCEPTED", {"p-g-1"})}),
       flex_group("mig", {request("ACCEPTED", {"p-g-100"})})}};
  const auto ending = plan(inventory, {"mig-10/p-g-1"});
  ASSERT_EQ(ending.groups.size(), 1U);
  EXPECT_EQ(ending.groups[0].flex->group.name, "mig-10");
  EXPECT_THAT(ending.instances, IsEmpty());
}

TEST(GceEndings, AQueuedNodeOfASharedRequestStays) {
  const Inventory inventory{{}, {flex_group("mig", {request("ACCEPTED", {"p-g-1", "p-g-2"})})}};
  const auto part = plan(inventory, {"mig/p-g-1"});
  ASSERT_EQ(part.groups.size(), 1U);
  EXPECT_FALSE(part.groups[0].whole);
  EXPECT_THAT(part.groups[0].stuck, ElementsAre("mig/p-g-1"));
  const auto whole = plan(inventory, {"mig/p-g-1", "mig/p-g-2"});
  ASSERT_EQ(whole.groups.size(), 1U);
  EXPECT_TRUE(whole.groups[0].whole);
}

TEST(GceEndings, AnEmptyGroupGoesByItsOwnIdUnlessItHasFilledMeanwhile) {
  const auto empty = plan({{}, {flex_group("mig", {})}}, {"mig"});
  ASSERT_EQ(empty.groups.size(), 1U);
  EXPECT_TRUE(empty.groups[0].whole);
  EXPECT_THAT(plan({{}, {flex_group("mig", {request("ACCEPTED", {"p-g-1"})})}}, {"mig"}).groups, IsEmpty());
}

TEST(GceEndings, FailedNodesTakeTheirGroupWithThemUnlessOthersLive) {
  const auto gone = plan({{}, {flex_group("mig", {request("FAILED", {"p-g-1", "p-g-2"})})}}, {"mig/p-g-1"});
  ASSERT_EQ(gone.groups.size(), 1U);
  EXPECT_TRUE(gone.groups[0].whole);
}

TEST(GceEndings, AnInstanceWithoutItsGroupIsDeletedByItself) {
  const auto ending = plan({{instance("p-g-1", "gone")}, {}}, {"us-central1-a/p-g-1", "us-central1-a/p-g-9"});
  EXPECT_THAT(ending.instances, UnorderedElementsAre("us-central1-a/p-g-1"));
  EXPECT_THAT(ending.groups, IsEmpty());
}

}  // namespace
}  // namespace burst::gce
