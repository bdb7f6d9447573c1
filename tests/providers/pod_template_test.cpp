// SPDX-License-Identifier: Apache-2.0
// Pod templates: what is taken, what is refused, and what a node's pod is made of.
#include "providers/kubernetes/pod_template.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "fakes/fake_services.h"

namespace burst::kubernetes {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

constexpr const char* kSpec = "spec: {containers: [{name: slurmd, image: slurmd:24.11}]}\n";

class PodTemplateOf : public testing::Test {
 protected:
  PodTemplateOf() { settings_.pod_template = "/t.yaml"; }

  PodTemplate load(const std::string& text) {
    files_.content["/t.yaml"] = text;
    return PodTemplate::load(files_, settings_, identity_);
  }
  Json body(const std::string& text) { return Json::parse(load(text).body("ai-gpu-3", "l1", 17)); }
  std::string error(const std::string& text) {
    try {
      load(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "InvalidPodTemplate") << text;
      return error.what();
    }
    return "no error";
  }

  FakeFiles files_;
  GroupSettings settings_;
  GroupIdentity identity_{"cluster", "ai", "gpu"};
};

TEST_F(PodTemplateOf, APodIsCalledAsItsNodeInNameHostNameAndEnvironment) {
  const auto pod = body(kSpec);
  EXPECT_EQ(pod["apiVersion"], "v1");
  EXPECT_EQ(pod["kind"], "Pod");
  EXPECT_EQ(pod["metadata"]["name"], "ai-gpu-3");
  EXPECT_EQ(pod["spec"]["hostname"], "ai-gpu-3");
  EXPECT_EQ(pod["spec"]["containers"][0]["env"], Json::parse(R"([{"name": "NODE_NAME", "value": "ai-gpu-3"}])"));
}

TEST_F(PodTemplateOf, LabelsAndAnnotationsSayWhoseItIs) {
  settings_.labels = {{"team", "hpc"}, {"tier", "ours"}};
  settings_.annotations = {{"note", "n"}};
  const auto pod = body(std::string("metadata: {labels: {tier: theirs, app: slurmd}, annotations: {a: b}}\n") + kSpec);
  EXPECT_EQ(
      pod["metadata"]["labels"],
      Json::parse(R"({"app": "slurmd", "app.kubernetes.io/managed-by": "slurm-burst", "slurm-burst/cluster": "cluster",
              "slurm-burst/group": "gpu", "slurm-burst/partition": "ai", "team": "hpc", "tier": "ours",
              "slurm-burst/node": "ai-gpu-3", "slurm-burst/launch": "l1"})"));
  const auto& annotations = pod["metadata"]["annotations"];
  EXPECT_EQ(annotations["a"], "b");
  EXPECT_EQ(annotations["note"], "n");
  EXPECT_EQ(annotations["slurm-burst/job"], "17");
  EXPECT_THAT(annotations["slurm-burst/template"].get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(annotations["karpenter.sh/do-not-disrupt"], "true");
  EXPECT_EQ(annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"], "false");
  const auto without_job = Json::parse(load(kSpec).body("ai-gpu-3", "l1", std::nullopt));
  EXPECT_FALSE(without_job["metadata"]["annotations"].contains("slurm-burst/job"));
}

TEST_F(PodTemplateOf, WhatTheTemplateSaysStands) {
  settings_.grace_period = std::chrono::seconds(45);
  const auto bare = body(kSpec);
  EXPECT_EQ(bare["spec"]["restartPolicy"], "Always");
  EXPECT_EQ(bare["spec"]["automountServiceAccountToken"], false);
  EXPECT_EQ(bare["spec"]["terminationGracePeriodSeconds"], 45);
  const auto said = body(R"(
metadata:
  annotations: {karpenter.sh/do-not-disrupt: "false", cluster-autoscaler.kubernetes.io/safe-to-evict: "true"}
spec:
  restartPolicy: Never
  automountServiceAccountToken: true
  terminationGracePeriodSeconds: 5
  containers: [{name: slurmd, image: slurmd}]
)");
  EXPECT_EQ(said["spec"]["restartPolicy"], "Never");
  EXPECT_EQ(said["spec"]["automountServiceAccountToken"], true);
  EXPECT_EQ(said["spec"]["terminationGracePeriodSeconds"], 5);
  EXPECT_EQ(said["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"], "false");
  EXPECT_EQ(said["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"], "true");
}

TEST_F(PodTemplateOf, TheNodesNameStandsFirstInEachContainersEnvironmentOnce) {
  const auto pod = body(R"y(
spec:
  initContainers: [{name: prepare, image: i, args: ["--node={node_name}"]}]
  containers:
  - name: slurmd
    image: slurmd
    command: [sh, -c, "exec slurmd -D -b -N {node_name} --conf {node_name}"]
    env: [{name: A, value: "$(NODE_NAME)"}, {name: NODE_NAME, value: wrong}, {name: B, value: "x-{node_name}"},
          {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
)y");
  EXPECT_EQ(pod["spec"]["initContainers"][0]["args"][0], "--node=ai-gpu-3");
  EXPECT_EQ(pod["spec"]["initContainers"][0]["env"][0]["value"], "ai-gpu-3");
  const auto& slurmd = pod["spec"]["containers"][0];
  EXPECT_EQ(slurmd["command"][2], "exec slurmd -D -b -N ai-gpu-3 --conf ai-gpu-3");
  EXPECT_EQ(slurmd["env"],
            Json::parse(R"y([{"name": "NODE_NAME", "value": "ai-gpu-3"}, {"name": "A", "value": "$(NODE_NAME)"
  },
              {"name": "B", "value": "x-ai-gpu-3"},
              {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}])y"));
}

TEST_F(PodTemplateOf, EveryFormAndBothLanguagesGiveOnePod) {
  const auto bare = load(kSpec);
  const std::string inner = R"("spec": {"containers": [{"image": "slurmd:24.11", "name": "slurmd"}]})";
  for (const auto& text :
       {"apiVersion: v1\nkind: Pod\n" + std::string(kSpec), "{" + inner + "}",
        R"({"kind": "PodTemplate", "apiVersion": "v1", "metadata": {"name": "t"}, "template": {)" + inner + "}}"}) {
    EXPECT_EQ(load(text).json(), bare.json()) << text;
    EXPECT_EQ(load(text).hash(), bare.hash()) << text;
  }
}

TEST_F(PodTemplateOf, WhatBelongsToOneObjectIsLeftOut) {
  const auto pod = body(R"(
metadata: {name: other, generateName: x-, uid: "1", resourceVersion: "2", creationTimestamp: null, finalizers: [a/b]}
status: {phase: Running}
spec: {hostname: other, containers: [{name: slurmd, image: slurmd}]}
)");
  EXPECT_EQ(pod["metadata"]["name"], "ai-gpu-3");
  EXPECT_EQ(pod["spec"]["hostname"], "ai-gpu-3");
  EXPECT_EQ(pod["metadata"]["finalizers"][0], "a/b");
  for (const char* key : {"generateName", "uid", "resourceVersion", "creationTimestamp"})
    EXPECT_FALSE(pod["metadata"].contains(key)) << key;
  EXPECT_FALSE(pod.contains("status"));
}

TEST_F(PodTemplateOf, TheHashIsOfTheContentNotOfTheNode) {
  const auto first = load(kSpec);
  EXPECT_EQ(load("# a comment\n" + std::string(kSpec)).hash(), first.hash());
  EXPECT_EQ(Json::parse(first.body("n-1", "a", 1))["metadata"]["annotations"]["slurm-burst/template"], first.hash());
  EXPECT_EQ(Json::parse(first.body("n-2", "b", {}))["metadata"]["annotations"]["slurm-burst/template"], first.hash());
  EXPECT_NE(load("spec: {containers: [{name: slurmd, image: slurmd:25.05}]}").hash(), first.hash());
  settings_.labels = {{"team", "hpc"}};
  EXPECT_NE(load(kSpec).hash(), first.hash());
}

TEST_F(PodTemplateOf, RefusesWhatIsNoTemplateWithItsPlace) {
  const std::string container = "name: slurmd, image: i";
  const auto with = [](const std::string& inside) { return "spec: {containers: [{" + inside + "}]}"; };
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "expected an object, found nothing"},
      {"[]", "expected an object, found a list"},
      {"a: [", "not YAML"},
      {"a: b\n---\nc: d\n", "expected one document"},
      {"apiVersion: apps/v1\n" + std::string(kSpec), "/apiVersion: expected v1, found apps/v1"},
      {"kind: StatefulSet\n" + std::string(kSpec), "/kind: expected Pod or PodTemplate, found StatefulSet"},
      {"sepc: {}\n", "/sepc: unknown field, expected one of apiVersion, kind, metadata, spec, status"},
      {"spec: {}\n", "/spec/containers: expected a list of containers, found none"},
      {"spec: {containers: {}}\n", "/spec/containers: expected a list, found an object"},
      {"spec: {containers: [a]}\n", "/spec/containers/0: expected an object, found a text"},
      {with("image: i"), "/spec/containers/0/name: expected a text, found nothing"},
      {with("name: Slurmd, image: i"), "/spec/containers/0/name: expected a DNS label, found Slurmd"},
      {with("name: slurmd"), "/spec/containers/0/image: expected a text, found nothing"},
      {with(container + ", args: [1]"), "/spec/containers/0/args/0: expected a text, found a number"},
      {with(container + ", command: x"), "/spec/containers/0/command: expected a list, found a text"},
      {with(container + ", env: [{name: A, value: true}]"),
       "/spec/containers/0/env/0/value: expected a text, found a boolean"},
      {with(container + ", env: [{value: x}]"), "/spec/containers/0/env/0/name: expected a text, found nothing"},
      {with(container + "}, {" + container), "/spec/containers/1/name: two containers are called slurmd"},
      {"metadata: {labels: {on: x, a: on}}\n" + std::string(kSpec), "/metadata/labels/a: expected a text, found a "},
      {"metadata: {labels: {a: b c}}\n" + std::string(kSpec), "/metadata/labels/a: no value that Kubernetes takes"},
      {"metadata: {annotations: {a b: c}}\n" + std::string(kSpec), "/metadata/annotations/a b: no key that"},
      {"metadata: {namespace: other}\n" + std::string(kSpec),
       "/metadata/namespace: the group's Namespace is not set, found other"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(error(text), testing::AllOf(StartsWith("reading \"/t.yaml\": "), HasSubstr(message))) << text;
  }
}

TEST_F(PodTemplateOf, AMissingFileIsNamed) {
  settings_.pod_template = "/absent.yaml";
  EXPECT_EQ(error(kSpec), "reading \"/absent.yaml\": there is no such file");
}

TEST_F(PodTemplateOf, ItsNamespaceMayBeTheGroups) {
  settings_.name_space = "slurm";
  const auto pod = body("metadata: {namespace: slurm}\n" + std::string(kSpec));
  EXPECT_FALSE(pod["metadata"].contains("namespace"));
}

}  // namespace
}  // namespace burst::kubernetes
