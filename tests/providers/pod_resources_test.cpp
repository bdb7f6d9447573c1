// SPDX-License-Identifier: Apache-2.0
// Quantities of Kubernetes, and what a pod's requests are in Slurm's words.
#include "providers/kubernetes/pod_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace burst::kubernetes {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;

PodResources of(const char* containers) {
  return resources_of(Json::parse(std::string(R"({"containers": )") + containers + "}"));
}

TEST(KubernetesQuantity, HasEveryFormOfKubernetes) {
  for (const auto& [text, milli] : std::vector<std::pair<const char*, std::int64_t>>{{"0", 0},
                                                                                     {"1", 1000},
                                                                                     {"500m", 500},
                                                                                     {"0.1", 100},
                                                                                     {"1.5", 1500},
                                                                                     {".5", 500},
                                                                                     {"1n", 1},
                                                                                     {"100u", 1},
                                                                                     {"2k", 2'000'000},
                                                                                     {"1Ki", 1'024'000},
                                                                                     {"1e3", 1'000'000},
                                                                                     {"1E3", 1'000'000},
                                                                                     {"12Gi", 12'884'901'888'000},
                                                                                     {"1M", 1'000'000'000},
                                                                                     {"5.", 5000}}) {
    EXPECT_EQ(milli_quantity(text), milli) << text;
  }
  for (const char* text :
       {"", "-1", "+1", "x", "1x", "1 Gi", " 1", "inf", "nan", "0x10", "1gi", "1mi", "1E", "99E", "1e400"}) {
    const auto found = milli_quantity(text);
    EXPECT_FALSE(found.has_value()) << text << " gave " << found.value_or(0);
  }
}

TEST(PodResources, AreTheSumsOverContainers) {
  const auto sums = of(R"([{"resources": {"requests": {"cpu": "7500m", "memory": "12Gi"}}},
                           {"resources": {"requests": {"cpu": "500m", "memory": "512Mi"}}}, {"name": "none"}])");
  EXPECT_EQ(sums.cpus(), 8);
  EXPECT_EQ(sums.memory_mib, 12'800);
  EXPECT_EQ(sums.gres(), "");
  EXPECT_THAT(sums.problems, IsEmpty());
}

TEST(PodResources, ALimitIsTheRequestWhereThereIsNone) {
  const auto sums = of(R"([{"resources": {"requests": {"cpu": 2}, "limits": {"cpu": 4, "memory": "1G"}}}])");
  EXPECT_EQ(sums.cpus(), 2);
  EXPECT_EQ(sums.memory_mib, 953);
}

TEST(PodResources, CpusAreRoundedDownToOneAtLeast) {
  EXPECT_EQ(of(R"([{"resources": {"requests": {"cpu": "500m"}}}])").cpus(), 1);
  EXPECT_EQ(of(R"([{"resources": {"requests": {"cpu": "3999m"}}}])").cpus(), 3);
  EXPECT_EQ(of(R"([{}])").cpus(), 0);
  EXPECT_FALSE(of(R"([{}])").memory_mib);
}

TEST(PodResources, DevicesBecomeGres) {
  for (const auto& [limits, gres] : std::vector<std::pair<const char*, const char*>>{
           {R"({"nvidia.com/gpu": 8})", "gpu:8"},
           {R"({"nvidia.com/gpu": "4"})", "gpu:4"},
           {R"({"amd.com/gpu": 2})", "gpu:2"},
           {R"({"gpu.intel.com/i915": 1})", "gpu:1"},
           {R"({"google.com/tpu": 4})", "tpu:4"},
           {R"({"aws.amazon.com/neuron": 16})", "neuron:16"},
           {R"({"nvidia.com/mig-1g.5gb": 2})", "gpu:1g.5gb:2"},
           {R"({"nvidia.com/mig-1g.5gb": 2, "nvidia.com/gpu": 1})", "gpu:1,gpu:1g.5gb:2"},
           {R"({"nvidia.com/gpu": 0})", ""},
           {R"({"vpc.amazonaws.com/efa": 4, "ephemeral-storage": "1Gi", "hugepages-2Mi": "1Gi"})", ""}}) {
    EXPECT_EQ(of((std::string(R"([{"resources": {"limits": )") + limits + "}}]").c_str()).gres(), gres) << limits;
  }
  EXPECT_EQ(
      of(R"([{"resources": {"limits": {"nvidia.com/gpu": 1}}}, {"resources": {"limits": {"nvidia.com/gpu": 1}}}])")
          .gres(),
      "gpu:2");
}

TEST(PodResources, DevicesWantALimitAsLargeAsTheirRequest) {
  EXPECT_THAT(
      of(R"([{}, {"resources": {"requests": {"nvidia.com/gpu": 4}, "limits": {"nvidia.com/gpu": "2"}}}])").problems,
      ElementsAre("/spec/containers/1/resources: nvidia.com/gpu has a request of 4 and a limit of 2: Kubernetes "
                  "takes such a resource only with a limit as large as its request"));
  EXPECT_THAT(of(R"([{"resources": {"requests": {"nvidia.com/gpu": 4}}}])").problems,
              ElementsAre(testing::HasSubstr("a request of 4 and a limit of none")));
  EXPECT_THAT(of(R"([{"resources": {"requests": {"nvidia.com/gpu": 4}, "limits": {"nvidia.com/gpu": "4"}}}])").problems,
              IsEmpty());
}

TEST(PodResources, WhatIsNoQuantityIsNamedWithItsPlace) {
  EXPECT_THAT(
      of(R"([{"resources": {"requests": {"cpu": "four", "memory": true}, "limits": {"nvidia.com/gpu": "x"}}}])")
          .problems,
      ElementsAre(
          R"(/spec/containers/0/resources/limits/nvidia.com/gpu: expected a quantity such as 4 or 16Gi, found 'x')",
          R"(/spec/containers/0/resources/requests/cpu: expected a quantity such as 4 or 16Gi, found 'four')",
          "/spec/containers/0/resources/requests/memory: expected a quantity such as 4 or 16Gi, found true"));
}

TEST(PodResources, AnyShapeOfASpecIsBorne) {
  for (const char* containers :
       {"null", "{}", "[]", "[null]", R"([{"resources": []}])", R"([{"resources": {"limits": 1}}])", R"("x")"}) {
    EXPECT_EQ(of(containers).cpus(), 0) << containers;
  }
}

}  // namespace
}  // namespace burst::kubernetes
