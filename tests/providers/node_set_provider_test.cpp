// SPDX-License-Identifier: Apache-2.0
// Node groups that soperator runs, where its own power manager goes wrong.
#include "burst/error.h"
#include "providers/node_set_fixture.h"

namespace burst::kubernetes {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class NodeSetProviderTest : public NodeSetFixture {};

/// As the operator would: the pods of those that are active.
std::function<void()> running_pods(FakeNodeSetServer& server) {
  return [&server] {
    for (const auto& ordinal : server.active())
      if (!server.pods.contains(fmt::format("p-g-{}", ordinal.get<int>()))) server.add_pod(ordinal.get<int>());
  };
}

TEST_F(NodeSetProviderTest, AStartMakesNodesActiveAndWaitsForTheirAddresses) {
  server_.set_active({1});
  server_.before_list = running_pods(server_);
  const auto outcomes = start({launch("p-g-[3,5]")});
  EXPECT_EQ(server_.active(), json({1, 3, 5}));
  for (const char* node : {"p-g-3", "p-g-5"}) {
    EXPECT_EQ(outcomes.at(node).outcome, Outcome::ready);
    EXPECT_EQ(outcomes.at(node).machine.job, 17U);
  }
  EXPECT_EQ(outcomes.at("p-g-3").machine.address, "10.0.0.3");
  EXPECT_EQ(outcomes.at("p-g-3").machine.hostname, "p-g-3");
  EXPECT_THAT(told_, UnorderedElementsAre("p-g-3", "p-g-5"));
  EXPECT_EQ(server_.written.size(), 1U) << "one write for all nodes";
}

TEST_F(NodeSetProviderTest, AMissingObjectIsMadeWithTheWantedNodes) {
  server_.before_list = running_pods(server_);
  const auto outcomes = start({launch("p-g-[2,4]")});
  EXPECT_EQ(server_.active(), json({2, 4}));
  EXPECT_EQ(outcomes.at("p-g-2").outcome, Outcome::ready);
  EXPECT_THAT(server_.requests, testing::Contains("POST nodesetpowerstates"));
}

TEST_F(NodeSetProviderTest, AMissingObjectIsNotTheWishThatNothingRuns) {
  server_.add_pod(0);
  server_.add_pod(6);
  server_.add_pod(7);
  server_.end_pod(7);
  EXPECT_EQ(list().at("p-g-6").state, MachineState::running);
  EXPECT_EQ(stop("p-g-6").at("p-g-6").code, "PowerStateNotFound");
  EXPECT_EQ(stop("p-g-1").at("p-g-1").outcome, Outcome::ready) << "has no pod";
  EXPECT_EQ(stop("p-g-7").at("p-g-7").outcome, Outcome::ready) << "ends already";
  EXPECT_FALSE(server_.state);
  start({launch("p-g-3")});
  EXPECT_EQ(server_.active(), json({0, 3, 6})) << "nodes that run go on running";
}

TEST_F(NodeSetProviderTest, SomeoneElseMayMakeTheObjectFirst) {
  server_.before_write = [this] {
    if (!server_.state) server_.set_active({7});
  };
  start({launch("p-g-2")});
  EXPECT_EQ(server_.active(), json({2, 7}));
}

TEST_F(NodeSetProviderTest, TheObjectMayVanishInBetween) {
  server_.set_active({7});
  server_.before_write = [this, first = true]() mutable {
    if (std::exchange(first, false)) server_.state.reset();
  };
  start({launch("p-g-2")});
  EXPECT_EQ(server_.active(), json({2}));
}

TEST_F(NodeSetProviderTest, ManyConflictsLoseNobodysNodes) {
  server_.set_active({});
  int others = 0;
  server_.before_write = [&] {
    if (others == 40) return;
    auto active = server_.active().get<std::vector<int>>();
    active.push_back(1'000 + others++);
    server_.set_active(active);
  };
  start({launch("p-g-[2-3]")});
  EXPECT_EQ(server_.active().size(), 42U);
  EXPECT_EQ(server_.written.size(), 1U);
  EXPECT_THAT(world_.clock.sleeps, Each(testing::Le(std::chrono::seconds{2})));
}

TEST_F(NodeSetProviderTest, EndlessConflictsAreAnErrorInTheEnd) {
  server_.set_active({});
  server_.before_write = [&] { server_.set_active({4}); };
  try {
    start({launch("p-g-2")});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "Conflict");
  }
}

TEST_F(NodeSetProviderTest, OthersSeeOnlyWhatTheyWrote) {
  server_.set_active({1});
  start({launch("p-g-2")});
  EXPECT_EQ(server_.state->at("spec").at("later"), json::parse(R"({"kept": [1]})"));
  EXPECT_EQ(server_.state->at("metadata").at("labels"), json::parse(R"({"team": "x"})"));
  for (const auto& request : server_.requests)
    EXPECT_THAT(request, testing::ContainsRegex("^(GET|POST|PUT) ")) << "soperator's role has no patch and no delete";
}

TEST_F(NodeSetProviderTest, UnknownNodesAreRefusedOneByOneAndAtOnce) {
  server_.set_active({});
  server_.before_list = running_pods(server_);
  const auto outcomes = start({launch("p-g-[6-9]")});
  EXPECT_EQ(server_.active(), json({6, 7})) << "activeNodes never goes beyond replicas";
  EXPECT_EQ(outcomes.at("p-g-6").outcome, Outcome::ready);
  EXPECT_EQ(outcomes.at("p-g-8").outcome, Outcome::rejected);
  EXPECT_EQ(outcomes.at("p-g-8").code, "UnknownOrdinal");
  EXPECT_THAT(outcomes.at("p-g-9").message, HasSubstr("8 replicas"));
  world_.clock.sleeps.clear();
  EXPECT_EQ(start({launch("p-g-9")}).at("p-g-9").code, "UnknownOrdinal");
  EXPECT_THAT(world_.clock.sleeps, IsEmpty());
}

TEST_F(NodeSetProviderTest, ANodeSetThatCannotBeSwitchedIsRefusedAtOnce) {
  (*server_.node_set)["spec"]["ephemeralNodes"] = false;
  try {
    start({launch("p-g-1")});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "NotEphemeral");
  }
  server_.node_set.reset();
  try {
    start({launch("p-g-1")});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "NodeSetNotFound");
  }
  EXPECT_THAT(world_.clock.sleeps, IsEmpty());
  EXPECT_THAT(server_.written, IsEmpty());
}

TEST_F(NodeSetProviderTest, WhatTheStatusSaysCountsForNothing) {
  server_.set_active({});
  (*server_.state)["status"] = json::parse(
      R"({"activeCount": 1, "conditions": [{"type": "Ready", "status": "True", "reason": "PowerStateApplied"}]})");
  const auto outcome = start({launch("p-g-2")}).at("p-g-2");
  EXPECT_EQ(outcome.outcome, Outcome::pending);
  EXPECT_EQ(outcome.code, "Queued");
  EXPECT_EQ(outcome.machine.id, "p-g/2");
  EXPECT_EQ(server_.active(), json({2}));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(NodeSetProviderTest, AWaitIsNoLongerThanAddressWait) {
  configure(R"({"AddressWait": 3})");
  server_.set_active({});
  const auto begin = world_.clock.steady;
  start({launch("p-g-2")});
  EXPECT_LE(world_.clock.steady - begin, std::chrono::seconds{3});
  configure(R"({"AddressWait": 0})");
  world_.clock.sleeps.clear();
  start({launch("p-g-3")});
  EXPECT_THAT(world_.clock.sleeps, IsEmpty());
}

TEST_F(NodeSetProviderTest, APodThatFailsIsTheNodesReasonAndItsNumberIsTakenBack) {
  server_.set_active({1});
  server_.before_list = [this] {
    if (!server_.active().size() || server_.active().back() != 5) return;
    server_.add_pod(3);
    server_.add_pod(4, R"({"status": {"phase": "Pending", "podIP": null, "containerStatuses": [{"name": "slurmd",
      "state": {"waiting": {"reason": "InvalidImageName", "message": "couldn't parse image name"}}}]}})");
    server_.add_pod(5, R"({"spec": {"nodeName": null}, "status": {"phase": "Pending", "podIP": null, "conditions":
      [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}]},
      "metadata": {"creationTimestamp": "2026-05-28T20:26:39Z"}})");
  };
  const auto outcomes = start({launch("p-g-[3-5]")});
  EXPECT_EQ(outcomes.at("p-g-3").outcome, Outcome::ready);
  EXPECT_EQ(outcomes.at("p-g-4").outcome, Outcome::rejected);
  EXPECT_EQ(outcomes.at("p-g-4").code, "InvalidImageName");
  EXPECT_EQ(outcomes.at("p-g-5").outcome, Outcome::pending) << "its machine may come";
  EXPECT_EQ(outcomes.at("p-g-5").message, "0/3 nodes");
  EXPECT_EQ(server_.active(), json({1, 3, 5}));
}

json refused_pod(int ordinal, const char* why, const char* time = "2026-05-28T20:26:41Z") {
  return {{"type", "Warning"},
          {"reason", "FailedCreate"},
          {"involvedObject", {{"name", "p-g"}}},
          {"lastTimestamp", time},
          {"message", fmt::format("create Pod p-g-{} in StatefulSet p-g failed error: pods \"p-g-{}\" {}", ordinal,
                                  ordinal, why)}};
}

TEST_F(NodeSetProviderTest, AQuotaIsTheNodesReasonThoughThereIsNoPodToSayIt) {
  world_.clock.wall = std::chrono::sys_seconds{std::chrono::seconds{1'780'000'000}};  // 2026-05-28T20:26:40Z
  server_.set_active({});
  server_.events = {refused_pod(3, "is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"),
                    refused_pod(4, "is forbidden: exceeded quota: q", "2026-05-28T20:00:00Z"),
                    refused_pod(5, "could not be created: the server is currently unable to handle the request")};
  const auto outcomes = start({launch("p-g-[3-5]")});
  EXPECT_EQ(outcomes.at("p-g-3").outcome, Outcome::over_quota);
  EXPECT_EQ(outcomes.at("p-g-3").code, "QuotaExceeded");
  EXPECT_THAT(outcomes.at("p-g-3").message, HasSubstr("used: pods=2"));
  EXPECT_EQ(outcomes.at("p-g-4").outcome, Outcome::pending) << "an old event";
  EXPECT_EQ(outcomes.at("p-g-5").outcome, Outcome::pending) << "the operator tries again";
  EXPECT_EQ(server_.active(), json({4, 5}));
  EXPECT_THAT(list().at("p-g-4").detail, HasSubstr("exceeded quota")) << "for the job's comment";
}

TEST_F(NodeSetProviderTest, AnIncompleteLaunchThatIsToBeWholeKeepsNothing) {
  server_.set_active({});
  server_.before_list = [this] {
    if (server_.active().empty()) return;
    server_.add_pod(3);
    server_.add_pod(4, R"({"status": {"phase": "Failed", "reason": "OutOfpods", "message": "too many pods"}})");
    server_.add_pod(5);
  };
  const auto outcomes = start({launch("p-g-[3-4]", true), launch("p-g-5", true), launch("p-g-[6,9]", true)});
  EXPECT_EQ(outcomes.at("p-g-3").code, "OutOfpods");
  EXPECT_EQ(outcomes.at("p-g-3").outcome, Outcome::no_capacity);
  EXPECT_EQ(outcomes.at("p-g-5").outcome, Outcome::ready);
  EXPECT_EQ(outcomes.at("p-g-6").code, "UnknownOrdinal");
  EXPECT_EQ(server_.active(), json({5}));
  EXPECT_THAT(told_, ElementsAre("p-g-5"));
}

TEST_F(NodeSetProviderTest, APodOfBeforeIsAwaitedUntilItEnds) {
  server_.set_active({});
  server_.add_pod(3);  // taken out, but the operator has not acted
  int lists = 0;
  server_.before_list = [&] {
    if (++lists == 4) server_.end_pod(3);
    if (lists < 6) {
      EXPECT_EQ(server_.active().size(), lists > 4 ? 1U : 0U) << lists;
    }
    if (lists == 6) server_.add_pod(3);
  };
  const auto outcome = start({launch("p-g-3")}).at("p-g-3");
  EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_EQ(outcome.machine.id, "p-g-3/uid-3-2") << "the new one";
}

TEST_F(NodeSetProviderTest, APodThatEndsIsNotTakenForTheOneThatIsAwaited) {
  server_.set_active({});
  server_.add_pod(3);
  server_.end_pod(3);
  const auto outcome = start({launch("p-g-3")}).at("p-g-3");
  EXPECT_EQ(outcome.outcome, Outcome::pending);
  EXPECT_EQ(outcome.machine.id, "p-g/3");
  EXPECT_EQ(server_.active(), json({3})) << "soperator makes the new one as soon as the name is free";
}

TEST_F(NodeSetProviderTest, APodOfBeforeThatStaysCostsItsNodeOnly) {
  server_.set_active({});
  server_.add_pod(3);
  server_.before_list = [this] {
    if (server_.active() == json({4})) server_.add_pod(4);
  };
  const auto outcomes = start({launch("p-g-[3-4]")});
  EXPECT_EQ(outcomes.at("p-g-3").code, "PodTerminating");
  EXPECT_EQ(outcomes.at("p-g-4").outcome, Outcome::ready);
  EXPECT_EQ(server_.active(), json({4}));
}

TEST_F(NodeSetProviderTest, PodsThatCannotBeReadLeaveTheirNodesPending) {
  server_.set_active({});
  int lists = 0;
  world_.http.handler = [&](const HttpRequest& request) {
    if (request.url.find("/pods?") == std::string::npos || ++lists == 1) return server_.answer(request);
    HttpResponse refused;
    refused.status = 403;
    return refused;
  };
  EXPECT_EQ(start({launch("p-g-3")}).at("p-g-3").outcome, Outcome::pending);
  EXPECT_EQ(server_.active(), json({3}));
  EXPECT_THAT(world_.log.text(), HasSubstr("looking at the pods"));
}

TEST_F(NodeSetProviderTest, AListJoinsWhatIsWantedAndWhatIsThere) {
  server_.set_active({1, 2, 12});
  server_.add_pod(1);
  server_.add_pod(4);
  server_.add_pod(11);
  server_.pods["stranger"] = server_.pods["p-g-1"];
  server_.pods["stranger"]["metadata"]["name"] = "stranger";
  const auto machines = list();
  EXPECT_EQ(machines.size(), 3U) << "numbers from MaxNodes on are someone else's";
  EXPECT_EQ(machines.at("p-g-1").state, MachineState::running);
  EXPECT_EQ(machines.at("p-g-1").id, "p-g-1/uid-1-1");
  EXPECT_EQ(machines.at("p-g-2").state, MachineState::queued);
  EXPECT_EQ(machines.at("p-g-2").id, "p-g/2");
  EXPECT_EQ(machines.at("p-g-4").state, MachineState::stopping);
}

TEST_F(NodeSetProviderTest, AStopTakesOutItsNodesAndNoOthers) {
  server_.set_active({1, 2, 3, 12});
  const auto outcomes = stop("p-g-[2-3,5]");
  EXPECT_EQ(server_.active(), json({1, 12}));
  EXPECT_EQ(outcomes.at("p-g-2").outcome, Outcome::ready);
  EXPECT_EQ(outcomes.at("p-g-2").machine.id, "p-g/2");
  EXPECT_EQ(outcomes.at("p-g-5").outcome, Outcome::ready);
  EXPECT_EQ(outcomes.at("p-g-5").machine.id, "");
  server_.written.clear();
  stop("p-g-[2-3]");
  EXPECT_THAT(server_.written, IsEmpty()) << "nothing to change";
}

TEST_F(NodeSetProviderTest, AMachineEndsByItsIdUnlessItIsAnotherByNow) {
  server_.set_active({1, 2, 3});
  server_.add_pod(1);
  server_.add_pod(2);
  const auto made = provider();
  const auto machines = made->list();
  ASSERT_EQ(machines.size(), 3U);
  server_.add_pod(2);  // evicted and made anew: another UID
  const auto outcomes = by_node(made->stop_machines(machines));
  EXPECT_EQ(outcomes.size(), 3U);
  for (const auto& [node, outcome] : outcomes) {
    EXPECT_EQ(outcome.outcome, Outcome::ready) << node;
    EXPECT_FALSE(outcome.machine.id.empty()) << node;
  }
  EXPECT_EQ(server_.active(), json({2}));
}

TEST_F(NodeSetProviderTest, AMachineOfAnotherKindIsNotEnded) {
  server_.set_active({1, 12});
  std::vector<Machine> machines(4);
  machines[0].id = "i-0123";
  machines[1].id = "p-g/12";  // beyond MaxNodes
  machines[2].id = "stranger-1/uid";
  machines[3].id = "p-g/x";
  const auto outcomes = provider()->stop_machines(machines);
  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_EQ(outcomes.front().code, "UnknownMachine");
  EXPECT_THAT(server_.written, IsEmpty());
}

TEST_F(NodeSetProviderTest, WithoutAJournalNothingStartsAndEverythingCanBeStopped) {
  server_.set_active({1});
  journal_.unwritable = true;
  const std::vector<Launch> launches{launch("p-g-3")};
  EXPECT_THROW(provider()->claim(launches), Error);
  EXPECT_EQ(stop("p-g-1").at("p-g-1").outcome, Outcome::ready);
  EXPECT_EQ(server_.active(), json::array());
}

TEST_F(NodeSetProviderTest, AClaimedNodeHasAMachineWhileItsLaunchRuns) {
  server_.set_active({});
  const auto launching = provider();
  const std::vector<Launch> launches{launch("p-g-3")};
  EXPECT_TRUE(launching->claim(launches)) << "no lock while pods are awaited";
  EXPECT_EQ(list().at("p-g-3").state, MachineState::starting);
  const auto stopped = stop("p-g-3").at("p-g-3");
  EXPECT_EQ(stopped.outcome, Outcome::pending);
  EXPECT_EQ(stopped.code, "StillStarting");
  const auto claimed = list().at("p-g-3");
  EXPECT_EQ(provider()->stop_machines({&claimed, 1}).front().outcome, Outcome::pending);
  launching->start(launches, [](auto) {});
  EXPECT_EQ(list().at("p-g-3").id, "p-g/3");
  EXPECT_EQ(stop("p-g-3").at("p-g-3").outcome, Outcome::ready);
  EXPECT_THAT(list(), IsEmpty());
}

}  // namespace
}  // namespace burst::kubernetes
