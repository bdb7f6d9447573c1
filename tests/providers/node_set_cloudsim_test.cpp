// SPDX-License-Identifier: Apache-2.0
// Node groups that soperator runs, with its operator simulated behind a real API over TLS.
#include <thread>

#include <fmt/format.h>

#include "providers/kubernetes_fixture.h"

namespace burst::kubernetes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::UnorderedElementsAre;

class NodeSetOnCloudsim : public KubernetesFixture {
 protected:
  NodeSetOnCloudsim() {
    sim_.post("/_control/kubernetes/objects",
              {{"apiVersion", "slurm.nebius.ai/v1alpha1"},
               {"kind", "NodeSet"},
               {"metadata", {{"name", "p-g"}, {"namespace", "slurm"}}},
               {"spec", {{"replicas", 1'000}, {"ephemeralNodes", true}, {"initialNumberEphemeralNodes", 0}}}});
  }

  std::unique_ptr<Provider> node_set(int address_wait = 20) {
    return provider(fmt::format(R"({{"Mode": "nodesetpowerstate", "PodTemplate": null, "GracePeriodSeconds": null,
                                     "AddressWait": {}}})",
                                address_wait)
                        .c_str());
  }
};

TEST_F(NodeSetOnCloudsim, NodesComeAndGoByNumber) {
  for (const auto& [node, outcome] : start(*node_set(), {launch("p-g-[0,5,999]")})) {
    EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.node << " " << outcome.code << ": " << outcome.message;
    EXPECT_FALSE(outcome.machine.address.empty());
  }
  EXPECT_THAT(alive(), UnorderedElementsAre(Key("p-g-0"), Key("p-g-5"), Key("p-g-999")));
  for (const auto& machine : node_set()->list()) EXPECT_EQ(machine.state, MachineState::running);
  for (const auto& [node, outcome] : stop(*node_set(), "p-g-[0,5]")) EXPECT_EQ(outcome.outcome, Outcome::ready) << node;
  EXPECT_TRUE(eventually([&] { return alive().size() == 1 && alive().contains("p-g-999"); }));
  for (const char* call : {"nodesetpowerstates.patch", "nodesetpowerstates.delete", "pods.create", "pods.delete"})
    EXPECT_EQ(sim_.calls(call), 0) << call;
}

TEST_F(NodeSetOnCloudsim, AThousandNodesAreOneWrite) {
  for (const auto& [node, outcome] : start(*node_set(), {launch("p-g-[0-999]")}))
    ASSERT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_EQ(sim_.calls("nodesetpowerstates.create"), 1);
  EXPECT_EQ(sim_.calls("nodesetpowerstates.update"), 0);
  EXPECT_EQ(node_set()->list().size(), 1'000U);
}

TEST_F(NodeSetOnCloudsim, ManyLaunchesAtOnceLoseNoNode) {
  constexpr std::size_t launches = 8;
  std::vector<std::unique_ptr<Provider>> providers;
  for (std::size_t i = 0; i < launches; ++i) providers.push_back(node_set());
  std::vector<std::thread> threads;
  std::vector<std::size_t> ready(launches);
  for (std::size_t i = 0; i < launches; ++i)
    threads.emplace_back([&, i] {
      const auto outcomes = start(*providers[i], {launch(fmt::format("p-g-[{}-{}]", i * 10, i * 10 + 4))});
      for (const auto& [node, outcome] : outcomes) ready[i] += outcome.outcome == Outcome::ready ? 1U : 0U;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(ready, testing::Each(5U));
  EXPECT_EQ(alive().size(), 40U);
}

TEST_F(NodeSetOnCloudsim, ALostReplyToAWriteIsAskedAgain) {
  for (const char* call : {"nodesetpowerstates.create", "nodesetpowerstates.update"})
    sim_.fault({{"action", call}, {"kind", "drop_after"}, {"count", 1}});
  for (const char* wanted : {"p-g-1", "p-g-2"})
    for (const auto& [node, outcome] : start(*node_set(), {launch(wanted)}))
      EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.message;
  EXPECT_THAT(alive(), UnorderedElementsAre(Key("p-g-1"), Key("p-g-2")));
}

TEST_F(NodeSetOnCloudsim, AQuotaRefusesWhatIsBeyondAndTakesItBack) {
  quota(2);
  int ready = 0, refused = 0;
  for (const auto& [node, outcome] : start(*node_set(), {launch("p-g-[0-3]")})) {
    ready += outcome.outcome == Outcome::ready ? 1 : 0;
    refused += outcome.outcome == Outcome::over_quota ? 1 : 0;
    if (outcome.outcome != Outcome::ready) {
      EXPECT_EQ(outcome.code, "QuotaExceeded");
      EXPECT_THAT(outcome.message, HasSubstr("limited: pods=2"));
    }
  }
  EXPECT_EQ(ready, 2);
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(node_set()->list().size(), 2U) << "soperator must not bring the others later";
}

TEST_F(NodeSetOnCloudsim, APodThatCannotRunIsRefusedWithItsReasonAndOneThatWaitsIsPending) {
  knobs({{"pods",
          {{{"name", "p-g-1"}, {"outcome", "invalid_image_name"}},
           {{"name", "p-g-2"}, {"outcome", "unschedulable"}, {"message", "0/4 nodes are available"}},
           {{"name", "p-g-3"}, {"outcome", "crash_loop"}, {"message", "fatal: no munge key"}}}}});
  auto outcomes = start(*node_set(3), {launch("p-g-[0-3]")});
  EXPECT_EQ(outcomes["p-g-0"].outcome, Outcome::ready);
  EXPECT_EQ(outcomes["p-g-1"].code, "InvalidImageName");
  EXPECT_EQ(outcomes["p-g-2"].outcome, Outcome::pending);
  EXPECT_THAT(outcomes["p-g-2"].message, HasSubstr("0/4 nodes"));
  EXPECT_EQ(outcomes["p-g-3"].code, "CrashLoopBackOff");
  EXPECT_THAT(outcomes["p-g-3"].message, HasSubstr("fatal: no munge key"));
  EXPECT_TRUE(eventually([&] { return alive().size() == 2; }));
}

TEST_F(NodeSetOnCloudsim, AResumeWhileTheOldPodIsThereWaitsForTheNewOne) {
  knobs({{"terminate_ms", 1'500}});
  const auto first = start(*node_set(), {launch("p-g-4")}).at("p-g-4");
  ASSERT_EQ(first.outcome, Outcome::ready);
  knobs({{"operator_ms", 700}});  // it acts late: the pod looks well when its node is wanted again
  EXPECT_EQ(stop(*node_set(), "p-g-4").at("p-g-4").outcome, Outcome::ready);
  EXPECT_EQ(node_set()->list().front().state, MachineState::stopping);
  const auto second = start(*node_set(), {launch("p-g-4")}).at("p-g-4");
  EXPECT_EQ(second.outcome, Outcome::ready) << second.code << ": " << second.message;
  EXPECT_NE(second.machine.id, first.machine.id);
}

TEST_F(NodeSetOnCloudsim, AnEvictedPodIsAFailedMachineUntilItIsMadeAnew) {
  ASSERT_EQ(start(*node_set(), {launch("p-g-4")}).at("p-g-4").outcome, Outcome::ready);
  act("p-g-4", {{"action", "evict"}});
  const auto machine = node_set()->list().front();
  EXPECT_EQ(machine.state, MachineState::failed);
  ASSERT_TRUE(machine.failure);
  EXPECT_EQ(machine.failure->code, "Evicted");
  EXPECT_EQ(node_set()->stop_machines({&machine, 1}).front().outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return node_set()->list().empty(); }));
}

TEST_F(NodeSetOnCloudsim, WhoMayNotReadIsToldSoAndNothingIsTakenForEmpty) {
  sim_.fault(
      {{"action", "nodesetpowerstates.get"}, {"kind", "error"}, {"code", "Forbidden"}, {"status", 403}, {"count", -1}});
  try {
    (void)node_set()->list();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "Forbidden");
  }
  EXPECT_THROW(start(*node_set(), {launch("p-g-1")}), Error);
  EXPECT_THAT(alive(), IsEmpty());
}

}  // namespace
}  // namespace burst::kubernetes
