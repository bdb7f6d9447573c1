// SPDX-License-Identifier: Apache-2.0
// Starting pods on the simulated Kubernetes.
#include "providers/kubernetes_fixture.h"

namespace burst::kubernetes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PodStart : public KubernetesFixture {};

TEST_F(PodStart, APodIsCalledAsItsNodeAndBearsLabelsFromItsCreation) {
  const auto outcomes = start(*provider(R"({"Labels": {"team": "hpc"}})"), {launch("p-g-[0-1]", 17)});
  for (const auto& [node, outcome] : outcomes) {
    EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.message;
    EXPECT_EQ(outcome.machine.hostname, node);
    EXPECT_EQ(outcome.machine.job, 17U);
    EXPECT_FALSE(outcome.adopted);
  }
  const auto pods = alive();
  ASSERT_THAT(pods, SizeIs(2));
  for (const auto& [name, pod] : pods) {
    const auto& labels = pod["metadata"]["labels"];
    EXPECT_EQ(labels["slurm-burst/cluster"], "test");
    EXPECT_EQ(labels["slurm-burst/node"], name);
    EXPECT_EQ(labels["team"], "hpc");
    EXPECT_EQ(labels["slurm-burst/launch"], outcomes.at(name).machine.launch);
    EXPECT_EQ(pod["spec"]["hostname"], name);
  }
}

TEST_F(PodStart, AHundredPodsCostAPostEachAndLists) {
  const auto outcomes = start(*provider(R"({"PodsInFlight": 8})"), {launch("p-g-[0-99]")});
  for (const auto& [node, outcome] : outcomes) EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.code;
  EXPECT_EQ(sim_.calls("pods.create"), 100);
  EXPECT_EQ(sim_.calls("pods.get"), 0);
  EXPECT_EQ(sim_.calls("pods.delete"), 0);
  EXPECT_LE(sim_.calls("pods.list"), 20);
  EXPECT_LE(sim_.get("/_control/kubernetes/connections")["peak_connections"], 8);
}

TEST_F(PodStart, WithoutAnAddressWaitNothingIsListed) {
  const auto outcomes = start(*provider(R"({"AddressWait": 0})"), {launch("p-g-[0-3]")});
  for (const auto& [node, outcome] : outcomes) {
    EXPECT_EQ(outcome.outcome, Outcome::pending);
    EXPECT_THAT(outcome.machine.id, HasSubstr(node + "/"));
  }
  EXPECT_EQ(sim_.calls("pods.list"), 0);
}

TEST_F(PodStart, APodThatWaitsForAMachineIsPendingAndTheSchedulersWordsAreTold) {
  knobs({{"pods", {{{"name", "p-g-1"}, {"outcome", "unschedulable"}, {"message", "0/3 nodes are available"}}}}});
  const auto outcomes = start(*provider(R"({"AddressWait": 1})"), {launch("p-g-[0-1]")});
  EXPECT_EQ(outcomes.at("p-g-0").outcome, Outcome::ready);
  EXPECT_EQ(outcomes.at("p-g-1").outcome, Outcome::pending);
  EXPECT_EQ(outcomes.at("p-g-1").code, "Unschedulable");
  EXPECT_THAT(outcomes.at("p-g-1").message, HasSubstr("0/3 nodes are available"));
  EXPECT_THAT(alive(), SizeIs(2));
}

TEST_F(PodStart, APodThatCannotStartIsDeletedAndItsNodeRefused) {
  knobs({{"pods", {{{"name", "p-g-1"}, {"outcome", "invalid_image_name"}}}}});
  const auto outcomes = start(*provider(), {launch("p-g-[0-1]")});
  EXPECT_EQ(outcomes.at("p-g-0").outcome, Outcome::ready);
  EXPECT_EQ(outcomes.at("p-g-1").outcome, Outcome::rejected);
  EXPECT_EQ(outcomes.at("p-g-1").code, "InvalidImageName");
  EXPECT_FALSE(alive().contains("p-g-1"));
  EXPECT_TRUE(alive().contains("p-g-0"));
}

TEST_F(PodStart, AllOrNothingGivesBackWhatCameWhenOnePodCannotStart) {
  knobs({{"start_ms", 600}, {"pods", {{{"name", "p-g-1"}, {"outcome", "invalid_image_name"}}}}});
  const auto outcomes = start(*provider(), {launch("p-g-[0-2]", 1, true), launch("p-g-3", 2)});
  for (const char* node : {"p-g-0", "p-g-1", "p-g-2"}) EXPECT_EQ(outcomes.at(node).code, "InvalidImageName") << node;
  EXPECT_EQ(outcomes.at("p-g-3").outcome, Outcome::ready);
  EXPECT_THAT(alive(), SizeIs(1));
}

TEST_F(PodStart, AfterAQuotaIsUsedUpNoMoreAreAskedFor) {
  quota(2);
  const auto outcomes = start(*provider(R"({"PodsInFlight": 1})"), {launch("p-g-[0-9]")});
  int ready = 0;
  for (const auto& [node, outcome] : outcomes) {
    if (outcome.outcome == Outcome::ready) {
      ++ready;
      continue;
    }
    EXPECT_EQ(outcome.outcome, Outcome::over_quota);
    EXPECT_EQ(outcome.code, "QuotaExceeded");
    EXPECT_THAT(outcome.message, HasSubstr("limited: pods=2"));
  }
  EXPECT_EQ(ready, 2);
  EXPECT_EQ(sim_.calls("pods.create"), 3);
}

TEST_F(PodStart, AWebhooksRefusalIsToldInItsWords) {
  knobs({{"webhooks", {{{"name", "policy.example.com"}, {"message", "no GPU today"}}}}});
  const auto outcome = start(*provider(), {launch("p-g-0")}).at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::rejected);
  EXPECT_EQ(outcome.code, "AdmissionDenied");
  EXPECT_THAT(outcome.message, HasSubstr("POST pod p-g-0 in namespace slurm: "));
  EXPECT_THAT(outcome.message, HasSubstr("no GPU today"));
}

TEST_F(PodStart, ATypoInTheTemplateIsNamedByItsField) {
  write("pod.yaml", "spec: {containers: [{name: slurmd, image: x, resourcess: {}}]}\n");
  const auto outcomes = start(*provider(), {launch("p-g-[0-1]")});
  for (const auto& [node, outcome] : outcomes) {
    EXPECT_EQ(outcome.code, "InvalidTemplate");
    EXPECT_THAT(outcome.message, HasSubstr("resourcess"));
  }
  EXPECT_THAT(all_pods(), IsEmpty());
}

TEST_F(PodStart, ABrokenTemplateFailsTheWholeCallBeforeAnythingIsSent) {
  write("pod.yaml", "spec: [");
  const auto broken = provider();
  EXPECT_THROW(start(*broken, {launch("p-g-0")}), Error);
  EXPECT_EQ(sim_.calls("pods.create"), 0);
  EXPECT_THAT(broken->list(), IsEmpty()) << "what is there can be seen and ended all the same";
}

TEST_F(PodStart, AMissingRoleIsNamedWithTheCommandThatShowsIt) {
  write("kubeconfig", sim_.text("/_control/kubernetes/kubeconfig?user=reader"));
  const auto outcome = start(*provider(), {launch("p-g-0")}).at("p-g-0");
  EXPECT_EQ(outcome.code, "Forbidden");
  EXPECT_THAT(outcome.message, HasSubstr("`kubectl auth can-i create pods -n slurm`"));
}

TEST_F(PodStart, ANamespaceThatIsNotThereIsAConfigurationError) {
  write("kubeconfig", sim_.text("/_control/kubernetes/kubeconfig?user=token"));
  EXPECT_EQ(start(*provider(R"({"Namespace": "nowhere"})"), {launch("p-g-0")}).at("p-g-0").code, "NamespaceNotFound");
}

TEST_F(PodStart, AServerThatIsNotItselfIsAskedAgain) {
  for (const char* kind : {"drop_before", "drop_after", "garbage"})
    sim_.fault({{"action", "pods.create"}, {"kind", kind}, {"count", 1}});
  sim_.fault({{"action", "pods.create"}, {"kind", "error"}, {"code", "InternalError"}, {"status", 500}, {"count", 2}});
  const auto outcomes = start(*provider(), {launch("p-g-[0-7]")});
  for (const auto& [node, outcome] : outcomes) {
    EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.message;
    EXPECT_FALSE(outcome.adopted) << "its own POST made it";
  }
  EXPECT_THAT(alive(), SizeIs(8));
}

TEST_F(PodStart, AServerThatStaysBrokenCostsTheNodesAndSaysWhy) {
  sim_.fault({{"action", "pods.create"}, {"kind", "error"}, {"code", "InternalError"}, {"status", 500}, {"count", -1}});
  const auto outcome = start(*provider(R"({"AddressWait": 0})"), {launch("p-g-0")}).at("p-g-0");
  EXPECT_EQ(outcome.outcome, Outcome::rejected);
  EXPECT_EQ(outcome.code, "ApiUnavailable");
}

TEST_F(PodStart, APodThatIsDeletedWhileItStartsIsRefused) {
  knobs({{"schedule_ms", 60'000}});
  const auto starting = provider();
  std::thread other([&] {
    if (eventually([&] { return alive().contains("p-g-0"); })) act("p-g-0", {{"action", "delete"}});
  });
  const auto outcome = start(*starting, {launch("p-g-0")}).at("p-g-0");
  other.join();
  EXPECT_EQ(outcome.outcome, Outcome::rejected);
  EXPECT_EQ(outcome.code, "PodDeleted");
}

}  // namespace
}  // namespace burst::kubernetes
