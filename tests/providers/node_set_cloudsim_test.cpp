// SPDX-License-Identifier: Apache-2.0
// Node groups that soperator runs, with its operator simulated behind a real API over TLS.
#include <deque>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/hostlist.h"
#include "fakes/cloudsim_process.h"
#include "fakes/fake_services.h"
#include "fakes/hasty_clock.h"
#include "fakes/temporary_folder.h"
#include "providers/kubernetes/kubernetes_family.h"
#include "system/disk_files.h"
#include "system/spawn_processes.h"
#include "system/state_dir.h"

namespace burst::kubernetes {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class NodeSetOnCloudsim : public testing::Test {
 protected:
  NodeSetOnCloudsim() {
    const std::string kubeconfig = folder_.path() + "/kubeconfig";
    std::ofstream(kubeconfig) << sim_.text("/_control/kubernetes/kubeconfig?user=burst");
    environment_.variables = {{"KUBECONFIG", kubeconfig}};
    net::CurlHttpSettings settings;
    settings.deadline = clock_.steady_now() + std::chrono::minutes{2};
    http_ = net::make_curl_http(settings, clock_, random_, environment_, log_);
    sim_.post("/_control/kubernetes/objects",
              {{"apiVersion", "slurm.nebius.ai/v1alpha1"},
               {"kind", "NodeSet"},
               {"metadata", {{"name", "p-g"}, {"namespace", "slurm"}}},
               {"spec", {{"replicas", 1'000}, {"ephemeralNodes", true}, {"initialNumberEphemeralNodes", 0}}}});
  }

  std::unique_ptr<Provider> provider(int address_wait = 20) {
    NodeGroup& group = groups_.emplace_back();
    group.partition = "p";
    group.name = "g";
    group.max_nodes = 1'000;
    group.provider = "kubernetes";
    group.settings = std::make_shared<const nlohmann::ordered_json>(
        nlohmann::ordered_json{{"Mode", "nodesetpowerstate"}, {"AddressWait", address_wait}});
    families_.push_back(make_family({config_, "test", services(), state_}));
    return families_.back()->provider(group);
  }

  static std::vector<NodeOutcome> start(Provider& provider, const std::string& hostlist) {
    Launch launch;
    launch.nodes = expand_hostlist(hostlist);
    return provider.start({&launch, 1}, [](auto) {});
  }

  std::vector<std::string> alive() {
    std::vector<std::string> names;
    for (const auto& pod : sim_.alive("kubernetes")) names.push_back(pod["metadata"]["name"]);
    return names;
  }

  void knobs(const json& values) { sim_.knobs({{"kubernetes", values}}); }

  /// Asks again until it is so, for at most 20 s: what the operator does by itself.
  template <typename Condition>
  static bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{20});  // polls a condition
    }
    return true;
  }

  Services services() { return {clock_, environment_, files_, *http_, log_, processes_, random_}; }

  CloudsimProcess sim_;
  TemporaryFolder folder_;
  HastyClock clock_;
  SystemRandom random_;
  DiskFiles files_;
  SpawnProcesses processes_;
  FakeEnvironment environment_;
  FakeLog log_;
  Config config_;
  StateDir state_{folder_.path(), files_, clock_};
  std::unique_ptr<HttpClient> http_;

 private:
  std::deque<NodeGroup> groups_;
  std::vector<std::unique_ptr<ProviderFamily>> families_;  // goes before what it uses
};

TEST_F(NodeSetOnCloudsim, NodesComeAndGoByNumber) {
  for (const auto& outcome : start(*provider(), "p-g-[0,5,999]")) {
    EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.node << " " << outcome.code << ": " << outcome.message;
    EXPECT_FALSE(outcome.machine.address.empty());
  }
  EXPECT_THAT(alive(), UnorderedElementsAre("p-g-0", "p-g-5", "p-g-999"));
  for (const auto& machine : provider()->list()) EXPECT_EQ(machine.state, MachineState::running);
  const auto doomed = expand_hostlist("p-g-[0,5]");
  for (const auto& outcome : provider()->stop(doomed)) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return alive() == std::vector<std::string>{"p-g-999"}; }));
  for (const char* call : {"nodesetpowerstates.patch", "nodesetpowerstates.delete", "pods.create", "pods.delete"})
    EXPECT_EQ(sim_.calls(call), 0) << call;
}

TEST_F(NodeSetOnCloudsim, AThousandNodesAreOneWrite) {
  for (const auto& outcome : start(*provider(), "p-g-[0-999]")) ASSERT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_EQ(sim_.calls("nodesetpowerstates.create"), 1);
  EXPECT_EQ(sim_.calls("nodesetpowerstates.update"), 0);
  EXPECT_EQ(provider()->list().size(), 1'000U);
}

TEST_F(NodeSetOnCloudsim, ManyLaunchesAtOnceLoseNoNode) {
  constexpr int launches = 8;
  std::vector<std::unique_ptr<Provider>> providers;
  for (int i = 0; i < launches; ++i) providers.push_back(provider());
  std::vector<std::thread> threads;
  std::vector<int> ready(launches);
  for (int i = 0; i < launches; ++i)
    threads.emplace_back([&, i] {
      for (const auto& outcome :
           start(*providers[static_cast<std::size_t>(i)], fmt::format("p-g-[{}-{}]", i * 10, i * 10 + 4)))
        ready[static_cast<std::size_t>(i)] += outcome.outcome == Outcome::ready ? 1 : 0;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(ready, testing::Each(5));
  EXPECT_EQ(alive().size(), 40U);
}

TEST_F(NodeSetOnCloudsim, ALostReplyToAWriteIsAskedAgain) {
  for (const char* call : {"nodesetpowerstates.create", "nodesetpowerstates.update"})
    sim_.fault({{"action", call}, {"kind", "drop_after"}, {"count", 1}});
  for (const char* node : {"p-g-1", "p-g-2"})
    for (const auto& outcome : start(*provider(), node)) EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.message;
  EXPECT_THAT(alive(), UnorderedElementsAre("p-g-1", "p-g-2"));
}

TEST_F(NodeSetOnCloudsim, AQuotaRefusesWhatIsBeyondAndTakesItBack) {
  sim_.post("/_control/kubernetes/objects", {{"apiVersion", "v1"},
                                             {"kind", "ResourceQuota"},
                                             {"metadata", {{"name", "few"}, {"namespace", "slurm"}}},
                                             {"spec", {{"hard", {{"pods", "2"}}}}}});
  int ready = 0, refused = 0;
  for (const auto& outcome : start(*provider(), "p-g-[0-3]")) {
    ready += outcome.outcome == Outcome::ready ? 1 : 0;
    refused += outcome.outcome == Outcome::over_quota ? 1 : 0;
    if (outcome.outcome != Outcome::ready) {
      EXPECT_EQ(outcome.code, "QuotaExceeded");
      EXPECT_THAT(outcome.message, HasSubstr("limited: pods=2"));
    }
  }
  EXPECT_EQ(ready, 2);
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(provider()->list().size(), 2U) << "soperator must not bring the others later";
}

TEST_F(NodeSetOnCloudsim, APodThatCannotRunIsRefusedWithItsReasonAndOneThatWaitsIsPending) {
  knobs({{"pods",
          {{{"name", "p-g-1"}, {"outcome", "invalid_image_name"}},
           {{"name", "p-g-2"}, {"outcome", "unschedulable"}, {"message", "0/4 nodes are available"}},
           {{"name", "p-g-3"}, {"outcome", "crash_loop"}, {"message", "fatal: no munge key"}}}}});
  const auto made = provider(3);
  std::map<NodeName, NodeOutcome> outcomes;
  Launch launch;
  launch.nodes = expand_hostlist("p-g-[0-3]");
  for (auto& outcome : made->start({&launch, 1}, [](auto) {})) outcomes[outcome.node] = std::move(outcome);
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
  const auto first = start(*provider(), "p-g-4").front();
  ASSERT_EQ(first.outcome, Outcome::ready);
  knobs({{"operator_ms", 700}});  // it acts late: the pod looks well when its node is wanted again
  const auto nodes = expand_hostlist("p-g-4");
  EXPECT_EQ(provider()->stop(nodes).front().outcome, Outcome::ready);
  EXPECT_EQ(provider()->list().front().state, MachineState::stopping);
  const auto second = start(*provider(), "p-g-4").front();
  EXPECT_EQ(second.outcome, Outcome::ready) << second.code << ": " << second.message;
  EXPECT_NE(second.machine.id, first.machine.id);
}

TEST_F(NodeSetOnCloudsim, AnEvictedPodIsAFailedMachineUntilItIsMadeAnew) {
  ASSERT_EQ(start(*provider(), "p-g-4").front().outcome, Outcome::ready);
  sim_.post("/_control/kubernetes/pods/slurm/p-g-4", {{"action", "evict"}});
  const auto machine = provider()->list().front();
  EXPECT_EQ(machine.state, MachineState::failed);
  ASSERT_TRUE(machine.failure);
  EXPECT_EQ(machine.failure->code, "Evicted");
  EXPECT_EQ(provider()->stop_machines({&machine, 1}).front().outcome, Outcome::ready);
  EXPECT_TRUE(eventually([&] { return provider()->list().empty(); }));
}

TEST_F(NodeSetOnCloudsim, WhoMayNotReadIsToldSoAndNothingIsTakenForEmpty) {
  sim_.fault(
      {{"action", "nodesetpowerstates.get"}, {"kind", "error"}, {"code", "Forbidden"}, {"status", 403}, {"count", -1}});
  try {
    (void)provider()->list();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "Forbidden");
  }
  EXPECT_THROW(start(*provider(), "p-g-1"), Error);
  EXPECT_THAT(alive(), IsEmpty());
}

}  // namespace
}  // namespace burst::kubernetes
