// SPDX-License-Identifier: Apache-2.0
// The keys of a `kubernetes` node group: what is refused, warned of, and read.
#include "providers/kubernetes/kubernetes_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "providers/kubernetes/pod_labels.h"

namespace burst::kubernetes {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

Json patched(const char* patch) {
  auto group = Json::parse(R"({"NodeGroupName": "gpu", "PodTemplate": "pod-template-gpu.yaml"})");
  group.merge_patch(Json::parse(patch));
  return group;
}

/// `fatal: ...` and `warning: ...` lines.
std::vector<std::string> found(const Json& group) {
  std::vector<std::string> lines;
  for (const auto& problem : settings_keys().check(group))
    lines.push_back((problem.fatal ? "fatal: " : "warning: ") + problem.message);
  return lines;
}

GroupSettings parsed(const char* patch, const Config& config = {}) {
  NodeGroup group;
  group.partition = "ai";
  group.name = "gpu";
  group.settings = std::make_shared<const Json>(patched(patch));
  return parse_settings(config, group);
}

TEST(KubernetesSettings, AcceptsGoodGroups) {
  for (const char* patch :
       {"{}", R"({"Mode": "pod"})", R"({"Mode": "nodesetpowerstate", "PodTemplate": null, "NodeSet": "worker-gpu"})",
        R"({"Kubeconfig": "/etc/slurm-burst/kubeconfig", "Context": "arn:aws:eks:eu-north-1:1:cluster/x"})",
        R"({"Namespace": "slurm", "GracePeriodSeconds": 1, "UnschedulableTimeout": 65000, "BootTimeout": 500})",
        R"({"AddressWait": 0, "PodsInFlight": 256, "HttpProxy": "http://proxy.example.com:3128"})",
        R"({"Labels": {"team": "hpc", "example.com/Team_1": "", "a.b": "A-1_x.y"}})",
        R"({"Annotations": {"example.com/note": "any text, of any length: {}"}})",
        R"({"EKS": {"ClusterName": "ml-1", "Region": "eu-north-1", "Profile": "p 1",
                    "RoleArn": "arn:aws:iam::123456789012:role/slurm"}})",
        R"({"EKS": {"ClusterName": "ml"}})", R"({"GKE": {}})",
        R"({"GKE": {"CredentialsFile": "/etc/key.json", "ImpersonateServiceAccount": "a@p.iam.gserviceaccount.com"}})"})
    EXPECT_THAT(found(patched(patch)), IsEmpty()) << patch;
}

TEST(KubernetesSettings, RefusesWrongValuesOfEachKey) {
  for (const auto& [patch, pointer] : std::vector<std::pair<const char*, std::string>>{
           {R"({"PodTemplate": null})", "/PodTemplate: missing, it is required with Mode \"pod\""},
           {R"({"PodTemplate": ""})", "/PodTemplate: expected the path of a file, found \"\""},
           {R"({"PodTemplate": {"spec": 1}})", "/PodTemplate: expected the path of a file, found an object"},
           {R"({"Mode": "x"})", "/Mode: expected \"pod\" or \"nodesetpowerstate\", found \"x\""},
           {R"({"Mode": 1})", "/Mode: expected \"pod\" or"},
           {R"({"Kubeconfig": "config"})", "/Kubeconfig: expected an absolute path, found \"config\""},
           {R"({"Context": ""})", "/Context: expected the name of a context"},
           {R"({"Namespace": "a.b"})", "/Namespace: expected the name of a namespace: a DNS label"},
           {R"({"Namespace": "Slurm"})", "/Namespace: "},
           {R"({"Namespace": "-slurm"})", "/Namespace: "},
           {R"({"GracePeriodSeconds": 0})", "/GracePeriodSeconds: expected an integer from 1 to 3600, found 0"},
           {R"({"GracePeriodSeconds": -5})", "/GracePeriodSeconds: expected an integer"},
           {R"({"GracePeriodSeconds": 1.5})", "/GracePeriodSeconds: expected an integer"},
           {R"({"GracePeriodSeconds": "30"})", "/GracePeriodSeconds: expected an integer"},
           {R"({"GracePeriodSeconds": 18446744073709551615})", "/GracePeriodSeconds: expected an integer"},
           {R"({"UnschedulableTimeout": 65001})", "/UnschedulableTimeout: expected an integer from 1 to 65000"},
           {R"({"BootTimeout": false})", "/BootTimeout: expected an integer from 1 to 65000, found false"},
           {R"({"AddressWait": 601})", "/AddressWait: expected an integer from 0 to 600"},
           {R"({"PodsInFlight": 0})", "/PodsInFlight: expected an integer from 1 to 256"},
           {R"({"HttpProxy": "proxy:3128"})", "/HttpProxy: expected a URL"},
           {R"({"HttpProxy": "http://"})", "/HttpProxy: expected a URL"},
           {R"({"HttpProxy": "http://a b"})", "/HttpProxy: expected a URL"},
           {R"({"Labels": []})", "/Labels: expected an object of strings, found an array"},
           {R"({"Labels": {"a b": "x"}})", "/Labels/a b: expected a key such as"},
           {R"({"Labels": {"/x": "x"}})", "/Labels//x: expected a key"},
           {R"({"Labels": {"a": "b c"}})", "/Labels/a: expected a string of up to 63"},
           {R"({"Labels": {"a": true}})", "/Labels/a: expected a string of up to 63"},
           {R"({"Labels": {"slurm-burst/node": "x"}})", "/Labels/slurm-burst/node: slurm-burst sets that itself"},
           {R"({"Labels": {"app.kubernetes.io/managed-by": "x"}})",
            "/Labels/app.kubernetes.io/managed-by: slurm-burst"},
           {R"({"Annotations": {"a": 1}})", "/Annotations/a: expected a string, found 1"},
           {R"({"Annotations": {"slurm-burst/job": "1"}})", "/Annotations/slurm-burst/job: slurm-burst sets"},
           {R"({"EKS": {}})", "/EKS/ClusterName: missing, it is required in EKS"},
           {R"({"EKS": []})", "/EKS: expected an object, found an array"},
           {R"({"EKS": {"ClusterName": "a/b"}})", "/EKS/ClusterName: expected the name of an EKS cluster"},
           {R"({"EKS": {"ClusterName": "a", "Region": ""}})", "/EKS/Region: expected the name of a region"},
           {R"({"EKS": {"ClusterName": "a", "RoleArn": "slurm"}})", "/EKS/RoleArn: expected the ARN of a role"},
           {R"({"GKE": {"CredentialsFile": "key.json"}})", "/GKE/CredentialsFile: expected an absolute path"},
           {R"({"GKE": {"ImpersonateServiceAccount": "a"}})", "/GKE/ImpersonateServiceAccount: expected the e-mail"}}) {
    EXPECT_THAT(found(patched(patch)), ElementsAre(StartsWith("fatal: " + pointer))) << patch;
  }
}

TEST(KubernetesSettings, ScalingByACountIsRefusedWithTheReason) {
  for (const char* mode : {"statefulset", "StatefulSet", "nodeset", "NodeSet", "deployment", "scale", "replicas"}) {
    auto group = patched("{}");
    group["Mode"] = mode;
    EXPECT_THAT(found(group), ElementsAre(AllOf(StartsWith("fatal: /Mode: a count says how many, not which nodes: "),
                                                HasSubstr(R"(expected "pod" or "nodesetpowerstate", found ")"))))
        << mode;
  }
  for (const char* key : {"Replicas", "StatefulSet", "Deployment", "Scale"}) {
    auto group = patched("{}");
    group[key] = 3;
    EXPECT_THAT(found(group), ElementsAre(StartsWith(std::string("fatal: /") + key + ": a count says how many")));
  }
}

TEST(KubernetesSettings, RefusesContradictions) {
  EXPECT_THAT(found(patched(R"({"EKS": {"ClusterName": "a"}, "GKE": {}})")),
              ElementsAre("fatal: /GKE: a cluster is one of EKS or of GKE, found both"));
  EXPECT_THAT(
      found(patched(R"({"Mode": "nodesetpowerstate"})")),
      ElementsAre("fatal: /PodTemplate: soperator's NodeSet says how pods are: remove it, or use Mode \"pod\""));
}

TEST(KubernetesSettings, WarnsOfWhatHasNoEffect) {
  EXPECT_THAT(found(patched(R"({"NodeSet": "gpu"})")),
              ElementsAre("warning: /NodeSet: without effect: Mode is not \"nodesetpowerstate\""));
  EXPECT_THAT(found(patched(R"({"Mode": "nodesetpowerstate", "PodTemplate": null, "Labels": {"a": "b"},
                                "Annotations": {"a": "b"}, "GracePeriodSeconds": 30})")),
              ElementsAre(StartsWith("warning: /Labels: without effect"), StartsWith("warning: /Annotations: without"),
                          StartsWith("warning: /GracePeriodSeconds: without effect")));
  EXPECT_THAT(found(patched(R"({"Mode": "nodesetpowerstate", "PodTemplate": null, "NodeSet": "worker"})")),
              ElementsAre(StartsWith("warning: /NodeSet: soperator's slurmd registers under its pod's name")));
  EXPECT_THAT(found(patched(R"({"Mode": "nodesetpowerstate", "PodTemplate": null, "NodeSet": 3})")),
              ElementsAre(StartsWith("fatal: /NodeSet: expected the name of a NodeSet")));
  EXPECT_THAT(found(patched(R"({"Tags": []})")), ElementsAre(StartsWith("warning: /Tags: not used for kubernetes")));
  EXPECT_THAT(found(patched(R"({"EKS": {"ClusterName": "a", "region": "b"}})")),
              ElementsAre("warning: /EKS/region: unknown key, expected one of ClusterName, Region, Profile, RoleArn"));
  EXPECT_THAT(found(patched(R"({"UnschedulableTimeout": 60000, "BootTimeout": 6000})")),
              ElementsAre(StartsWith("warning: /UnschedulableTimeout: with BootTimeout more than 65533 s")));
}

TEST(KubernetesSettings, ReadsEveryKey) {
  Config config;
  config.partitions_file = "/etc/slurm-burst/partitions.json";
  const auto settings =
      parsed(R"({"Kubeconfig": "/k", "Context": "c", "Namespace": "slurm", "HttpProxy": "socks5://p:1",
      "GracePeriodSeconds": 60, "UnschedulableTimeout": 900, "BootTimeout": 400, "AddressWait": 3, "PodsInFlight": 8,
      "Annotations": {"a": "b"}, "EKS": {"ClusterName": "e", "Region": "r", "Profile": "p", "RoleArn": "arn:aws:x:role/y"}})",
             config);
  EXPECT_EQ(settings.access.kubeconfig, "/k");
  EXPECT_EQ(settings.access.context, "c");
  EXPECT_EQ(settings.access.proxy, "socks5h://p:1");
  ASSERT_TRUE(settings.access.eks);
  EXPECT_EQ(settings.access.eks->cluster + settings.access.eks->region + settings.access.eks->profile, "erp");
  EXPECT_EQ(settings.access.eks->role_arn, "arn:aws:x:role/y");
  EXPECT_FALSE(settings.access.gke);
  EXPECT_EQ(settings.name_space, "slurm");
  EXPECT_EQ(settings.mode, Mode::pod);
  EXPECT_EQ(settings.pod_template, "/etc/slurm-burst/pod-template-gpu.yaml");
  EXPECT_THAT(settings.annotations, ElementsAre(Pair("a", "b")));
  EXPECT_EQ(settings.grace_period.count(), 60);
  EXPECT_EQ(settings.unschedulable_timeout.count(), 900);
  EXPECT_EQ(settings.boot_timeout.count(), 400);
  EXPECT_EQ(settings.address_wait.count(), 3);
  EXPECT_EQ(settings.pods_in_flight, 8);
  const auto gke = parsed(R"({"GKE": {"CredentialsFile": "/g", "ImpersonateServiceAccount": "a@b"}})");
  ASSERT_TRUE(gke.access.gke);
  EXPECT_EQ(gke.access.gke->credentials_file + gke.access.gke->impersonate, "/ga@b");
  EXPECT_FALSE(gke.access.eks);
}

TEST(KubernetesSettings, DefaultsAreThoseOfTheHeader) {
  const auto settings = parsed("{}");
  EXPECT_EQ(settings.access.kubeconfig + settings.access.context + settings.access.proxy + settings.name_space, "");
  EXPECT_EQ(settings.grace_period.count(), 30);
  EXPECT_EQ(settings.unschedulable_timeout.count(), 600);
  EXPECT_EQ(settings.boot_timeout.count(), 300);
  EXPECT_EQ(settings.address_wait.count(), 10);
  EXPECT_EQ(settings.pods_in_flight, 64);
  const auto soperator = parsed(R"({"Mode": "nodesetpowerstate", "PodTemplate": null})");
  EXPECT_EQ(soperator.mode, Mode::node_set_power_state);
  EXPECT_EQ(soperator.node_set, "ai-gpu");
  EXPECT_EQ(soperator.pod_template, "");
  EXPECT_EQ(parsed(R"({"PodTemplate": "/t.yaml"})").pod_template, "/t.yaml");
}

TEST(KubernetesSettings, MachineTagsBecomeLabelsAndTheGroupsLabelsWin) {
  Config config;
  config.machine_tags = {
      {"Team", "HPC Lab"},           {"cost", "1"},  {"example.com/unit", "x"}, {"Owner Name", "a_b"},
      {"node", "at {node_name}"},    {"??", "lost"}, {"slurm-burst/node", "x"}, {"odd", "--"},
      {"long", std::string(70, 'l')}};
  const auto settings = parsed(R"({"Labels": {"cost": "2"}})", config);
  EXPECT_THAT(settings.labels,
              ElementsAre(Pair("Owner-Name", "a_b"), Pair("Team", "HPC-Lab"), Pair("cost", "2"),
                          Pair("example.com/unit", "x"), Pair("long", std::string(63, 'l')), Pair("odd", "")));
}

TEST(KubernetesSettings, SlurmWaitsAsLongAsWe) {
  const auto keys = settings_keys();
  EXPECT_THAT(keys.partition_options(patched("{}")), ElementsAre(Pair("ResumeTimeout", "900")));
  EXPECT_THAT(keys.partition_options(patched(R"({"UnschedulableTimeout": 1800, "BootTimeout": 60})")),
              ElementsAre(Pair("ResumeTimeout", "1860")));
  EXPECT_THAT(keys.partition_options(patched(R"({"UnschedulableTimeout": 60000, "BootTimeout": 60000})")),
              ElementsAre(Pair("ResumeTimeout", "65533")));
  EXPECT_TRUE(keys.nodes_are_dns_labels);
}

TEST(KubernetesSettings, EndingAPodTakesItsGraceAndThirtySeconds) {
  const auto keys = settings_keys();
  EXPECT_EQ(keys.termination_time.count(), 60);
  EXPECT_EQ(keys.group_termination_time(patched("{}")).count(), 60);
  EXPECT_EQ(keys.group_termination_time(patched(R"({"GracePeriodSeconds": 300})")).count(), 330);
}

TEST(KubernetesLabelValue, KeepsWhatIsALabelAlready) {
  for (const char* text : {"", "cluster", "A_b-1.x", "9"}) EXPECT_EQ(label_value(text), text);
  EXPECT_EQ(label_value(std::string(63, 'a')), std::string(63, 'a'));
}

TEST(KubernetesLabelValue, NeverGivesOneValueForTwoTexts) {
  EXPECT_THAT(label_value("my cluster"), testing::MatchesRegex("my-cluster-[0-9a-f]{10}"));
  EXPECT_THAT(label_value("??"), testing::MatchesRegex("[0-9a-f]{10}"));
  EXPECT_NE(label_value("my cluster"), label_value("my/cluster"));
  EXPECT_NE(label_value("-a"), label_value("a-"));
  EXPECT_EQ(label_value("a/b"), label_value("a/b"));
  const auto one = label_value(std::string(80, 'a')), other = label_value(std::string(81, 'a'));
  EXPECT_NE(one, other);
  EXPECT_EQ(one.size(), 63U);
}

TEST(KubernetesLabelValue, SelectorsNameClusterPartitionAndGroup) {
  const GroupIdentity identity{"my cluster", "ai", "gpu"};
  EXPECT_EQ(identity.selector(),
            "slurm-burst/cluster=" + label_value("my cluster") + ",slurm-burst/partition=ai,slurm-burst/group=gpu");
}

}  // namespace
}  // namespace burst::kubernetes
