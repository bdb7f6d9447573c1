// SPDX-License-Identifier: Apache-2.0
// Ending and listing pods on the simulated Kubernetes.
#include "providers/kubernetes_fixture.h"

namespace burst::kubernetes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PodStop : public KubernetesFixture {};

TEST_F(PodStop, AHundredPodsCostAListAndADeleteEach) {
  start(*provider(), {launch("p-g-[0-99]")});
  const int lists = sim_.calls("pods.list");
  for (const auto& [node, outcome] : stop(*provider(), "p-g-[0-99]")) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_EQ(sim_.calls("pods.list"), lists + 1);
  EXPECT_EQ(sim_.calls("pods.delete"), 100);
  EXPECT_THAT(alive(), IsEmpty());
}

TEST_F(PodStop, ItIsByUidWithTheGroupsGrace) {
  start(*provider(), {launch("p-g-0")});
  const std::string uid = alive().at("p-g-0")["metadata"]["uid"];
  sim_.fault(
      {{"action", "pods.delete"},
       {"kind", "error"},
       {"code", "Forbidden"},
       {"status", 403},
       {"count", 1},
       {"match", {{"preconditions.uid", uid}, {"gracePeriodSeconds", "7"}, {"propagationPolicy", "Background"}}}});
  const auto outcome = stop(*provider(R"({"GracePeriodSeconds": 7})"), "p-g-0").at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::rejected);
  EXPECT_EQ(outcome.code, "Forbidden");
  EXPECT_THAT(outcome.message, HasSubstr("DELETE pod p-g-0 in namespace slurm: "));
  EXPECT_THAT(alive(), SizeIs(1));
}

TEST_F(PodStop, ANewerPodOfThatNameLives) {
  start(*provider(), {launch("p-g-0")});
  const auto machines = provider()->list();
  act("p-g-0", {{"action", "gone"}});
  start(*provider(), {launch("p-g-0")});
  const auto outcomes = provider()->stop_machines(machines);
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_EQ(outcomes[0].outcome, Outcome::ready) << "the one that was meant is gone";
  EXPECT_THAT(alive(), SizeIs(1));
  EXPECT_EQ(sim_.calls("pods.delete"), 1);
}

TEST_F(PodStop, MachinesAreEndedByTheirIdsWithoutAList) {
  start(*provider(), {launch("p-g-[0-2]")});
  const auto machines = provider()->list();
  const int lists = sim_.calls("pods.list");
  for (const auto& outcome : provider()->stop_machines(machines)) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_EQ(sim_.calls("pods.list"), lists);
  EXPECT_THAT(alive(), IsEmpty());
}

TEST_F(PodStop, APodThatIsGoneIsDone) {
  start(*provider(), {launch("p-g-0")});
  const auto machines = provider()->list();
  act("p-g-0", {{"action", "gone"}});
  EXPECT_EQ(provider()->stop_machines(machines).at(0).outcome, Outcome::ready);
}

TEST_F(PodStop, APodThatEndsAlreadyIsNotDeletedAgain) {
  knobs({{"terminate_ms", 60'000}});
  start(*provider(R"({"GracePeriodSeconds": 60})"), {launch("p-g-0")});
  stop(*provider(R"({"GracePeriodSeconds": 60})"), "p-g-0");
  const auto next = provider(R"({"GracePeriodSeconds": 60})");
  const auto listed = next->list();
  ASSERT_THAT(listed, SizeIs(1));
  EXPECT_EQ(listed[0].state, MachineState::stopping);
  EXPECT_EQ(stop(*next, "p-g-0").at("p-g-0").outcome, Outcome::ready);
  EXPECT_EQ(next->stop_machines(listed).at(0).outcome, Outcome::ready);
  EXPECT_EQ(sim_.calls("pods.delete"), 1);
}

TEST_F(PodStop, APodOfAMachineThatIsLostIsNeverForced) {
  knobs({{"pod_gc_ms", -1}});
  start(*provider(), {launch("p-g-0")});
  act("p-g-0", {{"action", "node_lost"}});
  stop(*provider(), "p-g-0");
  clock_.ahead = std::chrono::minutes{10};
  const auto outcome = stop(*provider(), "p-g-0").at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::pending);
  EXPECT_EQ(outcome.code, "PodTerminating");
  // change_state, which has seen the whole pod, says on which machine it was.
  const auto seen = provider();
  const auto outcomes = seen->stop_machines(seen->list());
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_EQ(outcomes[0].code, "PodTerminating");
  EXPECT_THAT(outcomes[0].message, HasSubstr("cloudsim-node-1"));
  EXPECT_EQ(sim_.calls("pods.delete"), 1);
}

TEST_F(PodStop, AListIsReadInPagesAndBegunAnewWhenItIsForgotten) {
  start(*provider(), {launch("p-g-[0-19]")});
  knobs({{"page", 7}});
  EXPECT_THAT(provider()->list(), SizeIs(20));
  sim_.fault(
      {{"action", "pods.list"}, {"kind", "error"}, {"code", "Expired"}, {"status", 410}, {"skip", 1}, {"count", 1}});
  std::set<NodeName> nodes;
  for (const auto& machine : provider()->list()) EXPECT_TRUE(nodes.insert(*machine.node).second) << *machine.node;
  EXPECT_THAT(nodes, SizeIs(20));
}

TEST_F(PodStop, AClaimedNodeHasAMachineUntilItsLaunchIsOver) {
  auto starting = provider();
  EXPECT_TRUE(starting->claim(std::vector{launch("p-g-[0-1]")}));
  const auto listed = provider()->list();
  ASSERT_THAT(listed, SizeIs(2));
  for (const auto& machine : listed) EXPECT_EQ(machine.state, MachineState::starting);
  EXPECT_EQ(stop(*provider(), "p-g-0").at("p-g-0").code, "StillStarting");
  for (const auto& outcome : provider()->stop_machines(listed)) EXPECT_EQ(outcome.outcome, Outcome::pending);
  EXPECT_EQ(sim_.calls("pods.delete"), 0);
  start(*starting, {launch("p-g-[0-1]")});
  EXPECT_EQ(stop(*provider(), "p-g-0").at("p-g-0").outcome, Outcome::ready);
  starting->claim(std::vector{launch("p-g-5")});
  starting.reset();
  EXPECT_EQ(provider()->list().size(), all_pods().size()) << "a claim ends with its process";
}

TEST_F(PodStop, GroupsOfOneServerShareTheirCredentials) {
  auto services = Services{clock_, environment_, files_, *http_, log_, processes_, random_};
  const auto family = make_family({config_, "test", services, state_});
  NodeGroup groups[2];
  for (auto& group : groups) {
    group.partition = "p";
    group.name = &group == &groups[0] ? "a" : "b";
    group.settings =
        std::make_shared<const nlohmann::ordered_json>(nlohmann::ordered_json{{"PodTemplate", "pod.yaml"}});
  }
  const auto first = family->provider(groups[0]);
  write("kubeconfig", "broken");
  EXPECT_THAT(family->provider(groups[1])->list(), IsEmpty()) << "the file is read once";
}

}  // namespace
}  // namespace burst::kubernetes
