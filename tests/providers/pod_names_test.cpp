// SPDX-License-Identifier: Apache-2.0
// Pods whose names are taken when they are to be started, on the simulated Kubernetes.
#include "providers/kubernetes_fixture.h"

namespace burst::kubernetes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PodNames : public KubernetesFixture {
 protected:
  /// A provider that has seen no list: as when the other pod came in between.
  NodeOutcome start_one(const char* settings = "{}") {
    return start(*provider(settings), {launch("p-g-0")}).at("p-g-0");
  }
  std::string uid(const std::string& name) { return alive().at(name)["metadata"]["uid"]; }
};

TEST_F(PodNames, APodOfTheSameTemplateIsAdopted) {
  const auto first = start_one();
  const auto second = start_one();
  EXPECT_EQ(second.outcome, Outcome::ready);
  EXPECT_TRUE(second.adopted);
  EXPECT_EQ(second.machine.id, first.machine.id);
  EXPECT_EQ(second.machine.address, first.machine.address);
  EXPECT_EQ(sim_.calls("pods.delete"), 0);
}

TEST_F(PodNames, AnAdoptedPodWithoutAnAddressIsWaitedFor) {
  knobs({{"start_ms", 800}});
  EXPECT_EQ(start_one(R"({"AddressWait": 0})").outcome, Outcome::pending);
  const auto second = start_one();
  EXPECT_EQ(second.outcome, Outcome::ready) << second.message;
  EXPECT_TRUE(second.adopted);
}

TEST_F(PodNames, APodOfAnotherTemplateIsReplaced) {
  const auto first = start_one();
  write("pod.yaml", "spec: {containers: [{name: slurmd, image: registry.example.com/slurmd:2}]}\n");
  const auto second = start_one();
  EXPECT_EQ(second.outcome, Outcome::ready) << second.code << second.message;
  EXPECT_FALSE(second.adopted);
  EXPECT_NE(second.machine.id, first.machine.id);
  EXPECT_EQ(alive().at("p-g-0")["spec"]["containers"][0]["image"], "registry.example.com/slurmd:2");
}

TEST_F(PodNames, APodThatHasFailedIsReplaced) {
  const auto first = start_one();
  act("p-g-0", {{"action", "evict"}});
  const auto second = start_one();
  EXPECT_EQ(second.outcome, Outcome::ready) << second.code << second.message;
  EXPECT_NE(second.machine.id, first.machine.id);
}

TEST_F(PodNames, SomebodyElsesPodIsLeftAloneAndTheNodeRefused) {
  foreign_pod("p-g-0");
  const auto before = uid("p-g-0");
  const auto outcomes = start(*provider(), {launch("p-g-[0-1]")});
  EXPECT_EQ(outcomes.at("p-g-0").outcome, Outcome::rejected);
  EXPECT_EQ(outcomes.at("p-g-0").code, "NameConflict");
  EXPECT_EQ(outcomes.at("p-g-1").outcome, Outcome::ready);
  EXPECT_EQ(uid("p-g-0"), before);
  EXPECT_THAT(provider()->list(), SizeIs(1)) << "it is not listed either";
}

TEST_F(PodNames, AnotherClustersPodIsSomebodyElses) {
  start(*provider("{}", "g", "elsewhere"), {launch("p-g-0")});
  const auto before = uid("p-g-0");
  EXPECT_EQ(start_one().code, "NameConflict");
  EXPECT_EQ(uid("p-g-0"), before);
}

TEST_F(PodNames, APodThatEndsIsWaitedForAndTheOthersAreNot) {
  knobs({{"terminate_ms", 900}});
  const auto first = start_one();
  stop(*provider(), "p-g-0");
  std::vector<NodeName> told;
  const std::vector launches{launch("p-g-[0-1]")};
  auto outcomes = by_node(provider()->start(launches, [&](std::span<const NodeOutcome> ready) {
    for (const auto& outcome : ready) told.push_back(outcome.node);
  }));
  EXPECT_EQ(outcomes.at("p-g-0").outcome, Outcome::ready) << outcomes.at("p-g-0").code;
  EXPECT_NE(outcomes.at("p-g-0").machine.id, first.machine.id);
  EXPECT_EQ(told, (std::vector<NodeName>{"p-g-1", "p-g-0"}));
}

TEST_F(PodNames, APodThatIsKnownToEndIsNotRunInto) {
  knobs({{"terminate_ms", 700}});
  start_one();
  stop(*provider(), "p-g-0");
  const auto next = provider();
  ASSERT_THAT(next->list(), SizeIs(1));
  const int creates = sim_.calls("pods.create");
  EXPECT_EQ(start(*next, {launch("p-g-0")}).at("p-g-0").outcome, Outcome::ready);
  EXPECT_EQ(sim_.calls("pods.create"), creates + 1);
  EXPECT_EQ(sim_.calls("pods.get"), 0);
}

TEST_F(PodNames, AQuotaThatTheEndingPodStillUsesIsNoReasonToRefuseItsSuccessor) {
  quota(1);
  knobs({{"terminate_ms", 700}});
  start_one();
  const auto next = provider();
  stop(*next, "p-g-0");
  EXPECT_EQ(start(*next, {launch("p-g-0")}).at("p-g-0").outcome, Outcome::ready);
}

TEST_F(PodNames, ANameThatSeemsFreeAfterAllIsAskedForAgain) {
  const auto first = start_one();
  sim_.fault({{"action", "pods.get"}, {"kind", "error"}, {"code", "NotFound"}, {"status", 404}, {"count", 1}});
  EXPECT_EQ(start_one().machine.id, first.machine.id);
  EXPECT_THAT(alive(), SizeIs(1));
}

}  // namespace
}  // namespace burst::kubernetes
