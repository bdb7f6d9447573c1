// SPDX-License-Identifier: Apache-2.0
// A node group of Compute Engine on a cloudsim of the test's own.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
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
#include "providers/gce/gce_family.h"
#include "system/disk_files.h"
#include "system/spawn_processes.h"
#include "system/state_dir.h"

namespace burst::gce {

using nlohmann::json;

/// Real time and HTTP, but a clock whose sleeps a test may shorten.
class HastyClock : public SystemClock {
 public:
  std::chrono::milliseconds longest_sleep{100};
  void sleep_for(std::chrono::milliseconds duration) override {
    SystemClock::sleep_for(std::min(duration, longest_sleep));
  }
};

/// As if the program were killed before the first request whose URL holds a text: it is not sent, nor any after it.
class KilledAt : public HttpClient {
 public:
  KilledAt(HttpClient& inner, std::string text) : inner_(inner), text_(std::move(text)) {}
  std::vector<HttpResponse> send(std::vector<HttpCall> calls) override {
    for (const auto& call : calls) killed_ = killed_ || call.request.url.find(text_) != std::string::npos;
    if (killed_) throw Error("Killed", "killed");
    return inner_.send(std::move(calls));
  }

 private:
  HttpClient& inner_;
  std::string text_;
  bool killed_ = false;
};

/// As if the program's deadline passed before the first request whose URL holds a text: neither it nor a later one is
/// answered.
class SilentFrom : public HttpClient {
 public:
  SilentFrom(HttpClient& inner, std::string text) : inner_(inner), text_(std::move(text)) {}
  std::vector<HttpResponse> send(std::vector<HttpCall> calls) override {
    for (const auto& call : calls) silent_ = silent_ || call.request.url.find(text_) != std::string::npos;
    if (!silent_) return inner_.send(std::move(calls));
    HttpResponse none;
    none.transport_error = "the deadline has passed";
    none.deadline_passed = true;
    return {calls.size(), none};
  }

 private:
  HttpClient& inner_;
  std::string text_;
  bool silent_ = false;
};

class GceFixture : public testing::Test {
 protected:
  GceFixture() {
    environment_.variables = {{"CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE", sim_.url() + "/compute/v1/"},
                              {"GCE_METADATA_HOST", sim_.url().substr(sim_.url().find("//") + 2)}};
    net::CurlHttpSettings settings;
    settings.deadline = clock_.steady_now() + std::chrono::minutes{2};
    http_ = net::make_curl_http(settings, clock_, random_, environment_, log_);
  }

  /// A group `p-NAME` of the cluster; `settings` over those of a group in two zones.
  std::unique_ptr<Provider> provider(const char* settings = "{}", const std::string& name = "g",
                                     const std::string& cluster = "test", HttpClient* http = nullptr) {
    NodeGroup& group = groups_.emplace_back();
    group.partition = "p";
    group.name = name;
    group.max_nodes = 2000;
    group.provider = "gce";
    auto merged = nlohmann::ordered_json::parse(
        R"({"Project": "cloudsim-project", "Region": "us-central1", "Zones": ["us-central1-a", "us-central1-b"],
            "InstanceTemplate": "template-name"})");
    merged.merge_patch(nlohmann::ordered_json::parse(settings));
    group.settings = std::make_shared<const nlohmann::ordered_json>(std::move(merged));
    const Services services{clock_, environment_, files_, http == nullptr ? *http_ : *http, log_, processes_, random_};
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
    auto outcomes = by_node(provider.start(launches, [](auto) {}));
    std::size_t nodes = 0;
    for (const auto& launch : launches) nodes += launch.nodes.size();
    EXPECT_EQ(outcomes.size(), nodes);
    return outcomes;
  }

  static std::map<NodeName, NodeOutcome> stop(Provider& provider, const std::string& hostlist) {
    const auto nodes = expand_hostlist(hostlist);
    return by_node(provider.stop(nodes));
  }

  void knobs(const json& values) { sim_.knobs({{"gce", values}}); }
  std::vector<std::string> alive() {
    std::vector<std::string> names;
    for (const auto& machine : sim_.alive("gce")) names.push_back(machine["name"]);
    return names;
  }

  /// Asks again until it is so, for at most 20 s: what Google does by itself.
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

}  // namespace burst::gce
