// SPDX-License-Identifier: Apache-2.0
// soperator's objects, read and edited without harm to what others keep in them.
#include "providers/kubernetes/node_set_power_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"

namespace burst::kubernetes {
namespace {

using nlohmann::json;

std::string state(const char* changes = "{}") {
  json document = json::parse(R"({"apiVersion": "slurm.nebius.ai/v1alpha1", "kind": "NodeSetPowerState",
    "metadata": {"name": "p-g", "resourceVersion": "7", "finalizers": ["x"]},
    "spec": {"nodeSetRef": "p-g", "activeNodes": [5, 0, 3, 5], "new": {"a": null}}, "status": {"activeCount": 3}})");
  document.merge_patch(json::parse(changes));
  return document.dump();
}

TEST(NodeSetPowerState, ActiveNodesAreASet) {
  auto read = PowerState::parse(state());
  EXPECT_THAT(read.active(), testing::ElementsAre(0, 3, 5));
  EXPECT_FALSE(read.add({3}));
  EXPECT_TRUE(read.add({3, 1}));
  EXPECT_FALSE(read.remove({2}));
  EXPECT_TRUE(read.remove({2, 5}));
  EXPECT_EQ(json::parse(read.body())["spec"]["activeNodes"], json({0, 1, 3}));
}

TEST(NodeSetPowerState, WhatOthersKeepInItStaysAsItIs) {
  auto read = PowerState::parse(state());
  read.add({9});
  json expected = json::parse(state());
  expected["spec"]["activeNodes"] = {0, 3, 5, 9};
  EXPECT_EQ(json::parse(read.body()), expected) << "the version too: the server compares it";
}

TEST(NodeSetPowerState, NobodyIsActiveWhereNoListIs) {
  EXPECT_TRUE(PowerState::parse(state(R"({"spec": {"activeNodes": null}})")).active().empty());
  auto bare = PowerState::parse(state(R"({"spec": null})"));
  EXPECT_TRUE(bare.active().empty());
  bare.add({2});
  EXPECT_EQ(json::parse(bare.body())["spec"]["activeNodes"], json({2}));
}

TEST(NodeSetPowerState, ANewOneHasNoVersionAndTheWantedNodes) {
  auto made = PowerState::create("slurm", "p-g");
  EXPECT_FALSE(made.exists());
  EXPECT_TRUE(made.add({4, 2}));
  EXPECT_EQ(json::parse(made.body()),
            json::parse(R"({"apiVersion": "slurm.nebius.ai/v1alpha1", "kind": "NodeSetPowerState",
                            "metadata": {"name": "p-g", "namespace": "slurm"},
                            "spec": {"nodeSetRef": "p-g", "activeNodes": [2, 4]}})"));
}

TEST(NodeSetPowerState, WhatCouldNotBeWrittenBackSafelyIsRefused) {
  for (const std::string& body :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"kind": "Status"})"),
        state(R"({"metadata": {"resourceVersion": null}})"), state(R"({"metadata": 3})"), state(R"({"spec": 3})"),
        state(R"({"spec": {"activeNodes": {"a": 1}}})"), state(R"({"spec": {"activeNodes": [1, "2"]}})"),
        state(R"({"spec": {"activeNodes": [1.5]}})"), state().substr(0, 100)}) {
    try {
      PowerState::parse(body);
      FAIL() << body;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "InvalidReply");
    }
  }
}

TEST(NodeSetPowerState, ANodeSetSaysHowManyAndWhetherEachCanBeOff) {
  const auto read = parse_node_set(R"({"kind": "NodeSet", "spec": {"replicas": 16, "ephemeralNodes": true}})");
  EXPECT_EQ(read.replicas, 16);
  EXPECT_TRUE(read.ephemeral);
  EXPECT_FALSE(parse_node_set(R"({"kind": "NodeSet", "spec": {"replicas": 1}})").ephemeral);
  for (const char* body : {"", "{}", R"({"kind": "NodeSet"})", R"({"kind": "NodeSet", "spec": {"replicas": "3"}})",
                           R"({"kind": "NodeSet", "spec": {"replicas": -1}})"})
    EXPECT_THROW(parse_node_set(body), Error) << body;
}

TEST(NodeSetPowerState, APodsOrdinalIsWrittenAsKubernetesWritesIt) {
  EXPECT_EQ(ordinal_in("p-g-0", "p-g"), 0);
  EXPECT_EQ(ordinal_in("p-g-120", "p-g"), 120);
  for (const char* name : {"p-g", "p-g-", "p-g-03", "p-g--1", "p-g-1a", "p-g-a-1", "p-h-1", "p-g1",
                           "p-g-99999999999999999999", "x-p-g-1", ""})
    EXPECT_FALSE(ordinal_in(name, "p-g")) << name;
}

}  // namespace
}  // namespace burst::kubernetes
