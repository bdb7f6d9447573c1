// SPDX-License-Identifier: Apache-2.0
// A node group of Kubernetes on a cloudsim of the test's own.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "burst/hostlist.h"
#include "fakes/cloudsim_process.h"
#include "fakes/fake_services.h"
#include "fakes/temporary_folder.h"
#include "providers/kubernetes/kubernetes_family.h"
#include "system/disk_files.h"
#include "system/spawn_processes.h"
#include "system/state_dir.h"

namespace burst::kubernetes {

using nlohmann::json;

/// The real time, or some time later.
class ShiftedClock : public SystemClock {
 public:
  std::chrono::milliseconds ahead{0};
  std::chrono::sys_time<std::chrono::milliseconds> now() const override { return SystemClock::now() + ahead; }
};

class KubernetesFixture : public testing::Test {
 protected:
  KubernetesFixture() {
    write("kubeconfig", sim_.text("/_control/kubernetes/kubeconfig?user=burst"));
    write("pod.yaml", "spec: {containers: [{name: slurmd, image: registry.example.com/slurmd:1}]}\n");
    environment_.variables = {{"KUBECONFIG", folder_.path() + "/kubeconfig"}};
    config_.partitions_file = folder_.path() + "/partitions.json";
    net::CurlHttpSettings settings;
    settings.deadline = clock_.steady_now() + std::chrono::minutes{2};
    http_ = net::make_curl_http(settings, clock_, random_, environment_, log_);
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_.path() + "/" + name) << text; }

  /// A group `p-NAME` of the cluster.
  std::unique_ptr<Provider> provider(const char* settings = "{}", const std::string& name = "g",
                                     const std::string& cluster = "test") {
    NodeGroup& group = groups_.emplace_back();
    group.partition = "p";
    group.name = name;
    group.max_nodes = 2000;
    group.provider = "kubernetes";
    auto merged = nlohmann::ordered_json::parse(R"({"PodTemplate": "pod.yaml", "GracePeriodSeconds": 1})");
    merged.merge_patch(nlohmann::ordered_json::parse(settings));
    group.settings = std::make_shared<const nlohmann::ordered_json>(std::move(merged));
    const Services services{clock_, environment_, files_, *http_, log_, processes_, random_};
    families_.push_back(make_family({config_, cluster, services, state_}));
    return families_.back()->provider(group);
  }

  static Launch launch(const std::string& hostlist, std::optional<JobId> job = std::nullopt,
                       bool all_or_nothing = false) {
    Launch made;
    made.nodes = expand_hostlist(hostlist);
    made.job = job;
    made.all_or_nothing = all_or_nothing;
    return made;
  }

  static std::map<NodeName, NodeOutcome> by_node(std::vector<NodeOutcome> outcomes) {
    std::map<NodeName, NodeOutcome> sorted;
    for (auto& outcome : outcomes)
      EXPECT_TRUE(sorted.emplace(outcome.node, outcome).second) << "two outcomes for " << outcome.node;
    return sorted;
  }

  static std::map<NodeName, NodeOutcome> start(Provider& provider, const std::vector<Launch>& launches) {
    std::map<NodeName, int> told;
    auto outcomes = by_node(provider.start(launches, [&](std::span<const NodeOutcome> ready) {
      for (const auto& outcome : ready) {
        ++told[outcome.node];
        EXPECT_FALSE(outcome.machine.address.empty()) << outcome.node;
      }
    }));
    std::size_t nodes = 0;
    for (const auto& launch : launches) nodes += launch.nodes.size();
    EXPECT_EQ(outcomes.size(), nodes);
    for (const auto& [node, outcome] : outcomes) {
      EXPECT_EQ(told[node], outcome.outcome == Outcome::ready ? 1 : 0) << node;
      EXPECT_EQ(outcome.message.find('\n'), std::string::npos) << outcome.message;
    }
    return outcomes;
  }

  static std::map<NodeName, NodeOutcome> stop(Provider& provider, const std::string& hostlist) {
    const auto nodes = expand_hostlist(hostlist);
    return by_node(provider.stop(nodes));
  }

  void knobs(const json& values) { sim_.knobs({{"kubernetes", values}}); }
  void quota(int pods) {
    sim_.post("/_control/kubernetes/objects", {{"apiVersion", "v1"},
                                               {"kind", "ResourceQuota"},
                                               {"metadata", {{"name", "compute"}, {"namespace", "slurm"}}},
                                               {"spec", {{"hard", {{"pods", std::to_string(pods)}}}}}});
  }
  /// A pod that somebody else made.
  void foreign_pod(const std::string& name) {
    sim_.post("/_control/kubernetes/objects",
              {{"apiVersion", "v1"},
               {"kind", "Pod"},
               {"metadata", {{"name", name}, {"namespace", "slurm"}}},
               {"spec", {{"containers", {{{"name", "web"}, {"image", "registry.example.com/web:1"}}}}}}});
  }
  json act(const std::string& pod, const json& what) {
    return sim_.post("/_control/kubernetes/pods/slurm/" + pod, what);
  }
  json all_pods() { return sim_.get("/_control/kubernetes/pods")["pods"]; }
  std::map<std::string, json> alive() {
    std::map<std::string, json> pods;
    for (const auto& pod : sim_.alive("kubernetes")) pods[pod["metadata"]["name"]] = pod;
    return pods;
  }

  template <typename Condition>
  bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{20});  // polls a condition
    }
    return true;
  }

  CloudsimProcess sim_;
  TemporaryFolder folder_;
  ShiftedClock clock_;
  SystemRandom random_;
  DiskFiles files_;
  SpawnProcesses processes_;
  FakeEnvironment environment_;
  FakeLog log_;
  Config config_;
  StateDir state_{folder_.path() + "/state", files_, clock_};
  std::unique_ptr<HttpClient> http_;

 private:
  std::deque<NodeGroup> groups_;
  std::vector<std::unique_ptr<ProviderFamily>> families_;  // goes before what it uses
};

}  // namespace burst::kubernetes
