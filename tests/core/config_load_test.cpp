// SPDX-License-Identifier: Apache-2.0
// Loading the two configuration files: what is read, and how every mistake is reported.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/config.h"
#include "fakes/fake_services.h"

namespace burst {
namespace {

using Json = nlohmann::ordered_json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

std::vector<ConfigProblem> check_demo(const Json& group) {
  if (group.contains("Zone") && !group["Zone"].is_string()) return {{true, "/Zone: expected a string, found 1"}};
  return {};
}

std::chrono::seconds demo_end(const Json& group) { return std::chrono::seconds(group.contains("Slow") ? 90 : 9); }
SlurmOptions demo_needs(const Json& group) { return {{"ResumeTimeout", group.value("Zone", "")}}; }

const std::vector<ProviderKeys> kProviders{
    {"aws", {"Region", "SubnetIds"}, nullptr},
    {"demo", {"Zone", "Slow"}, check_demo, demo_needs, false, std::chrono::seconds(9), demo_end},
    {"dns", {}, nullptr, nullptr, true}};

const char* const kGoodConfig = R"({
  "SlurmBinPath": "/slurm/bin",
  "SlurmConf": {"PrivateData": "CLOUD", "ResumeProgram": "/r", "SuspendProgram": "/s", "ResumeRate": 100,
                "SuspendRate": 100, "ResumeTimeout": 300, "SuspendTime": 350, "TreeWidth": 60000}
})";
const char* const kGoodPartitions = R"({"Partitions": [{"PartitionName": "aws", "NodeGroups": [
  {"NodeGroupName": "node", "MaxNodes": 10, "Region": "eu-west-1", "SlurmSpecifications": {"CPUs": "4"}}]}]})";

/// Loads the two texts and keeps what was found wrong.
class Loaded {
 public:
  explicit Loaded(const std::string& config_text = kGoodConfig, const std::string& partitions_text = kGoodPartitions,
                  bool beside_executable = false) {
    FakeFiles files;
    files.content["/e/config.json"] = config_text;
    files.content["/e/partitions.json"] = partitions_text;
    std::vector<ConfigProblem> problems;
    config = load_config(files, {"/e/config.json", "/e/partitions.json", beside_executable}, kProviders, problems);
    for (const auto& problem : problems) (problem.fatal ? errors : warnings).push_back(problem.message);
  }
  Config config;
  std::vector<std::string> errors, warnings;
};

/// The good config.json with one key set.
Loaded with_key(const std::string& key, const Json& value) {
  auto document = Json::parse(kGoodConfig);
  document[key] = value;
  return Loaded(document.dump());
}

/// The good partitions.json with one key of its node group set.
Loaded with_group_key(const std::string& key, const Json& value) {
  auto document = Json::parse(kGoodPartitions);
  document["Partitions"][0]["NodeGroups"][0][key] = value;
  return Loaded(kGoodConfig, document.dump());
}

TEST(LoadConfig, FillsInTheDefaultsOfThePythonPlugin) {
  const Loaded loaded(kGoodConfig, kGoodPartitions, true);
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.config.log_level, LogLevel::debug);
  EXPECT_EQ(loaded.config.log_file, "/e/aws_plugin.log");
  EXPECT_EQ(loaded.config.slurm_bin_path, "/slurm/bin/");
  ASSERT_EQ(loaded.config.groups().size(), 1U);
  const auto& group = *loaded.config.groups()[0];
  EXPECT_EQ(group.key(), "aws-node");
  EXPECT_EQ(group.provider, "aws");
  EXPECT_EQ(group.max_nodes, 10);
  EXPECT_EQ(group.min_nodes, 0);
  EXPECT_EQ(group.strategy, LaunchStrategy::best_effort);
  EXPECT_EQ(group.location, "\"/e/partitions.json\": /Partitions/0/NodeGroups/0");
  EXPECT_EQ(group.settings->at("Region"), "eu-west-1");
}

TEST(LoadConfig, LogsToTheSystemsFolderWhenNotBesideTheProgram) {
  EXPECT_EQ(Loaded().config.log_file, "/var/log/slurm-burst.log");
}

TEST(LoadConfig, ReadsEveryNewKey) {
  auto document = Json::parse(kGoodConfig);
  document.update(Json::parse(R"({"$schema": "config.schema.json", "LogLevel": "ERROR", "LogFileName": "/l",
    "ClusterName": "prod", "StateDir": "/var/lib/burst", "Environment": {"HTTPS_PROXY": "http://p"},
    "MachineTags": {"team": "hpc"}, "RequestLimits": {"CreateTags": {"Burst": 100, "PerSecond": 10.5}},
    "RequestsInFlight": 7, "AdoptUntagged": true, "LaunchGrace": 1, "OrphanGrace": 2, "MissingGrace": 3,
    "CoolDown": 4, "MaxCoolDown": 5, "ProbeTime": 6, "BootstrapFailureLimit": 0, "Deadline": 8})"));
  auto partitions = Json::parse(kGoodPartitions);
  partitions["Partitions"][0]["PartitionOptions"] = {{"Default", "yes"}};
  partitions["Partitions"][0]["NodeGroups"][0].update(
      {{"MinNodes", 2}, {"Provider", "demo"}, {"LaunchStrategy", "all-or-nothing"}, {"Zone", "a"}});
  partitions["Partitions"][0]["NodeGroups"][0]["Tags"] = Json::parse(R"([{"Key": "a", "Value": ""}])");
  partitions["Partitions"][0]["NodeGroups"][0].erase("Region");
  const Loaded loaded(document.dump(), partitions.dump());
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  const auto& config = loaded.config;
  EXPECT_EQ(config.log_level, LogLevel::error);
  EXPECT_EQ(config.log_file, "/l");
  EXPECT_EQ(config.cluster_name, "prod");
  EXPECT_EQ(config.state_dir, "/var/lib/burst");
  EXPECT_THAT(config.environment, ElementsAre(Pair("HTTPS_PROXY", "http://p")));
  EXPECT_THAT(config.machine_tags, ElementsAre(Pair("team", "hpc")));
  EXPECT_THAT(config.request_limits, ElementsAre(Pair("CreateTags", Pair(100.0, 10.5))));
  EXPECT_EQ(config.requests_in_flight, 7);
  EXPECT_TRUE(config.adopt_untagged);
  EXPECT_EQ(config.timing.launch_grace.count(), 1);
  EXPECT_EQ(config.timing.orphan_grace.count(), 2);
  EXPECT_EQ(config.timing.missing_grace.count(), 3);
  EXPECT_EQ(config.timing.cool_down.count(), 4);
  EXPECT_EQ(config.timing.max_cool_down.count(), 5);
  EXPECT_EQ(config.timing.probe_time.count(), 6);
  EXPECT_EQ(config.timing.bootstrap_failure_limit, 0);
  EXPECT_EQ(config.timing.deadline.count(), 8);
  EXPECT_THAT(config.partitions[0].options, ElementsAre(Pair("Default", "yes")));
  EXPECT_EQ(config.groups()[0]->min_nodes, 2);
  EXPECT_EQ(config.groups()[0]->provider, "demo");
  EXPECT_EQ(config.groups()[0]->strategy, LaunchStrategy::all_or_nothing);
}

TEST(LoadConfig, KeepsSlurmOptionsInTheOrderOfTheFileAndWritesValuesAsSlurmReadsThem) {
  auto document = Json::parse(kGoodPartitions);
  document["Partitions"][0]["NodeGroups"][0]["SlurmSpecifications"] =
      Json::parse(R"({"Z": "1", "A": 4, "M": true, "B": false, "F": 1.5, "G": 4.0, "H": 1e22, "N": -1, "E": ""})");
  const Loaded loaded(kGoodConfig, document.dump());
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.config.groups()[0]->slurm_specifications,
              ElementsAre(Pair("Z", "1"), Pair("A", "4"), Pair("M", "YES"), Pair("B", "NO"), Pair("F", "1.5"),
                          Pair("G", "4"), Pair("H", "10000000000000000000000"), Pair("N", "-1"), Pair("E", "")));
}

TEST(LoadConfig, RefusesSlurmValuesThatAreNoText) {
  const auto loaded =
      with_group_key("SlurmSpecifications", Json::parse(R"({"A": null, "B": {}, "C": [], "D": "x\ny"})"));
  const std::string at = "reading \"/e/partitions.json\": /Partitions/0/NodeGroups/0/SlurmSpecifications/";
  EXPECT_THAT(loaded.errors,
              ElementsAre(at + "A: expected a string, a number, true or false, found null",
                          at + "B: expected a string, a number, true or false, found an object",
                          at + "C: expected a string, a number, true or false, found an array",
                          at + R"(D: expected text without line breaks and control characters, found "x\ny")"));
}

TEST(LoadConfig, ReportsEveryProblemOfBothFiles) {
  const Loaded loaded(R"({"LogLevel": "INF", "SlurmConf": []})",
                      R"({"Partitions": [{"PartitionName": "a-b", "NodeGroups": {}},
                          {"PartitionName": "p", "NodeGroups": [{"NodeGroupName": "g\n", "MaxNodes": "ten",
                            "SlurmSpecifications": 3}, 5]}]})");
  EXPECT_THAT(
      loaded.errors,
      ElementsAre(
          "reading \"/e/config.json\": /LogLevel: expected one of \"CRITICAL\", \"ERROR\", \"WARNING\", \"INFO\", "
          "\"DEBUG\", found \"INF\"",
          "reading \"/e/config.json\": /SlurmConf: expected an object, found an array",
          "reading \"/e/partitions.json\": /Partitions/0/PartitionName: expected a name of letters and digits "
          "(^[a-zA-Z0-9]+$), found \"a-b\"",
          "reading \"/e/partitions.json\": /Partitions/0/NodeGroups: expected an array, found an object",
          "reading \"/e/partitions.json\": /Partitions/1/NodeGroups/0/NodeGroupName: expected a name of letters and "
          "digits (^[a-zA-Z0-9]+$), found \"g\\n\"",
          "reading \"/e/partitions.json\": /Partitions/1/NodeGroups/0/MaxNodes: expected an integer from 1 to 65536, "
          "found \"ten\"",
          "reading \"/e/partitions.json\": /Partitions/1/NodeGroups/0/SlurmSpecifications: expected an object, found 3",
          "reading \"/e/partitions.json\": /Partitions/1/NodeGroups/1: expected an object, found 5"));
}

TEST(LoadConfig, ReportsMissingKeys) {
  const Loaded loaded(R"({"SlurmConf": {"TreeWidth": 1}})", R"({"Partitions": [{"NodeGroups": [{}]}]})");
  EXPECT_EQ(loaded.errors.size(), 7U + 1U + 3U);
  EXPECT_THAT(loaded.errors,
              Contains("reading \"/e/config.json\": /SlurmConf: expected a key \"SuspendTime\", found none"));
  EXPECT_THAT(
      loaded.errors,
      Contains("reading \"/e/partitions.json\": /Partitions/0/NodeGroups/0: expected a key \"MaxNodes\", found none"));
  EXPECT_THAT(Loaded("{}").errors, ElementsAre("reading \"/e/config.json\": expected a key \"SlurmConf\", found none"));
  EXPECT_THAT(Loaded(kGoodConfig, "{}").errors,
              ElementsAre("reading \"/e/partitions.json\": expected a key \"Partitions\", found none"));
}

TEST(LoadConfig, ReportsAFileThatIsNotThereOrNotReadable) {
  FakeFiles files;
  files.unreadable.insert("/e/config.json");
  std::vector<ConfigProblem> problems;
  load_config(files, {"/e/config.json", "/e/partitions.json", false}, kProviders, problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].message, "reading \"/e/config.json\": permission denied");
  EXPECT_EQ(problems[1].message, "reading \"/e/partitions.json\": no such file");
  EXPECT_TRUE(problems[0].fatal && problems[1].fatal);
}

TEST(LoadConfig, ReportsSyntaxErrorsWithLineAndColumn) {
  const Loaded loaded("{\n  \"LogLevel\": \"INFO\",\n}", "{\"Partitions\": [");
  ASSERT_EQ(loaded.errors.size(), 2U);
  EXPECT_THAT(loaded.errors[0], HasSubstr("reading \"/e/config.json\": line 3, column 1: not JSON: unexpected '}'"));
  EXPECT_THAT(loaded.errors[1],
              HasSubstr("reading \"/e/partitions.json\": line 1, column 17: not JSON: unexpected end"));
}

TEST(LoadConfig, DoesNotShowWhatASyntaxErrorHasRead) {
  const Loaded loaded("{\"Environment\": {\"KEY\": \"secret\nvalue\"}}");
  ASSERT_EQ(loaded.errors.size(), 1U);
  EXPECT_THAT(loaded.errors[0], HasSubstr("line 1"));
  EXPECT_THAT(loaded.errors[0], Not(HasSubstr("secret")));
}

TEST(LoadConfig, RefusesWhatIsNoJson) {
  for (const char* text : {"", " ", "{", "\x01", "{\"a\": \"\xff\"}", "[1,]", "{} {}", "nul"}) {
    const Loaded loaded(text);
    ASSERT_EQ(loaded.errors.size(), 1U) << text;
    EXPECT_THAT(loaded.errors[0], HasSubstr("column")) << text;
    EXPECT_THAT(loaded.errors[0], Not(HasSubstr("json.exception"))) << text;
  }
}

TEST(LoadConfig, RefusesANumberThatFitsNoType) {
  EXPECT_THAT(Loaded("{\"a\": 1e999}").errors,
              ElementsAre("reading \"/e/config.json\": not JSON: number overflow parsing '1e999'"));
}

TEST(LoadConfig, RefusesJsonThatIsNoObject) {
  EXPECT_THAT(Loaded("[]").errors, ElementsAre("reading \"/e/config.json\": expected an object, found an array"));
  EXPECT_THAT(Loaded("null").errors, ElementsAre("reading \"/e/config.json\": expected an object, found null"));
  EXPECT_THAT(Loaded(kGoodConfig, "3").errors,
              ElementsAre("reading \"/e/partitions.json\": expected an object, found 3"));
}

TEST(LoadConfig, RefusesAKeyThatStandsTwiceInOneObject) {
  const Loaded loaded(kGoodConfig, R"({"Partitions": [{"PartitionName": "a", "NodeGroups": []},
    {"PartitionName": "b", "NodeGroups": [{"NodeGroupName": "g", "MaxNodes": 1, "MaxNodes": 2,
      "SlurmSpecifications": {"CPUs": 1, "CPUs": 1}}]}]})");
  EXPECT_THAT(loaded.errors,
              ElementsAre("reading \"/e/partitions.json\": /Partitions/1/NodeGroups/0: expected each key once, found "
                          "\"MaxNodes\" twice",
                          "reading \"/e/partitions.json\": /Partitions/1/NodeGroups/0/SlurmSpecifications: expected "
                          "each key once, found \"CPUs\" twice"));
}

TEST(LoadConfig, RefusesNamesThatStandTwice) {
  const char* group = R"({"NodeGroupName": "g", "MaxNodes": 1, "SlurmSpecifications": {}})";
  const Loaded loaded(kGoodConfig, fmt::format(R"({{"Partitions": [{{"PartitionName": "p", "NodeGroups": [{0}, {0}]}},
      {{"PartitionName": "q", "NodeGroups": [{0}]}}, {{"PartitionName": "p", "NodeGroups": [{0}]}}]}})",
                                               group));
  EXPECT_THAT(
      loaded.errors,
      ElementsAre("reading \"/e/partitions.json\": /Partitions/0/NodeGroups/1: expected each NodeGroupName once "
                  "in a partition, found \"g\" twice",
                  "reading \"/e/partitions.json\": /Partitions/2: expected each PartitionName once, found "
                  "\"p\" twice"));
}

TEST(LoadConfig, RefusesNodeCountsThatAreNone) {
  for (const Json& value : {Json(0), Json(-1), Json(true), Json(1.5), Json("1"), Json(nullptr), Json(65537),
                            Json(18446744073709551615ULL)}) {
    EXPECT_EQ(with_group_key("MaxNodes", value).errors.size(), 1U) << value;
  }
  for (const Json& value : {Json(11), Json(-1), Json(true), Json(0.5)}) {
    EXPECT_EQ(with_group_key("MinNodes", value).errors.size(), 1U) << value;
  }
  EXPECT_THAT(with_group_key("MinNodes", 11).errors,
              ElementsAre(HasSubstr("/MinNodes: expected no more than MaxNodes, 10, found 11")));
  EXPECT_EQ(with_group_key("MaxNodes", 10.0).config.groups()[0]->max_nodes, 10);
  EXPECT_EQ(with_group_key("MinNodes", 10).config.groups()[0]->min_nodes, 10);
  EXPECT_EQ(with_group_key("MaxNodes", 65536).config.groups()[0]->max_nodes, 65536);
}

TEST(LoadConfig, WarnsOfUnknownKeysAndSaysWhatWasMeant) {
  EXPECT_THAT(with_key("LogLevl", "INFO").warnings,
              ElementsAre("reading \"/e/config.json\": /LogLevl: unknown key, did you mean \"LogLevel\"?"));
  EXPECT_THAT(with_key("statedir", "/x").warnings, ElementsAre(HasSubstr("did you mean \"StateDir\"?")));
  EXPECT_THAT(with_key("Frobnicate", 1).warnings, ElementsAre("reading \"/e/config.json\": /Frobnicate: unknown key"));
  EXPECT_THAT(with_key("RequestLimits", Json::parse(R"({"X": {"Burst": 1, "PerSecond": 1, "Brust": 1}})")).warnings,
              ElementsAre("reading \"/e/config.json\": /RequestLimits/X/Brust: unknown key, did you mean \"Burst\"?"));
  EXPECT_THAT(with_group_key("MaxNode", 1).warnings, ElementsAre(HasSubstr("did you mean \"MaxNodes\"?")));
  EXPECT_THAT(with_group_key("SubnetId", 1).warnings, ElementsAre(HasSubstr("did you mean \"SubnetIds\"?")));
  EXPECT_THAT(with_group_key("Tags", Json::parse(R"([{"Key": "a", "Value": "b", "Vaule": "c"}])")).warnings,
              ElementsAre(HasSubstr("/Tags/0/Vaule: unknown key, did you mean \"Value\"?")));
  EXPECT_THAT(Loaded(kGoodConfig, R"({"Partition": 1, "Partitions": [{"PartitionName": "a", "NodeGroup": 1,
                                      "NodeGroups": []}]})")
                  .warnings,
              ElementsAre(HasSubstr("/Partition: unknown key, did you mean \"Partitions\"?"),
                          HasSubstr("/Partitions/0/NodeGroup: unknown key, did you mean \"NodeGroups\"?"),
                          HasSubstr("/Partitions/0/NodeGroups: no node group")));
  EXPECT_THAT(with_group_key("MaxNode", 1).errors, IsEmpty());
}

TEST(LoadConfig, ChecksAGroupByItsProvidersOwnKeys) {
  EXPECT_THAT(with_group_key("Zone", "a").warnings, ElementsAre(HasSubstr("/Zone: unknown key")));
  auto document = Json::parse(kGoodPartitions);
  document["Partitions"][0]["NodeGroups"][0]["Provider"] = "demo";
  document["Partitions"][0]["NodeGroups"][0]["Zone"] = 1;
  const Loaded loaded(kGoodConfig, document.dump());
  EXPECT_THAT(loaded.errors, ElementsAre("reading \"/e/partitions.json\": /Partitions/0/NodeGroups/0/Zone: expected a "
                                         "string, found 1"));
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("/Region: unknown key")));
}

TEST(LoadConfig, NamesTheKnownProvidersWhenItKnowsNoneOfThatName) {
  EXPECT_THAT(with_group_key("Provider", "azure").errors,
              ElementsAre(HasSubstr("/Provider: expected one of \"aws\", \"demo\", \"dns\", found \"azure\"")));
  EXPECT_THAT(with_group_key("Provider", 1).errors, ElementsAre(HasSubstr("/Provider: expected a string, found 1")));
}

TEST(LoadConfig, RefusesTagsOfAnotherShape) {
  for (const char* tags :
       {"{}", "[1]", "[{}]", R"([{"Key": "", "Value": "v"}])", R"([{"Key": "k"}])", R"([{"Key": "k", "Value": 1}])"}) {
    EXPECT_THAT(with_group_key("Tags", Json::parse(tags)).errors, Not(IsEmpty())) << tags;
  }
}

TEST(LoadConfig, RefusesValuesOfNewKeysThatAreOutOfRange) {
  const std::vector<std::pair<std::string, Json>> bad{{"LogLevel", "debug"},
                                                      {"LogLevel", 1},
                                                      {"LogFileName", ""},
                                                      {"SlurmBinPath", 1},
                                                      {"ClusterName", ""},
                                                      {"ClusterName", "a b"},
                                                      {"ClusterName", std::string(64, 'a')},
                                                      {"StateDir", "var/lib"},
                                                      {"StateDir", ""},
                                                      {"Environment", Json::array()},
                                                      {"Environment", {{"A=B", "x"}}},
                                                      {"Environment", {{"1A", "x"}}},
                                                      {"Environment", {{"A", 1}}},
                                                      {"MachineTags", {{"", "x"}}},
                                                      {"MachineTags", {{"a", true}}},
                                                      {"RequestLimits", {{"A", {{"Burst", 1}}}}},
                                                      {"RequestLimits", {{"A", {{"Burst", 0}, {"PerSecond", 1}}}}},
                                                      {"RequestLimits", {{"A", 1}}},
                                                      {"RequestsInFlight", 0},
                                                      {"RequestsInFlight", 10001},
                                                      {"AdoptUntagged", "yes"},
                                                      {"LaunchGrace", -1},
                                                      {"LaunchGrace", 1.5},
                                                      {"Deadline", "10s"},
                                                      {"CoolDown", 31536001},
                                                      {"MaxCoolDown", 10},
                                                      {"BootstrapFailureLimit", true}};
  for (const auto& [key, value] : bad) EXPECT_EQ(with_key(key, value).errors.size(), 1U) << key << " " << value;
}

TEST(LoadConfig, RaisesTheMostCoolDownToALongerCoolDown) {
  const auto loaded = with_key("CoolDown", 7200);
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_EQ(loaded.config.timing.max_cool_down.count(), 7200);
}

TEST(LoadConfig, DoesNotShowValuesOfTheEnvironment) {
  const auto loaded = with_key("Environment", Json::parse(R"({"A": 12345, "B=": "hidden"})"));
  ASSERT_EQ(loaded.errors.size(), 2U);
  for (const auto& error : loaded.errors) {
    EXPECT_THAT(error, Not(HasSubstr("12345")));
    EXPECT_THAT(error, Not(HasSubstr("hidden")));
  }
}

TEST(LoadConfig, EscapesKeysInPointersAndCutsLongValues) {
  EXPECT_THAT(with_key("a/b~c", 1).warnings, ElementsAre(HasSubstr(": /a~1b~0c: unknown key")));
  EXPECT_THAT(with_key("LogLevel", std::string(5000, 'x')).errors, ElementsAre(testing::SizeIs(testing::Lt(300U))));
}

TEST(LoadConfig, DoesNotOverflowTheStackOnDeepNesting) {
  const std::string deep(200'000, '[');
  EXPECT_EQ(Loaded(deep).errors.size(), 1U);
  EXPECT_EQ(Loaded(deep + std::string(200'000, ']')).errors.size(), 1U);
}

TEST(LoadConfig, LoadsAThousandGroupsQuickly) {
  auto document = Json::parse(kGoodPartitions);
  const auto group = document["Partitions"][0]["NodeGroups"][0];
  for (int i = 0; i < 999; ++i) {
    document["Partitions"][0]["NodeGroups"].push_back(group);
    document["Partitions"][0]["NodeGroups"].back()["NodeGroupName"] = "g" + std::to_string(i);
  }
  const auto text = document.dump();
  const auto start = std::chrono::steady_clock::now();
  const Loaded loaded(kGoodConfig, text);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(loaded.config.groups().size(), 1000U);
  EXPECT_THAT(loaded.errors, IsEmpty());
  RecordProperty("milliseconds", static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  EXPECT_LT(took, std::chrono::seconds(1));  // a few milliseconds; the bound is for sanitizers and busy machines
}

/// The good partitions.json with this merged into its node group.
Loaded with_group(const Json& patch, const char* partition = "aws") {
  auto document = Json::parse(kGoodPartitions);
  document["Partitions"][0]["PartitionName"] = partition;
  document["Partitions"][0]["NodeGroups"][0].merge_patch(patch);
  return Loaded(kGoodConfig, document.dump());
}

TEST(LoadConfig, AProvidersRowSaysWhatAPartitionNeedsAndHowLongMachinesEnd) {
  const auto loaded = with_group({{"Provider", "demo"}, {"Region", nullptr}, {"Zone", "77"}});
  EXPECT_THAT(loaded.errors, IsEmpty());
  const auto& group = loaded.config.partitions[0].groups[0];
  EXPECT_THAT(group.partition_needs, ElementsAre(Pair("ResumeTimeout", "77")));
  EXPECT_EQ(group.termination_time.count(), 9);
  const auto slow = with_group({{"Provider", "demo"}, {"Region", nullptr}, {"Zone", "77"}, {"Slow", 1}});
  EXPECT_EQ(slow.config.partitions[0].groups[0].termination_time.count(), 90);
  EXPECT_THAT(Loaded().config.partitions[0].groups[0].partition_needs, IsEmpty());
}

TEST(LoadConfig, NeedsAreNotAskedOfABrokenGroup) {
  const auto loaded = with_group({{"Provider", "demo"}, {"Region", nullptr}, {"Zone", 1}});
  EXPECT_EQ(loaded.errors.size(), 1U);
  EXPECT_THAT(loaded.config.partitions[0].groups[0].partition_needs, IsEmpty());
}

TEST(LoadConfig, ExpiryReservationIsTrueOrFalse) {
  EXPECT_FALSE(Loaded().config.partitions[0].groups[0].reserve_before_expiry);
  EXPECT_TRUE(with_group({{"ExpiryReservation", true}}).config.partitions[0].groups[0].reserve_before_expiry);
  EXPECT_THAT(with_group({{"ExpiryReservation", "true"}}).errors,
              ElementsAre(HasSubstr("/ExpiryReservation: expected true or false, found \"true\"")));
}

TEST(LoadConfig, MachinesCalledAsTheirNodesNeedDnsLabels) {
  const Json dns{{"Provider", "dns"}, {"Region", nullptr}};
  const auto named = [&](const std::string& name, const char* partition) {
    auto patch = dns;
    patch["NodeGroupName"] = name;
    return with_group(patch, partition).errors;
  };
  EXPECT_THAT(named("a3u", "gpu2"), IsEmpty());
  EXPECT_THAT(
      named("A3u", "gpu"),
      ElementsAre("reading \"/e/partitions.json\": /Partitions/0/NodeGroups/0/NodeGroupName: machines of dns are "
                  "called as their nodes: \"gpu-A3u-9\" has to be a DNS label (RFC 1035): lower case letters, "
                  "digits and '-', a letter first, at most 63 characters"));
  EXPECT_THAT(named("a3u", "Gpu"), ElementsAre(HasSubstr("\"Gpu-a3u-9\" has to be a DNS label")));
  EXPECT_THAT(named("a3u", "2gpu"), ElementsAre(HasSubstr("\"2gpu-a3u-9\" has to be a DNS label")));
  EXPECT_THAT(named(std::string(57, 'g'), "gpu"), IsEmpty());  // 3 + 1 + 57 + 1 + 1
  EXPECT_THAT(named(std::string(58, 'g'), "gpu"), ElementsAre(HasSubstr("has to be a DNS label")));
  EXPECT_THAT(with_group({{"NodeGroupName", "A3u"}}, "2Gpu").errors, IsEmpty());
}

TEST(LoadConfig, ItsLongestNodeNameDecidesAboutAGroup) {
  Json patch{{"Provider", "dns"}, {"Region", nullptr}, {"NodeGroupName", std::string(57, 'g')}, {"MaxNodes", 10}};
  EXPECT_THAT(with_group(patch, "gpu").errors, IsEmpty());
  patch["MaxNodes"] = 11;
  EXPECT_THAT(with_group(patch, "gpu").errors, ElementsAre(HasSubstr("-10\" has to be a DNS label")));
}

TEST(LoadConfig, NodesOfOtherPartitionsAreNodesToo) {
  const char* const text = R"({"Partitions": [{"PartitionName": "b", "NodeGroups": [],
                                               "PartitionOptions": {"Nodes": "aws-node-0"}}]})";
  EXPECT_THAT(Loaded(kGoodConfig, text).warnings, IsEmpty());
}

}  // namespace
}  // namespace burst
