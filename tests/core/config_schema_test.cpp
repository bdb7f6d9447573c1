// SPDX-License-Identifier: Apache-2.0
// Loader, JSON Schemas, examples and docs/configuration.md say the same of the configuration.
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "burst/config.h"
#include "burst/provider.h"
#include "core/config_keys.h"
#include "fakes/fake_services.h"

namespace burst {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::set<std::string, std::less<>>;

const std::string kSource = BURST_SOURCE_DIR;
/// The providers that this build knows, as the programs hand them to the loader.
const std::vector<ProviderKeys> kProviders = [] {
  std::vector<ProviderKeys> keys;
  for (const auto& entry : provider_registry()) keys.push_back(entry.keys);
  return keys;
}();

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  return text.str();
}

Json file_json(const std::string& path) { return Json::parse(file_text(path)); }

std::vector<ConfigProblem> problems_of(const std::string& config, const std::string& partitions) {
  FakeFiles files;
  files.content["/config.json"] = config;
  files.content["/partitions.json"] = partitions;
  std::vector<ConfigProblem> problems;
  load_config(files, {"/config.json", "/partitions.json", false}, kProviders, problems);
  return problems;
}

TEST(ConfigExamples, LoadWithoutErrorsAndWarnings) {
  for (const char* partitions :
       {"/config/partitions.json", "/config/partitions-gce.json", "/config/partitions-kubernetes.json"}) {
    const auto problems = problems_of(file_text(kSource + "/config/config.json"), file_text(kSource + partitions));
    for (const auto& problem : problems) ADD_FAILURE() << partitions << ": " << problem.message;
  }
}

struct Case {
  bool partitions;  // in partitions.json, else in config.json
  Json document;
  bool good;
};

/// Documents made from the examples: each `patch` (RFC 7386: null removes) gives one.
class Cases {
 public:
  void config(const char* patch, bool good) { add(false, "", patch, good); }
  void partition(const char* patch, bool good) { add(true, "/Partitions/0", patch, good); }
  void group(const char* patch, bool good) { add(true, "/Partitions/0/NodeGroups/0", patch, good); }
  /// A value that a merge patch can't express: null, or an object without the example's members.
  void set(bool partitions, const char* pointer, const char* value, bool good) {
    auto document = partitions ? partitions_ : config_;
    document[Json::json_pointer(pointer)] = Json::parse(value);
    all.push_back({partitions, std::move(document), good});
  }
  std::vector<Case> all;

 private:
  void add(bool partitions, const char* pointer, const char* patch, bool good) {
    auto document = partitions ? partitions_ : config_;
    document[Json::json_pointer(pointer)].merge_patch(Json::parse(patch));
    all.push_back({partitions, std::move(document), good});
  }
  Json config_ = file_json(kSource + "/config/config.json");
  Json partitions_ = file_json(kSource + "/config/partitions.json");
};

void add_config_cases(Cases& cases) {
  for (const char* good :
       {"{}", R"({"LogLevel": "DEBUG"})", R"({"LogLevel": null, "LogFileName": null, "SlurmBinPath": null})",
        R"({"Unknown": [1]})", R"({"SlurmBinPath": ""})", R"({"ClusterName": "a.b_c-1"})", R"({"StateDir": "/x"})",
        R"({"SlurmConf": {"ResumeRate": "100", "X": true, "Y": 1.5, "Z": "", "A b": "c d"}})",
        R"({"Environment": {"_a1": ""}, "MachineTags": {"a b": ""}})", R"({"MaxCoolDown": 600, "CoolDown": 600.0})",
        R"({"RequestLimits": {"A": {"Burst": 1, "PerSecond": 0.1, "Other": 1}}, "RequestsInFlight": 10000})",
        R"({"AdoptUntagged": true, "LaunchGrace": 0, "OrphanGrace": 31536000, "BootstrapFailureLimit": 0})"}) {
    cases.config(good, true);
  }
  for (const char* bad : {R"({"SlurmConf": null})",
                          R"({"SlurmConf": []})",
                          R"({"SlurmConf": {"TreeWidth": null}})",
                          R"({"SlurmConf": {"X": []}})",
                          R"({"SlurmConf": {"X": {"Y": 1}}})",
                          R"({"SlurmConf": {"X": "a\nb"}})",
                          R"({"SlurmConf": {"": "a"}})",
                          R"({"SlurmConf": {"a\n": "a"}})",
                          R"({"LogLevel": "info"})",
                          R"({"LogLevel": 1})",
                          R"({"LogFileName": ""})",
                          R"({"LogFileName": 1})",
                          R"({"SlurmBinPath": 1})",
                          R"({"ClusterName": ""})",
                          R"({"ClusterName": "a\n"})",
                          R"({"ClusterName": 1})",
                          R"({"StateDir": "x"})",
                          R"({"Environment": {"a=": ""}})",
                          R"({"Environment": {"": ""}})",
                          R"({"Environment": {"a": 1}})",
                          R"({"Environment": "a"})",
                          R"({"Environment": {"a": "\u0000"}})",
                          R"({"MachineTags": {"a": true}})",
                          R"({"MachineTags": {"": "a"}})",
                          R"({"RequestLimits": []})",
                          R"({"RequestLimits": {"A": 1}})",
                          R"({"RequestLimits": {"A": {"Burst": 1}}})",
                          R"({"RequestLimits": {"A": {"Burst": 0, "PerSecond": 1}}})",
                          R"({"RequestLimits": {"A": {"Burst": "1", "PerSecond": 1}}})",
                          R"({"RequestsInFlight": 0})",
                          R"({"RequestsInFlight": 10001})",
                          R"({"AdoptUntagged": 1})",
                          R"({"LaunchGrace": -1})",
                          R"({"OrphanGrace": 31536001})",
                          R"({"MissingGrace": 1.5})",
                          R"({"CoolDown": "1"})",
                          R"({"ProbeTime": true})",
                          R"({"BootstrapFailureLimit": -1})",
                          R"({"BootstrapFailureLimit": 2147483648})",
                          R"({"Deadline": []})"}) {
    cases.config(bad, false);
  }
  for (const char* pointer : {"/LogLevel", "/SlurmConf/X", "/Environment", "/LogFileName"}) {
    cases.set(false, pointer, "null", false);
  }
  cases.set(false, "", "[]", false);
  cases.set(false, "", "null", false);
}

void add_partitions_cases(Cases& cases) {
  for (const char* good : {R"({"PartitionName": "A1"})", R"({"NodeGroups": []})", R"({"PartitionOptions": {"A": 1}})",
                           R"({"PartitionOptions": null})", R"({"Unknown": 1})"}) {
    cases.partition(good, true);
  }
  for (const char* bad : {R"({"PartitionName": null})", R"({"PartitionName": "a-b"})", R"({"PartitionName": ""})",
                          R"({"PartitionName": "a\n"})", R"({"PartitionName": "\u00e9"})", R"({"PartitionName": 1})",
                          R"({"NodeGroups": null})", R"({"NodeGroups": {}})", R"({"NodeGroups": [1]})",
                          R"({"PartitionOptions": []})", R"({"PartitionOptions": {"A": []}})"}) {
    cases.partition(bad, false);
  }
  for (const char* good :
       {R"({"MaxNodes": 1, "MinNodes": 0})", R"({"MaxNodes": 65536, "MinNodes": 65536})", R"({"MaxNodes": 10.0})",
        R"({"Provider": "aws"})", R"({"LaunchStrategy": "all-or-nothing"})", R"({"Tags": []})",
        R"({"Tags": [{"Key": "a", "Value": "", "Other": 1}]})", R"({"SlurmSpecifications": {"A": false}})",
        R"({"Unknown": null, "SpotOptions": {"AnyMember": [1]}})"}) {
    cases.group(good, true);
  }
  for (const char* bad : {R"({"NodeGroupName": null})",
                          R"({"NodeGroupName": "a b"})",
                          R"({"NodeGroupName": 1})",
                          R"({"MaxNodes": null})",
                          R"({"MaxNodes": 0})",
                          R"({"MaxNodes": -1})",
                          R"({"MaxNodes": true})",
                          R"({"MaxNodes": 1.5})",
                          R"({"MaxNodes": "10"})",
                          R"({"MaxNodes": 65537})",
                          R"({"MinNodes": -1})",
                          R"({"MinNodes": "1"})",
                          R"({"Provider": "azure"})",
                          R"({"Provider": 1})",
                          R"({"SlurmSpecifications": null})",
                          R"({"SlurmSpecifications": "CPUs=4"})",
                          R"({"SlurmSpecifications": {"A": {"B": "c"}}})",
                          R"({"LaunchStrategy": "all"})",
                          R"({"Tags": {}})",
                          R"({"Tags": [{}]})",
                          R"({"Tags": [{"Key": "a"}]})",
                          R"({"Tags": [{"Key": "", "Value": "a"}]})",
                          R"({"Tags": [{"Key": "a", "Value": 1}]})"}) {
    cases.group(bad, false);
  }
  cases.set(true, "/Partitions", "{}", false);
  cases.set(true, "/Partitions/0", "3", false);
  cases.set(true, "/Partitions/0/NodeGroups/0", "null", false);
  cases.set(true, "", "{}", false);
  cases.set(true, "", "3", false);
  cases.set(true, "/Partitions", "[]", true);
}

/// Groups of gce: `patch` is merged into a good one.
void add_gce_cases(Cases& cases) {
  const auto add = [&cases](const char* patch, bool good) {
    auto group = Json::parse(R"({"NodeGroupName": "c2", "MaxNodes": 4, "Provider": "gce", "Project": "my-project",
                                 "Region": "us-central1", "InstanceTemplate": "t", "SlurmSpecifications": {}})");
    group.merge_patch(Json::parse(patch));
    cases.set(true, "/Partitions/0/NodeGroups/0", group.dump().c_str(), good);
  };
  for (const char* good :
       {"{}", R"({"Zones": ["us-central1-a"]})", R"({"ProvisioningModel": "SPOT"})",
        R"({"ProvisioningModel": "RESERVATION_BOUND", "Reservation": "r"})",
        R"({"Reservation": "r", "Placement": "p"})",
        R"({"ProvisioningModel": "FLEX_START", "FlexStartMaxDuration": "604800s", "BootTimeout": 60})",
        R"({"ProvisioningModel": "FLEX_START", "FlexStartMaxDuration": 30, "FlexStartUseJobDuration": true})",
        R"({"Labels": {"a_b-1": ""}, "CredentialsFile": "/k", "ImpersonateServiceAccount": "a@b.c"})",
        R"({"ExpiryReservation": true, "InstanceProperties": {"labels": {}}})"}) {
    add(good, true);
  }
  for (const char* bad : {R"({"Project": null})",
                          R"({"Project": "p"})",
                          R"({"Region": null})",
                          R"({"Region": "europe"})",
                          R"({"InstanceTemplate": null})",
                          R"({"InstanceTemplate": ""})",
                          R"({"NodeGroupName": "C2"})",
                          R"({"Zones": "us-central1-a"})",
                          R"({"Zones": ["us-central1-a", "us-central1-a"]})",
                          R"({"ProvisioningModel": "spot"})",
                          R"({"ProvisioningModel": "RESERVATION_BOUND"})",
                          R"({"ProvisioningModel": "FLEX_START", "Reservation": "r"})",
                          R"({"FlexStartMaxDuration": 29})",
                          R"({"FlexStartMaxDuration": "604800"})",
                          R"({"FlexStartMaxDuration": 604801})",
                          R"({"FlexStartUseJobDuration": 1})",
                          R"({"BootTimeout": 59})",
                          R"({"BootTimeout": "1800"})",
                          R"({"InstanceProperties": []})",
                          R"({"Labels": {"A": "b"}})",
                          R"({"Labels": {"a": "B"}})",
                          R"({"Labels": {"burst-group": "b"}})",
                          R"({"CredentialsFile": "k"})",
                          R"({"Placement": 1})",
                          R"({"ImpersonateServiceAccount": "a"})",
                          R"({"ExpiryReservation": 1})"}) {
    add(bad, false);
  }
}

/// Groups of kubernetes: `patch` is merged into a good one.
void add_kubernetes_cases(Cases& cases) {
  const auto add = [&cases](const char* patch, bool good) {
    auto group = Json::parse(R"({"NodeGroupName": "gpu", "MaxNodes": 4, "Provider": "kubernetes",
                                 "PodTemplate": "pod.yaml", "SlurmSpecifications": {}})");
    group.merge_patch(Json::parse(patch));
    cases.set(true, "/Partitions/0/NodeGroups/0", group.dump().c_str(), good);
  };
  for (
      const char* good :
      {"{}", R"({"Mode": "pod", "NodeSet": "a", "Tags": []})", R"({"Mode": "nodesetpowerstate", "PodTemplate": null})",
       R"({"Kubeconfig": "/k", "Context": "c:1/x", "Namespace": "a-1", "HttpProxy": "socks5://p:1"})",
       R"({"GracePeriodSeconds": 1, "UnschedulableTimeout": 65000, "BootTimeout": 1, "AddressWait": 0})",
       R"({"Labels": {"A.b_c": "", "example.com/x": "Y-1"}, "Annotations": {"a/b": "any {text}"}, "PodsInFlight": 256})",
       R"({"EKS": {"ClusterName": "c", "Region": "r-1", "Profile": "p", "RoleArn": "arn:aws:iam::1:role/a"}})",
       R"({"GKE": {}})", R"({"GKE": {"CredentialsFile": "/k", "ImpersonateServiceAccount": "a@b.c", "Other": 1}})"}) {
    add(good, true);
  }
  for (const char* bad : {R"({"PodTemplate": null})",
                          R"({"PodTemplate": ""})",
                          R"({"Mode": "statefulset"})",
                          R"({"Mode": "nodesetpowerstate"})",
                          R"({"Replicas": 1})",
                          R"({"StatefulSet": "a"})",
                          R"({"NodeGroupName": "GPU"})",
                          R"({"NodeSet": "A"})",
                          R"({"Kubeconfig": "k"})",
                          R"({"Context": ""})",
                          R"({"Namespace": "a."})",
                          R"({"HttpProxy": "p:1"})",
                          R"({"GracePeriodSeconds": 0})",
                          R"({"UnschedulableTimeout": "600"})",
                          R"({"BootTimeout": 65001})",
                          R"({"AddressWait": -1})",
                          R"({"PodsInFlight": 257})",
                          R"({"Labels": {"a": "b c"}})",
                          R"({"Labels": {"slurm-burst/node": "b"}})",
                          R"({"Labels": {"-a": "b"}})",
                          R"({"Annotations": {"app.kubernetes.io/managed-by": "b"}})",
                          R"({"Annotations": {"a": 1}})",
                          R"({"EKS": {}})",
                          R"({"EKS": {"ClusterName": "a"}, "GKE": {}})",
                          R"({"EKS": {"ClusterName": "a", "RoleArn": "x"}})",
                          R"({"GKE": {"CredentialsFile": "k"}})"}) {
    add(bad, false);
  }
}

/// What the schemas say of the documents, by an implementation of JSON Schema that others wrote.
std::vector<std::string> schema_verdicts(const std::vector<Case>& cases) {
  const auto input = testing::TempDir() + "schema_check_" +
                     std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" + std::to_string(getpid());
  {
    std::ofstream file(input);
    for (const auto& one : cases) {
      file << kSource << (one.partitions ? "/config/partitions.schema.json" : "/config/config.schema.json") << "\t"
           << one.document.dump() << "\n";
    }
  }
  const auto command = "/usr/bin/python3 '" + kSource + "/tests/core/schema_check.py' < '" + input + "'";
  const auto close = [](FILE* pipe) { pclose(pipe); };
  std::vector<std::string> lines;
  {
    const std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
    std::array<char, 4096> line{};
    while (pipe && fgets(line.data(), line.size(), pipe.get()) != nullptr) lines.emplace_back(line.data());
  }
  std::remove(input.c_str());
  return lines;
}

TEST(ConfigSchema, AgreesWithTheLoader) {
  Cases cases;
  add_config_cases(cases);
  add_partitions_cases(cases);
  add_gce_cases(cases);
  add_kubernetes_cases(cases);
  for (const char* name : {"two-groups", "three-groups", "two-partitions", "gpu"}) {
    const auto folder = kSource + "/tests/data/python-plugin/" + name;
    cases.all.push_back({false, file_json(folder + "/config.json"), true});
    cases.all.push_back({true, file_json(folder + "/partitions.json"), true});
  }
  cases.all.push_back({true, file_json(kSource + "/config/partitions-gce.json"), true});
  cases.all.push_back({true, file_json(kSource + "/config/partitions-kubernetes.json"), true});
  const auto verdicts = schema_verdicts(cases.all);
  ASSERT_EQ(verdicts.size(), cases.all.size()) << "python3-jsonschema is needed";
  const auto config = file_text(kSource + "/config/config.json");
  const auto partitions = file_text(kSource + "/config/partitions.json");
  for (std::size_t i = 0; i < cases.all.size(); ++i) {
    const auto& one = cases.all[i];
    const auto text = one.document.dump();
    std::string fatal;
    for (const auto& problem : one.partitions ? problems_of(config, text) : problems_of(text, partitions)) {
      if (problem.fatal) fatal += problem.message + "\n";
    }
    EXPECT_EQ(fatal.empty(), one.good) << "loader: " << fatal << text;
    EXPECT_EQ(verdicts[i].starts_with("good"), one.good) << "schema: " << verdicts[i] << text;
  }
}

/// The first column's code spans of the tables below a heading, up to the next heading.
Words documented(const std::string& text, const std::string& heading) {
  Words words;
  std::istringstream lines(text);
  std::string line;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("#")) inside = line == heading;
    if (!inside || !line.starts_with("| `")) continue;
    words.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return words;
}

Words properties(const Json& schema, const char* pointer) {
  Words words;
  for (const auto& [key, value] : schema.at(Json::json_pointer(pointer)).items()) {
    words.insert(key);
    EXPECT_TRUE(value.contains("title") && value.contains("description")) << key;
  }
  return words;
}

Words joined(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

TEST(ConfigSchema, AndDocumentationNameExactlyTheKeysOfTheLoader) {
  const auto docs = file_text(kSource + "/docs/configuration.md");
  const auto config = file_json(kSource + "/config/config.schema.json");
  const auto partitions = file_json(kSource + "/config/partitions.schema.json");
  const std::string group = "/definitions/NodeGroup/properties";

  EXPECT_EQ(properties(config, "/properties"), joined(kConfigKeys));
  EXPECT_EQ(documented(docs, "## config.json"), joined(kConfigKeys));
  const auto required = config["properties"]["SlurmConf"]["required"].get<std::vector<std::string>>();
  EXPECT_EQ(Words(required.begin(), required.end()), joined(kRequiredSlurmConf));
  EXPECT_EQ(documented(docs, "### SlurmConf"), joined(kRequiredSlurmConf));
  EXPECT_EQ(properties(config, "/properties/RequestLimits/additionalProperties/properties"), joined(kRequestLimitKeys));
  EXPECT_EQ(documented(docs, "### RequestLimits"), joined(kRequestLimitKeys));
  EXPECT_EQ(properties(partitions, "/properties"), joined(kPartitionsFileKeys));
  EXPECT_EQ(documented(docs, "## partitions.json"), joined(kPartitionsFileKeys));
  EXPECT_EQ(properties(partitions, "/definitions/Partition/properties"), joined(kPartitionKeys));
  EXPECT_EQ(documented(docs, "### Partition"), joined(kPartitionKeys));
  EXPECT_EQ(properties(partitions, (group + "/Tags/items/properties").c_str()), joined(kTagKeys));
  EXPECT_EQ(documented(docs, "### Tags"), joined(kTagKeys));

  Words all = joined(kNodeGroupKeys);
  EXPECT_EQ(documented(docs, "### Node group"), all);
  for (const auto& provider : kProviders) {
    EXPECT_EQ(documented(docs, "### Node group of " + provider.name),
              Words(provider.keys.begin(), provider.keys.end()));
    all.insert(provider.keys.begin(), provider.keys.end());
  }
  EXPECT_EQ(properties(partitions, group.c_str()), all);
}

}  // namespace
}  // namespace burst
