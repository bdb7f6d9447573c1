// SPDX-License-Identifier: Apache-2.0
// What generate_conf is told of a group of pods: derived options, contradictions, what slurmd lacks.
#include "providers/kubernetes/kubernetes_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fakes/fake_services.h"
#include "providers/kubernetes/pod_template_check.h"

namespace burst::kubernetes {
namespace {

using Json = nlohmann::ordered_json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

/// Nothing is missing here.
constexpr const char* kTemplate = R"(
spec:
  containers:
  - name: slurmd
    image: slurmd
    args: [slurmd, -D, -b, -N, $(NODE_NAME)]
    ports: [{containerPort: 6818, hostPort: 6818}]
    resources: {requests: {cpu: 8, memory: 32Gi}, limits: {nvidia.com/gpu: 2}}
    volumeMounts: [{name: munge-key, mountPath: /etc/munge}]
  volumes: [{name: munge-key, secret: {secretName: munge-key}}]
)";

class KubernetesFacts : public testing::Test {
 protected:
  KubernetesFacts() {
    group_.partition = "ai";
    group_.name = "gpu";
    group_.settings = std::make_shared<const Json>(Json::parse(R"({"PodTemplate": "/t.yaml"})"));
  }
  GroupFacts facts(const std::string& text, const SlurmOptions& options = {}) {
    files_.content["/t.yaml"] = text;
    group_.slurm_specifications = options;
    return group_facts(group_, config_, files_);
  }
  std::vector<std::string> warnings(const std::string& text, const SlurmOptions& options = {}) {
    std::vector<std::string> lines;
    for (const auto& problem : facts(text, options).problems) {
      EXPECT_FALSE(problem.fatal) << problem.message;
      lines.push_back(problem.message);
    }
    return lines;
  }
  static std::string with(std::string text, const std::string& old, const std::string& fresh) {
    const auto at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return text.replace(at, old.size(), fresh);
  }

  FakeFiles files_;
  Config config_;
  NodeGroup group_;
};

TEST_F(KubernetesFacts, OptionsComeFromTheRequests) {
  const auto found = facts(kTemplate);
  EXPECT_THAT(found.slurm_specifications,
              ElementsAre(Pair("CPUs", "8"), Pair("RealMemory", "32768"), Pair("Gres", "gpu:2")));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST_F(KubernetesFacts, WhatTheGroupSaysIsNotDerived) {
  const SlurmOptions all{{"cpus", "8"}, {"realmemory", "30000"}, {"GRES", "gpu:h100:2"}};
  EXPECT_THAT(facts(kTemplate, all).slurm_specifications, IsEmpty());
  EXPECT_THAT(warnings(kTemplate, all), IsEmpty());
  EXPECT_THAT(facts(kTemplate, {{"CoresPerSocket", "4"}, {"ThreadsPerCore", "2"}}).slurm_specifications,
              ElementsAre(Pair("RealMemory", "32768"), Pair("Gres", "gpu:2")));
}

TEST_F(KubernetesFacts, MoreThanThePodHasIsWarnedOfWithBothNumbers) {
  EXPECT_THAT(warnings(kTemplate, {{"CPUs", "16"}}),
              ElementsAre("SlurmSpecifications say 16 CPUs, the pod requests 8000m of cpu, which is 8"));
  EXPECT_THAT(warnings(kTemplate, {{"Sockets", "2"}, {"CoresPerSocket", "8"}}),
              ElementsAre(StartsWith("SlurmSpecifications say 16 CPUs")));
  EXPECT_THAT(warnings(kTemplate, {{"RealMemory", "65536"}}),
              ElementsAre(StartsWith("SlurmSpecifications say RealMemory=65536, the pod requests 32768 MiB")));
  EXPECT_THAT(warnings(kTemplate, {{"Gres", "gpu:h100:4,gpu:2(S:0)"}}),
              ElementsAre(StartsWith("SlurmSpecifications say Gres=gpu:h100:4,gpu:2(S:0): 6 of gpu, the pod has 2")));
  EXPECT_THAT(warnings(kTemplate, {{"Gres", "gpu"}}),
              ElementsAre(HasSubstr("1 of gpu, the pod has 2: no job can use")));
  EXPECT_THAT(warnings(kTemplate, {{"Gres", "gpu:2,tpu:1"}}), ElementsAre(HasSubstr("1 of tpu, the pod has 0")));
}

TEST_F(KubernetesFacts, PartsOfACpuAndMissingRequestsAreWarnedOf) {
  const auto found = facts(with(kTemplate, "cpu: 8", "cpu: 7500m"));
  EXPECT_THAT(found.slurm_specifications, Contains(Pair("CPUs", "7")));
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].message, "the pod requests 7500m of cpu, Slurm counts whole ones: CPUs=7");
  const auto none = with(kTemplate, "resources: {requests: {cpu: 8, memory: 32Gi}, limits: {nvidia.com/gpu: 2}}", "");
  EXPECT_THAT(facts(none).slurm_specifications, IsEmpty());
  EXPECT_THAT(warnings(none),
              ElementsAre(StartsWith("no container requests cpu: "), StartsWith("no container requests memory: ")));
  EXPECT_THAT(warnings(none, {{"CPUs", "4"}, {"RealMemory", "1000"}}), IsEmpty());
  EXPECT_THAT(warnings(with(kTemplate, "limits: {nvidia.com/gpu: 2}", "limits: {cpu: x}")), IsEmpty());
  EXPECT_THAT(
      warnings(with(kTemplate, "cpu: 8", "cpu: eight")),
      ElementsAre(StartsWith("no container requests cpu"), StartsWith("/spec/containers/0/resources/requests/cpu")));
}

TEST_F(KubernetesFacts, AnotherGraceThanSuspendsIsWarnedOf) {
  const auto slow = with(kTemplate, "spec:", "spec:\n  terminationGracePeriodSeconds: 300");
  EXPECT_THAT(warnings(slow), ElementsAre("the template says terminationGracePeriodSeconds 300, suspend gives pods "
                                          "GracePeriodSeconds, 30"));
  group_.settings =
      std::make_shared<const Json>(Json::parse(R"({"PodTemplate": "/t.yaml", "GracePeriodSeconds": 300})"));
  EXPECT_THAT(warnings(slow), IsEmpty());
  EXPECT_THAT(warnings(kTemplate), IsEmpty());
}

TEST_F(KubernetesFacts, ATemplateThatCannotBeReadIsFatal) {
  const auto found = facts("kind: StatefulSet\n");
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_TRUE(found.problems[0].fatal);
  EXPECT_THAT(found.problems[0].message, StartsWith("reading \"/t.yaml\": /kind: expected Pod or PodTemplate"));
  files_.content.clear();
  EXPECT_EQ(group_facts(group_, config_, files_).problems.at(0).message, "reading \"/t.yaml\": there is no such file");
}

TEST_F(KubernetesFacts, SoperatorsPodsAreNotKnown) {
  group_.settings = std::make_shared<const Json>(Json::parse(R"({"Mode": "nodesetpowerstate"})"));
  const auto found = facts(kTemplate);
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_THAT(found.slurm_specifications, IsEmpty());
  group_.settings = std::make_shared<const Json>(Json::parse(R"({"Mode": "nodesetpowerstate", "NodeSet": "worker"})"));
  EXPECT_THAT(warnings(kTemplate),
              ElementsAre("the pods of NodeSet worker are called worker-N, Slurm's nodes ai-gpu-N: "
                          "soperator's slurmd registers by its pod's name"));
}

TEST_F(KubernetesFacts, WhatSlurmdLacksIsNamed) {
  EXPECT_THAT(warnings(with(kTemplate, "-b, ", "")), ElementsAre(HasSubstr("slurmd's -b")));
  EXPECT_THAT(warnings(with(kTemplate, "-N, $(NODE_NAME)", "-c")), ElementsAre(HasSubstr("which node it is")));
  EXPECT_THAT(warnings(with(kTemplate, "-b, ", "-Z, -b, ")), ElementsAre(HasSubstr("slurmd -Z")));
  EXPECT_THAT(warnings(with(kTemplate, "spec:", "spec:\n  automountServiceAccountToken: true")),
              ElementsAre(HasSubstr("automountServiceAccountToken is true")));
  EXPECT_THAT(warnings(with(kTemplate, "spec:", "spec:\n  restartPolicy: Never")),
              ElementsAre(HasSubstr("restartPolicy is not Always")));
  auto keyless = with(kTemplate, "volumeMounts: [{name: munge-key, mountPath: /etc/munge}]", "");
  keyless = with(keyless, "volumes: [{name: munge-key, secret: {secretName: munge-key}}]", "");
  EXPECT_THAT(warnings(keyless), ElementsAre(HasSubstr("no volume brings a key")));
}

TEST_F(KubernetesFacts, OptionsOfSlurmdMayStandInAnyForm) {
  for (const char* args :
       {"[-Db, '-N{node_name}']", "[\"slurmd -D -b -N $NODE_NAME\"]", "[slurmd, -sDbN, '{node_name}']",
        "[\"exec slurmd -b -D --conf-server x:6817 -N \\\"${NODE_NAME}\\\"\"]"}) {
    EXPECT_THAT(warnings(with(kTemplate, "[slurmd, -D, -b, -N, $(NODE_NAME)]", args)), IsEmpty()) << args;
  }
  const auto in_environment = with(kTemplate, "args: [slurmd, -D, -b, -N, $(NODE_NAME)]",
                                   "env: [{name: SLURMD_OPTIONS, value: -b -N $(NODE_NAME)}]");
  EXPECT_THAT(warnings(in_environment), IsEmpty());
  // the file of -f has a b, the node of -N too
  EXPECT_THAT(warnings(with(kTemplate, "-b, -N, $(NODE_NAME)", "-f/b.conf, -Nb")),
              ElementsAre(HasSubstr("slurmd's -b")));
}

TEST_F(KubernetesFacts, OneSlurmdAKubernetesNodeIsHadInSeveralWays) {
  auto shared = with(kTemplate, "ports: [{containerPort: 6818, hostPort: 6818}]", "");
  EXPECT_THAT(warnings(shared), IsEmpty()) << "GPUs";
  shared = with(shared, ", limits: {nvidia.com/gpu: 2}", "");
  EXPECT_THAT(warnings(shared), ElementsAre(StartsWith("nothing keeps two of its pods off one Kubernetes node")));
  EXPECT_THAT(warnings(with(shared, "spec:", "spec:\n  hostNetwork: true")), IsEmpty());
  const auto rule = [](const std::string& kind, const std::string& key) {
    return "spec:\n  affinity: {podAntiAffinity: {" + kind + ": [{topologyKey: " + key + "}]}}";
  };
  const std::string required = "requiredDuringSchedulingIgnoredDuringExecution";
  EXPECT_THAT(warnings(with(shared, "spec:", rule(required, "kubernetes.io/hostname"))), IsEmpty());
  EXPECT_THAT(warnings(with(shared, "spec:", rule(required, "topology.kubernetes.io/zone"))), Not(IsEmpty()));
  EXPECT_THAT(warnings(with(shared, "spec:", rule("preferred", "kubernetes.io/hostname"))), Not(IsEmpty()));
}

TEST(PodTemplateCheck, BearsAnyShapeOfAPod) {
  for (const char* pod : {"null", "[]", "{}", R"({"spec": 1})", R"({"spec": {"containers": {"a": 1}, "volumes": "x"}})",
                          R"({"spec": {"containers": [1, {"args": 3, "env": [1], "ports": [{"hostPort": "x"}]}]}})",
                          R"({"spec": {"affinity": {"podAntiAffinity": {
                              "requiredDuringSchedulingIgnoredDuringExecution": 3}}}})"}) {
    EXPECT_THAT(lacks_of(Json::parse(pod)), Not(IsEmpty())) << pod;
  }
}

}  // namespace
}  // namespace burst::kubernetes
