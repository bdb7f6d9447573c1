// SPDX-License-Identifier: Apache-2.0
// An API server in memory that holds one NodeSet of soperator's, and a node group on it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/hostlist.h"
#include "fakes/fake_services.h"
#include "fakes/fake_state_store.h"
#include "providers/kubernetes/node_set_provider.h"

namespace burst::kubernetes {

using nlohmann::json;

/// The NodeSet `p-g` of 8 replicas and what belongs to it. Pods are what a test says: there is no operator.
class FakeNodeSetServer {
 public:
  std::optional<json> node_set = json::parse(R"({"kind": "NodeSet", "metadata": {"name": "p-g"},
                                                 "spec": {"replicas": 8, "ephemeralNodes": true}})");
  std::optional<json> state;         ///< the NodeSetPowerState
  std::map<std::string, json> pods;  ///< by name
  std::vector<json> events;
  std::function<void()> before_write = [] {};  ///< someone else's turn
  std::function<void()> before_list = [] {};   ///< the operator's
  std::vector<json> written;                   ///< bodies of POST and PUT that were taken
  std::vector<std::string> requests;           ///< `GET nodesets`

  void set_active(const std::vector<int>& ordinals) {
    if (!state)
      state = json::parse(R"({"apiVersion": "slurm.nebius.ai/v1alpha1", "kind": "NodeSetPowerState",
        "metadata": {"name": "p-g", "namespace": "slurm", "labels": {"team": "x"}},
        "spec": {"nodeSetRef": "p-g", "later": {"kept": [1]}}, "status": {"activeCount": 0}})");
    (*state)["spec"]["activeNodes"] = ordinals;
    touch();
  }
  json active() const { return state ? state->at("spec").at("activeNodes") : json(); }

  /// A pod of the NodeSet; `status` over that of one that runs.
  json& add_pod(int ordinal, const char* changes = "{}") {
    const auto name = fmt::format("p-g-{}", ordinal);
    json pod = {{"kind", "Pod"},
                {"metadata",
                 {{"name", name},
                  {"uid", fmt::format("uid-{}-{}", ordinal, ++uids_)},
                  {"creationTimestamp", "2026-05-28T20:26:00Z"}}},
                {"spec", {{"nodeName", "worker"}, {"containers", {{{"name", "slurmd"}}}}}},
                {"status",
                 {{"phase", "Running"},
                  {"podIP", fmt::format("10.0.0.{}", ordinal)},
                  {"conditions", {{{"type", "PodScheduled"}, {"status", "True"}}}}}}};
    pod.merge_patch(json::parse(changes));
    return pods[name] = pod;
  }
  void end_pod(int ordinal) {
    pods[fmt::format("p-g-{}", ordinal)]["metadata"]["deletionTimestamp"] = "2026-05-28T20:27:00Z";
  }

  HttpResponse answer(const HttpRequest& request) {
    const std::string& url = request.url;
    const auto has = [&](const char* part) { return url.find(part) != std::string::npos; };
    const char* resource = has("/nodesetpowerstates") ? "nodesetpowerstates"
                           : has("/nodesets/p-g")     ? "nodesets"
                           : has("/pods?")            ? "pods"
                           : has("/events?")          ? "events"
                                                      : "other";
    requests.push_back(request.method + " " + resource);
    if (has("/pods?")) {
      before_list();
      json items = json::array();
      for (const auto& [name, pod] : pods) items.push_back(pod);
      return reply(200, {{"kind", "PodList"}, {"metadata", {{"resourceVersion", "1"}}}, {"items", items}});
    }
    if (has("/events?")) return reply(200, {{"kind", "EventList"}, {"metadata", json::object()}, {"items", events}});
    if (has("/nodesets/p-g")) return node_set ? reply(200, *node_set) : refusal(404, "NotFound");
    if (!has("/nodesetpowerstates")) return refusal(404, "NotFound");
    if (request.method == "GET") return state ? reply(200, *state) : refusal(404, "NotFound");
    before_write();
    return write(request.method, json::parse(request.body));
  }

 private:
  int version_ = 40, uids_ = 0;

  void touch() { (*state)["metadata"]["resourceVersion"] = std::to_string(++version_); }

  HttpResponse write(const std::string& method, const json& body) {
    if (method == "POST") {
      if (state) return refusal(409, "AlreadyExists");
    } else {
      if (!state) return refusal(404, "NotFound");
      if (body.at("metadata").at("resourceVersion") != state->at("metadata").at("resourceVersion"))
        return refusal(409, "Conflict");
    }
    state = body;
    touch();
    written.push_back(body);
    return reply(method == "POST" ? 201 : 200, *state);
  }

  static HttpResponse reply(int status, const json& body) {
    HttpResponse response;
    response.status = status;
    response.body = body.dump();
    return response;
  }
  static HttpResponse refusal(int status, const char* reason) {
    return reply(status, {{"kind", "Status"},
                          {"status", "Failure"},
                          {"reason", reason},
                          {"message", fmt::format("nodesetpowerstates.slurm.nebius.ai \"p-g\": {}", reason)},
                          {"code", status}});
  }
};

class NodeSetFixture : public testing::Test {
 protected:
  NodeSetFixture() {
    world_.http.handler = [this](const HttpRequest& request) { return server_.answer(request); };
    group_.partition = "p";
    group_.name = "g";
    group_.max_nodes = 10;
    group_.provider = "kubernetes";
    configure("{}");
  }

  void configure(const char* settings) {
    auto all = nlohmann::ordered_json::parse(R"({"Mode": "nodesetpowerstate", "Namespace": "slurm"})");
    all.merge_patch(nlohmann::ordered_json::parse(settings));
    group_.settings = std::make_shared<const nlohmann::ordered_json>(std::move(all));
  }

  std::unique_ptr<NodeSetProvider> provider() {
    auth::KubeCluster cluster;
    cluster.server = "https://api.test";
    auto access = std::make_shared<auth::KubeAccess>(cluster, "default", nullptr);
    return std::make_unique<NodeSetProvider>(ProviderContext{config_, "test", world_.services(), journal_}, group_,
                                             std::move(access));
  }

  static Launch launch(const std::string& hostlist, bool all_or_nothing = false) {
    Launch made;
    made.nodes = expand_hostlist(hostlist);
    made.job = 17;
    made.all_or_nothing = all_or_nothing;
    return made;
  }

  static std::map<NodeName, NodeOutcome> by_node(const std::vector<NodeOutcome>& outcomes) {
    std::map<NodeName, NodeOutcome> sorted;
    for (const auto& outcome : outcomes)
      EXPECT_TRUE(sorted.emplace(outcome.node, outcome).second) << "two outcomes for " << outcome.node;
    return sorted;
  }

  std::map<NodeName, NodeOutcome> start(const std::vector<Launch>& launches) {
    told_.clear();
    return by_node(provider()->start(launches, [this](std::span<const NodeOutcome> ready) {
      for (const auto& outcome : ready) told_.push_back(outcome.node);
    }));
  }
  std::map<NodeName, NodeOutcome> stop(const std::string& hostlist) {
    return by_node(provider()->stop(expand_hostlist(hostlist)));
  }
  std::map<NodeName, Machine> list() {
    std::map<NodeName, Machine> machines;
    for (const auto& machine : provider()->list())
      EXPECT_TRUE(machines.emplace(machine.node.value_or("?"), machine).second) << machine.id;
    return machines;
  }

  FakeServices world_;
  FakeNodeSetServer server_;
  FakeLaunchJournal journal_;
  Config config_;
  NodeGroup group_;
  std::vector<NodeName> told_;
};

}  // namespace burst::kubernetes
