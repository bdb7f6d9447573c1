// SPDX-License-Identifier: Apache-2.0
// Flex-start machines on the simulated Compute Engine: asked for, waited for, ended, and nothing left behind.
#include "providers/gce/gce_requests.h"
#include "providers/gce_fixture.h"

namespace burst::gce {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr const char* kFlex = R"({"ProvisioningModel": "FLEX_START", "InstanceTemplate": "flex-template"})";

class GceFlex : public GceFixture {
 protected:
  GceFlex() { knobs({{"accepted_ms", nullptr}}); }  // Google's queue moves when a test says so

  std::unique_ptr<Provider> flex(const std::string& name = "g", const std::string& cluster = "test") {
    return provider(kFlex, name, cluster);
  }
  json groups() { return sim_.get("/_control/gce/migs"); }
  /// Those that nobody is deleting.
  json kept_groups() {
    json kept = json::array();
    for (auto& group : groups())
      if (!group["deleting"].get<bool>()) kept.push_back(group);
    return kept;
  }
  void give(const std::string& group) { change(group, {{"action", "succeed"}}); }
  void change(const std::string& group, const json& change) {
    sim_.post("/_control/gce/resize_requests/" + group, change);
  }
  static std::map<NodeName, Machine> machines_of(Provider& provider) {
    std::map<NodeName, Machine> found;
    for (auto& machine : provider.list())
      EXPECT_TRUE(found.emplace(machine.node.value_or(""), machine).second) << machine.id;
    return found;
  }
};

TEST_F(GceFlex, LaunchesAreWantedByJobAndTheirTimeLimitsWhereTheyCount) {
  EXPECT_TRUE(flex()->launch_needs().by_job);
  EXPECT_FALSE(flex()->launch_needs().job_time_limit);
  EXPECT_TRUE(provider(R"({"ProvisioningModel": "FLEX_START", "FlexStartUseJobDuration": true})")
                  ->launch_needs()
                  .job_time_limit);
  EXPECT_FALSE(provider()->launch_needs().by_job);
}

TEST_F(GceFlex, TwoJobsAreTwoInstanceGroupsAndTheirNodesWait) {
  const auto cloud = flex();
  const auto outcomes = start(*cloud, {launch("p-g-[0-1]", 17), launch("p-g-2", 18)});
  const auto listed = machines_of(*cloud);
  ASSERT_THAT(groups(), SizeIs(2));
  ASSERT_THAT(listed, SizeIs(3));
  for (const auto& [node, outcome] : outcomes) {
    EXPECT_EQ(outcome.outcome, Outcome::pending) << outcome.message;
    EXPECT_EQ(outcome.machine.state, MachineState::queued);
    EXPECT_EQ(outcome.machine.id, listed.at(node).id);
    EXPECT_EQ(listed.at(node).state, MachineState::queued);
    EXPECT_EQ(listed.at(node).job, node == "p-g-2" ? 18U : 17U);
    EXPECT_EQ(listed.at(node).launch, outcome.machine.launch);
  }
  EXPECT_NE(listed.at("p-g-0").launch, listed.at("p-g-2").launch);
  for (const auto& group : groups()) {
    ASSERT_THAT(group["resize_requests"], SizeIs(1));
    EXPECT_EQ(group["resize_requests"][0]["run_seconds"], 604'800);
  }
}

TEST_F(GceFlex, MachinesThatComeBearNameLabelsAddressAndExpiry) {
  const auto cloud = flex();
  const std::string group = start(*cloud, {launch("p-g-[0-1]", 17)}).at("p-g-0").machine.launch;
  give(group);
  ASSERT_TRUE(eventually([&] { return machines_of(*cloud).at("p-g-1").state == MachineState::running; }));
  const auto machine = machines_of(*cloud).at("p-g-1");
  EXPECT_THAT(machine.id, testing::EndsWith("/p-g-1"));
  EXPECT_FALSE(machine.address.empty());
  EXPECT_EQ(machine.launch, group);
  EXPECT_EQ(machine.job, 17U);
  ASSERT_TRUE(machine.expires);
  EXPECT_EQ(*machine.expires - machine.created, std::chrono::seconds{604'800});
  EXPECT_EQ(machine.register_by, machine.created + std::chrono::seconds{1'800});
}

struct Duration {
  const char* settings;
  std::optional<long> limit;
  int seconds;
};

TEST_F(GceFlex, TheRunDurationIsTheGroupsOrTheJobsWithinGooglesBounds) {
  int node = 0;
  for (const auto& row : {Duration{R"({"FlexStartMaxDuration": "30s"})", std::nullopt, 600},
                          Duration{R"({"FlexStartMaxDuration": "599s"})", std::nullopt, 600},
                          Duration{R"({"FlexStartMaxDuration": "172800s"})", 3600, 172'800},
                          Duration{R"({"FlexStartUseJobDuration": true})", 3'600, 5'400},
                          Duration{R"({"FlexStartUseJobDuration": true})", std::nullopt, 604'800},
                          Duration{R"({"FlexStartUseJobDuration": true, "BootTimeout": 60})", 60, 600},
                          Duration{R"({"FlexStartUseJobDuration": true})", 9'999'999, 604'800}}) {
    auto settings = json::parse(kFlex);
    settings.merge_patch(json::parse(row.settings));
    Launch asked = launch("p-g-" + std::to_string(node++), 17);
    if (row.limit) asked.job_time_limit = std::chrono::seconds{*row.limit};
    const auto outcome = start(*provider(settings.dump().c_str()), {asked}).begin()->second;
    ASSERT_EQ(outcome.outcome, Outcome::pending) << outcome.message;
    for (const auto& group : groups()) {
      if (group["name"] != outcome.machine.launch) continue;
      EXPECT_EQ(group["resize_requests"][0]["run_seconds"], row.seconds) << row.settings;
    }
  }
}

TEST_F(GceFlex, AThousandAndOneNodesAreTwoInstanceGroupsAndEveryPageIsRead) {
  const auto cloud = flex();
  for (const auto& [node, outcome] : start(*cloud, {launch("p-g-[0-1000]", 17)}))
    ASSERT_EQ(outcome.outcome, Outcome::pending) << outcome.message;
  ASSERT_THAT(groups(), SizeIs(2));
  EXPECT_THAT(machines_of(*cloud), SizeIs(1001));
  for (const auto& group : groups()) give(group["name"]);
  ASSERT_TRUE(eventually([&] {
    const auto listed = machines_of(*cloud);
    return listed.size() == 1001 &&
           std::ranges::all_of(listed, [](const auto& entry) { return !entry.second.address.empty(); });
  }));
  for (const auto& [node, outcome] : stop(*cloud, "p-g-[0-1000]")) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return groups().empty() && alive().empty(); }));
  EXPECT_EQ(sim_.calls("Instances.delete"), 0) << "no call a node where a group goes as a whole";
  EXPECT_EQ(sim_.calls("Regioninstancegroupmanagers.delete"), 2);
}

TEST_F(GceFlex, ManyInstanceGroupsAreAllRead) {
  std::vector<Launch> launches;
  for (unsigned i = 0; i < 501; ++i) launches.push_back(launch("p-g-" + std::to_string(i), i + 1));
  const auto cloud = flex();
  start(*cloud, launches);
  EXPECT_THAT(groups(), SizeIs(501));
  EXPECT_THAT(machines_of(*cloud), SizeIs(501));
}

TEST_F(GceFlex, GooglesLastWordIsTheDetailOfAMachineThatWaits) {
  const auto cloud = flex();
  const std::string group = start(*cloud, {launch("p-g-0", 17)}).at("p-g-0").machine.launch;
  change(group, {{"action", "attempt_error"}, {"code", "ZONE_RESOURCE_POOL_EXHAUSTED"}, {"message", "none left"}});
  EXPECT_EQ(machines_of(*cloud).at("p-g-0").detail, "ZONE_RESOURCE_POOL_EXHAUSTED: none left");
}

TEST_F(GceFlex, AFailedRequestIsAFailedMachineWhoseEndLeavesNothing) {
  const auto cloud = flex();
  const std::string group = start(*cloud, {launch("p-g-[0-1]", 17)}).at("p-g-0").machine.launch;
  change(group,
         {{"action", "fail"}, {"code", "ZONE_RESOURCE_POOL_EXHAUSTED"}, {"message", "none left"}, {"created", 1}});
  ASSERT_TRUE(eventually([&] { return machines_of(*cloud).at("p-g-0").state == MachineState::failed; }));
  const auto machine = machines_of(*cloud).at("p-g-1");
  ASSERT_TRUE(machine.failure);
  EXPECT_EQ(machine.failure->outcome, Outcome::no_capacity);
  EXPECT_EQ(machine.failure->code, "ZONE_RESOURCE_POOL_EXHAUSTED");
  EXPECT_EQ(cloud->stop_machines(std::vector{machine}).at(0).outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return groups().empty(); }));
  EXPECT_TRUE(cloud->list().empty());
}

struct Refusal {
  json fault;
  Outcome outcome;
  const char* code;
};

TEST_F(GceFlex, ARequestThatIsRefusedLeavesNoInstanceGroupAndTouchesNoOther) {
  const std::vector<Refusal> refusals{
      {{{"kind", "error"}, {"code", "invalid"}, {"status", 400}}, Outcome::rejected, "invalid"},
      {{{"kind", "error"}, {"code", "forbidden"}, {"status", 403}}, Outcome::rejected, "forbidden"},
      {{{"kind", "error"}, {"code", "quotaExceeded"}, {"status", 403}}, Outcome::over_quota, "quotaExceeded"},
      {{{"kind", "throttle"}, {"status", 429}}, Outcome::rejected, "rateLimitExceeded"},
      {{{"kind", "error"}, {"code", "backendError"}, {"status", 500}}, Outcome::rejected, "backendError"},
      {{{"kind", "operation_error"}, {"code", "ZONE_RESOURCE_POOL_EXHAUSTED"}},
       Outcome::no_capacity,
       "ZONE_RESOURCE_POOL_EXHAUSTED"}};
  std::vector<Launch> launches;
  for (unsigned i = 0; i < refusals.size(); ++i) {
    launches.push_back(launch("p-g-" + std::to_string(i), i + 1));
    json fault = refusals[i].fault;
    fault["action"] = "Regioninstancegroupmanagerresizerequests.insert";
    fault["count"] = -1;
    fault["match"]["instanceGroupManager"] =
        instance_group_name({"test", "p", "g"}, {"", launches.back().nodes, launches.back().job, false}, 0);
    sim_.fault(fault);
  }
  launches.push_back(launch("p-g-9", 99));
  const auto cloud = flex();
  const auto outcomes = start(*cloud, launches);
  for (unsigned i = 0; i < refusals.size(); ++i) {
    const auto& outcome = outcomes.at("p-g-" + std::to_string(i));
    EXPECT_EQ(outcome.outcome, refusals[i].outcome) << refusals[i].code;
    EXPECT_EQ(outcome.code, refusals[i].code) << outcome.message;
  }
  EXPECT_EQ(outcomes.at("p-g-9").outcome, Outcome::pending);
  EXPECT_TRUE(eventually([&] { return groups().size() == 1; })) << groups();
  EXPECT_THAT(machines_of(*cloud), ElementsAre(testing::Key("p-g-9")));
}

TEST_F(GceFlex, OneRefusalAmongSeveralLaunchesCostsOnlyItsOwn) {
  sim_.fault({{"action", "Regioninstancegroupmanagerresizerequests.insert"},
              {"kind", "error"},
              {"code", "invalid"},
              {"status", 400}});
  const auto cloud = flex();
  int pending = 0, refused = 0;
  for (const auto& [node, outcome] : start(*cloud, {launch("p-g-0", 1), launch("p-g-1", 2), launch("p-g-2", 3)})) {
    pending += outcome.outcome == Outcome::pending ? 1 : 0;
    refused += outcome.outcome == Outcome::rejected ? 1 : 0;
  }
  EXPECT_EQ(pending, 2);
  EXPECT_EQ(refused, 1);
  EXPECT_TRUE(eventually([&] { return groups().size() == 2; }));
}

TEST_F(GceFlex, AnInstanceGroupThatIsRefusedIsToldWithItsCode) {
  sim_.fault({{"action", "Regioninstancegroupmanagers.insert"},
              {"kind", "error"},
              {"code", "quotaExceeded"},
              {"status", 403}});
  EXPECT_EQ(start(*flex(), {launch("p-g-0", 1)}).at("p-g-0").outcome, Outcome::over_quota);
  EXPECT_THAT(groups(), IsEmpty());
}

TEST_F(GceFlex, ALostReplyAsksForNothingTwice) {
  for (const char* action : {"Regioninstancegroupmanagers.insert", "Regioninstancegroupmanagerresizerequests.insert"})
    sim_.fault({{"action", action}, {"kind", "drop_after"}, {"count", 1}});
  const auto cloud = flex();
  EXPECT_EQ(start(*cloud, {launch("p-g-[0-1]", 17)}).at("p-g-0").outcome, Outcome::pending);
  ASSERT_THAT(groups(), SizeIs(1));
  EXPECT_THAT(groups()[0]["resize_requests"], SizeIs(1));
}

TEST_F(GceFlex, AKillBetweenInstanceGroupAndRequestLeavesAMachineWithoutANodeThatCanBeEnded) {
  KilledAt killed(*http_, "/resizeRequests");
  EXPECT_THROW(start(*provider(kFlex, "g", "test", &killed), {launch("p-g-0", 17)}), Error);
  ASSERT_THAT(groups(), SizeIs(1));
  const auto cloud = flex();
  const auto left = cloud->list();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_FALSE(left[0].node);
  EXPECT_EQ(left[0].state, MachineState::queued);
  EXPECT_EQ(left[0].id, groups()[0]["name"]);
  EXPECT_EQ(left[0].launch, left[0].id);
  Machine named_only;
  named_only.id = left[0].id;
  EXPECT_EQ(cloud->stop_machines(std::vector{named_only}).at(0).outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return groups().empty(); }));
}

TEST_F(GceFlex, TheSameLaunchAfterAKillUsesWhatIsThere) {
  KilledAt killed(*http_, "/resizeRequests");
  EXPECT_THROW(start(*provider(kFlex, "g", "test", &killed), {launch("p-g-0", 17)}), Error);
  const auto outcome = start(*flex(), {launch("p-g-0", 17)}).at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::pending) << outcome.message;
  ASSERT_THAT(groups(), SizeIs(1));
  EXPECT_EQ(groups()[0]["name"], outcome.machine.launch);
}

TEST_F(GceFlex, AnotherNameIsTakenWhileTheOldGroupIsBeingDeleted) {
  sim_.knobs({{"terminate_ms", 3000}});
  const auto cloud = flex();
  const std::string first = start(*cloud, {launch("p-g-[0-1]", 17)}).at("p-g-0").machine.launch;
  give(first);
  ASSERT_TRUE(eventually([&] { return machines_of(*cloud).at("p-g-1").state == MachineState::running; }));
  stop(*cloud, "p-g-[0-1]");
  const auto next = flex();  // has not listed: it does not wait for the names
  const auto outcome = start(*next, {launch("p-g-[0-1]", 17)}).at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::pending) << outcome.message;
  EXPECT_NE(outcome.machine.launch, first);
  EXPECT_TRUE(eventually([&] { return groups().size() == 1; }));
}

TEST_F(GceFlex, ADeadlineThatPassesBeforeTheRequestLeavesTheNodesToWhatListSays) {
  SilentFrom silent(*http_, "/resizeRequests");
  const auto outcome = start(*provider(kFlex, "g", "test", &silent), {launch("p-g-0", 17)}).at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::pending);
  const auto left = flex()->list();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_FALSE(left[0].node) << "its request was never made";
}

// Ending.

TEST_F(GceFlex, ASuspendOfOneJobsQueuedNodesLeavesAnothersAlone) {
  const auto cloud = flex();
  const auto outcomes = start(*cloud, {launch("p-g-1", 17), launch("p-g-10", 18), launch("p-g-[11-12]", 19)});
  EXPECT_EQ(stop(*cloud, "p-g-1").at("p-g-1").outcome, Outcome::ready);
  ASSERT_TRUE(eventually([&] { return groups().size() == 2; }));
  const auto listed = machines_of(*cloud);
  EXPECT_THAT(listed, UnorderedElementsAre(testing::Key("p-g-10"), testing::Key("p-g-11"), testing::Key("p-g-12")));
  for (const auto& [node, machine] : listed) EXPECT_EQ(machine.state, MachineState::queued) << node;
  EXPECT_EQ(sim_.calls("Regioninstancegroupmanagerresizerequests.cancel"), 1);
  EXPECT_EQ(sim_.calls("Regioninstancegroupmanagers.delete"), 1);
}

TEST_F(GceFlex, OnlyThisClustersAndGroupsInstanceGroupsAreTouched) {
  start(*flex("g", "elsewhere"), {launch("p-g-1", 17)});
  start(*flex("g2"), {launch("p-g2-1", 17)});
  const auto cloud = flex();
  EXPECT_THAT(cloud->list(), IsEmpty());
  EXPECT_EQ(stop(*cloud, "p-g-1").at("p-g-1").outcome, Outcome::ready);
  EXPECT_THAT(kept_groups(), SizeIs(2));
}

TEST_F(GceFlex, AQueuedNodeWhoseRequestServesOthersStaysUntilItComes) {
  const auto cloud = flex();
  const std::string group = start(*cloud, {launch("p-g-[0-1]", 17)}).at("p-g-0").machine.launch;
  const auto outcome = stop(*cloud, "p-g-0").at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::pending);
  EXPECT_THAT(outcome.message, HasSubstr("other nodes"));
  EXPECT_THAT(kept_groups(), SizeIs(1));
  give(group);
  ASSERT_TRUE(eventually([&] { return machines_of(*cloud).at("p-g-0").state == MachineState::running; }));
  EXPECT_EQ(stop(*cloud, "p-g-0").at("p-g-0").outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return alive().size() == 1; }));
  EXPECT_THAT(alive(), ElementsAre("p-g-1"));
}

TEST_F(GceFlex, APartOfAGroupIsDeletedByItsInstancesAndTheRestByTheGroup) {
  const auto cloud = flex();
  const std::string group = start(*cloud, {launch("p-g-[0-10]", 17)}).at("p-g-0").machine.launch;
  give(group);
  ASSERT_TRUE(eventually([&] { return machines_of(*cloud).at("p-g-10").state == MachineState::running; }));
  EXPECT_EQ(stop(*cloud, "p-g-1").at("p-g-1").outcome, Outcome::ready);
  ASSERT_TRUE(eventually([&] { return alive().size() == 10; }));
  EXPECT_THAT(alive(), Contains("p-g-10"));
  EXPECT_THAT(alive(), testing::Not(Contains("p-g-1")));
  EXPECT_EQ(sim_.calls("Regioninstancegroupmanagers.deleteInstances"), 1);
  EXPECT_EQ(sim_.calls("Regioninstancegroupmanagers.delete"), 0);
  for (const auto& [node, outcome] : stop(*cloud, "p-g-[0,2-10]")) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return groups().empty(); }));
}

TEST_F(GceFlex, MachinesThatExpireLeaveAGroupThatCanBeEnded) {
  const auto cloud = flex();
  const std::string group = start(*cloud, {launch("p-g-0", 17)}).at("p-g-0").machine.launch;
  give(group);
  ASSERT_TRUE(eventually([&] { return machines_of(*cloud).at("p-g-0").state == MachineState::running; }));
  sim_.post("/_control/gce/instances/p-g-0", {{"action", "expire"}});
  ASSERT_TRUE(eventually([&] {
    const auto left = cloud->list();
    return left.size() == 1 && !left[0].node;
  }));
  const auto left = cloud->list();
  EXPECT_EQ(left[0].id, group);
  cloud->stop_machines(left);
  EXPECT_TRUE(eventually([&] { return groups().empty(); }));
}

TEST_F(GceFlex, AMachineThatLostItsLabelsIsStillKnownByItsGroup) {
  const auto cloud = flex();
  const std::string group = start(*cloud, {launch("p-g-[0-1]", 17)}).at("p-g-0").machine.launch;
  give(group);
  ASSERT_TRUE(eventually([&] { return machines_of(*cloud).at("p-g-0").state == MachineState::running; }));
  EXPECT_EQ(sim_.calls("Regioninstancegroupmanagers.listManagedInstances"), 0);
  for (const char* name : {"p-g-0", "p-g-1"})
    sim_.post(std::string("/_control/gce/instances/") + name, {{"labels", json::object()}});
  const auto listed = machines_of(*cloud);
  ASSERT_THAT(listed, UnorderedElementsAre(testing::Key("p-g-0"), testing::Key("p-g-1")));
  EXPECT_EQ(listed.at("p-g-0").launch, group);
  EXPECT_EQ(listed.at("p-g-0").state, MachineState::running);
  EXPECT_TRUE(listed.at("p-g-0").expires);
  EXPECT_EQ(stop(*cloud, "p-g-0").at("p-g-0").outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return alive().size() == 1; }));
  EXPECT_THAT(alive(), ElementsAre("p-g-1"));
}

TEST_F(GceFlex, StopTwiceIsAsGoodAsOnce) {
  const auto cloud = flex();
  start(*cloud, {launch("p-g-[0-1]", 17)});
  for (int i = 0; i < 2; ++i)
    for (const auto& [node, outcome] : stop(*cloud, "p-g-[0-1]"))
      EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.message;
  EXPECT_TRUE(eventually([&] { return groups().empty(); }));
  EXPECT_TRUE(cloud->list().empty());
}

TEST_F(GceFlex, AGroupThatIsBusyIsAskedAgain) {
  const auto cloud = flex();
  start(*cloud, {launch("p-g-0", 17)});
  sim_.fault({{"action", "Regioninstancegroupmanagers.delete"},
              {"kind", "error"},
              {"status", 400},
              {"code", "resourceInUseByAnotherResource"},
              {"count", 2}});
  EXPECT_EQ(stop(*cloud, "p-g-0").at("p-g-0").outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return groups().empty(); }));
}

TEST_F(GceFlex, AGroupThatCannotBeDeletedIsTold) {
  const auto cloud = flex();
  start(*cloud, {launch("p-g-[0-1]", 17)});
  sim_.fault({{"action", "Regioninstancegroupmanagers.delete"},
              {"kind", "error"},
              {"status", 403},
              {"code", "forbidden"},
              {"message", "no"}});
  for (const auto& [node, outcome] : stop(*cloud, "p-g-[0-1]")) {
    EXPECT_EQ(outcome.outcome, Outcome::rejected);
    EXPECT_EQ(outcome.code, "forbidden");
  }
}

TEST_F(GceFlex, RequestsThatCannotBeReadAreNeverNone) {
  const auto cloud = flex();
  start(*cloud, {launch("p-g-0", 17)});
  sim_.fault({{"action", "Regioninstancegroupmanagerresizerequests.list"},
              {"kind", "error"},
              {"status", 403},
              {"code", "forbidden"},
              {"count", -1}});
  EXPECT_THROW(cloud->list(), Error);
  EXPECT_THROW(stop(*cloud, "p-g-0"), Error);
  EXPECT_THAT(kept_groups(), SizeIs(1));
}

TEST_F(GceFlex, AMissingRoleOfTheServiceAgentIsExplained) {
  knobs({{"service_agent_permission", false}, {"accepted_ms", 0}, {"retry_ms", 10}});
  const auto cloud = flex();
  start(*cloud, {launch("p-g-0", 17)});
  ASSERT_TRUE(eventually([&] {
    const auto machine = machines_of(*cloud).at("p-g-0");
    return !machine.detail.empty() || machine.failure;
  }));
  const auto machine = machines_of(*cloud).at("p-g-0");
  EXPECT_THAT(machine.detail + (machine.failure ? machine.failure->message : ""),
              HasSubstr("roles/compute.instanceAdmin.v1"));
}

TEST_F(GceFlex, AllOrNothingOverSeveralRequestsKeepsNothingWhenOneIsRefused) {
  sim_.fault({{"action", "Regioninstancegroupmanagerresizerequests.insert"},
              {"kind", "error"},
              {"code", "invalid"},
              {"status", 400}});
  for (const auto& [node, outcome] : start(*flex(), {launch("p-g-[0-1000]", 17, true)}))
    ASSERT_EQ(outcome.outcome, Outcome::rejected);
  EXPECT_TRUE(eventually([&] { return groups().empty(); }));
}

}  // namespace
}  // namespace burst::gce
