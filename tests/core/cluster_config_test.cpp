// SPDX-License-Identifier: Apache-2.0
// cluster_config.json of Vertex AI, turned into partitions.json.
#include "core/cluster_config.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/provider.h"
#include "core/gres.h"
#include "core/slurm_conf_text.h"
#include "fakes/fake_services.h"

namespace burst {
namespace {

using Json = nlohmann::ordered_json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFolder = BURST_SOURCE_DIR "/tests/data/cluster-config/";

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// One conversion: of the example, of a patched example, of a text.
class Converted {
 public:
  explicit Converted(const std::string& input) {
    std::vector<ConfigProblem> problems;
    auto result = convert_cluster_config("c.json", input, problems);
    for (const auto& problem : problems) (problem.fatal ? errors : warnings).push_back(problem.message);
    text = result.partitions;
    hints = std::move(result.hints);
    if (!text.empty()) json = Json::parse(text);
  }
  const Json& group(std::size_t partition = 0, std::size_t index = 0) const {
    return json["Partitions"][partition]["NodeGroups"][index];
  }
  std::string text;
  Json json;
  std::vector<std::string> errors, warnings, hints;
};

Json example() { return Json::parse(file_text(kFolder + "cluster_config.json")); }

Converted with(const char* pointer, const Json& value) {
  auto document = example();
  document[Json::json_pointer(pointer)] = value;
  return Converted(document.dump());
}
Converted with_pool(const char* patch) {
  auto document = example();
  document["node_pools"][1].merge_patch(Json::parse(patch));
  return Converted(document.dump());
}

/// The configuration that a partitions.json gives with the example of config.json.
Config loaded(const std::string& partitions) {
  FakeFiles files;
  files.content["/config.json"] = file_text(BURST_SOURCE_DIR "/config/config.json");
  files.content["/partitions.json"] = partitions;
  std::vector<ProviderKeys> providers;
  for (const auto& entry : provider_registry()) providers.push_back(entry.keys);
  std::vector<ConfigProblem> problems;
  auto config = load_config(files, {"/config.json", "/partitions.json", false}, providers, problems);
  for (const auto& problem : problems) ADD_FAILURE() << problem.message;
  return config;
}

TEST(ConvertClusterConfig, GivesTheExpectedFilesForTheExample) {
  const Converted converted(file_text(kFolder + "cluster_config.json"));
  EXPECT_THAT(converted.errors, IsEmpty());
  EXPECT_THAT(converted.warnings, IsEmpty());
  EXPECT_EQ(converted.text, file_text(kFolder + "partitions.json"));
  const auto config = loaded(converted.text);
  EXPECT_EQ(slurm_conf_text(config), file_text(kFolder + "slurm.conf.aws"));
  EXPECT_EQ(gres_conf_text(config), file_text(kFolder + "gres.conf.aws"));
}

TEST(ConvertClusterConfig, SaysWhichTemplateIsToBeMade) {
  const Converted converted(file_text(kFolder + "cluster_config.json"));
  EXPECT_THAT(
      converted.hints,
      ElementsAre("node pool a3u: create the instance template flexvm-a3u: machine type a3-ultragpu-8g, network "
                  "projects/my-project/global/networks/default, subnetwork "
                  "projects/my-project/regions/us-central1/subnetworks/default, boot disk hyperdisk-balanced, "
                  "400 GB, an external address, provisioning model FLEX_START, maximum run duration 604800s, "
                  "termination action DELETE, maintenance policy TERMINATE, reservation affinity none; "
                  "docs/providers/gce.md says what it needs besides",
                  "home_directory_storage projects/my-project/locations/us-central1-a/instances/home: to be "
                  "mounted by the image or start-up script of the instance templates"));
}

TEST(ConvertClusterConfig, ReportsPlaceholdersThatWereLeft) {
  const Converted converted(file_text(kFolder + "placeholders.json"));
  EXPECT_THAT(
      converted.errors,
      ElementsAre(HasSubstr("reading \"c.json\": /name: expected your own value in place of <project-id>, found "),
                  "reading \"c.json\": /node_pools/1/zone: expected your own value in place of <zone>, found "
                  "\"<zone>\""));
  EXPECT_EQ(converted.text, "");
}

TEST(ConvertClusterConfig, TakesBothSpellingsAndNumbersAndBooleansAsStrings) {
  const char* const camel = R"({"displayName": "flexvm", "name": "projects/my-project/locations/us-central1/x/y",
    "nodePools": [{"id": "a", "machineSpec": {"machineType": "n2-standard-8"}, "enablePublicIps": true,
                   "scalingSpec": {"minNodeCount": "1", "maxNodeCount": "4"}, "provisioningModel": "SPOT"}],
    "orchestratorSpec": {"slurmSpec": {"partitions": [{"id": "p", "nodePoolIds": ["a"]}]}}})";
  const Converted converted(camel);
  EXPECT_THAT(converted.errors, IsEmpty());
  EXPECT_THAT(converted.warnings, IsEmpty());
  EXPECT_EQ(converted.group()["MinNodes"], 1);
  EXPECT_EQ(converted.group()["MaxNodes"], 4);
  EXPECT_EQ(converted.group()["ProvisioningModel"], "SPOT");
  EXPECT_FALSE(converted.group().contains("Zones"));
  EXPECT_THAT(converted.hints, ElementsAre(HasSubstr("machine type n2-standard-8, an external address;")));
  loaded(converted.text);
}

TEST(ConvertClusterConfig, APoolInSeveralPartitionsIsSharedByThem) {
  auto document = example();
  document["orchestrator_spec"]["slurm_spec"]["partitions"] = Json::parse(
      R"([{"id": "a3u", "node_pool_ids": ["a3u"]}, {"id": "all", "node_pool_ids": ["cpu", "a3u", "cpu"]}])");
  document["node_pools"].push_back(Json::parse(R"({"id": "cpu", "machine_spec": {"machine_type": "n2-standard-8"},
                                                   "scaling_spec": {"max_node_count": 1}})"));
  const Converted converted(document.dump());
  EXPECT_THAT(converted.errors, IsEmpty());
  EXPECT_THAT(converted.hints,
              Contains("partition all: called all2, as names are of lower-case letters and digits, each "
                       "once"));
  EXPECT_THAT(converted.hints, Contains("partition all2: shares the nodes a3u-a3u-[0-1] of node pool a3u"));
  const auto text = slurm_conf_text(loaded(converted.text));
  EXPECT_THAT(text, HasSubstr("\nPartitionName=all2 MaxTime=INFINITE State=UP Nodes=all2-cpu-0,a3u-a3u-[0-1]\n"));
  EXPECT_THAT(text, HasSubstr("NodeName=all2-cpu-0 State=CLOUD CPUs=8 RealMemory=31129\n"));
}

TEST(ConvertClusterConfig, MakesNamesThatSlurmAndDnsTake) {
  auto document = example();
  document["node_pools"][1]["id"] = "My_GPU-pool";
  document["node_pools"].push_back(document["node_pools"][1]);
  document["node_pools"][2]["id"] = "mygpu.pool";
  document["display_name"] = "Flex VM";
  document["orchestrator_spec"]["slurm_spec"]["partitions"] =
      Json::parse(R"([{"id": "1-gpu", "node_pool_ids": ["My_GPU-pool", "mygpu.pool"]}])");
  const Converted converted(document.dump());
  EXPECT_EQ(converted.json["Partitions"][0]["PartitionName"], "p1gpu");
  EXPECT_EQ(converted.group(0, 0)["NodeGroupName"], "mygpupool");
  EXPECT_EQ(converted.group(0, 1)["NodeGroupName"], "mygpupool2");
  EXPECT_EQ(converted.group(0, 0)["InstanceTemplate"], "flex-vm-my-gpu-pool");
  loaded(converted.text);
}

TEST(ConvertClusterConfig, LeavesOutTheLoginPoolAndPoolsOfNoPartition) {
  auto document = example();
  document["orchestrator_spec"]["slurm_spec"]["partitions"][0]["node_pool_ids"] = Json::parse(R"(["login"])");
  const Converted converted(document.dump());
  EXPECT_THAT(converted.warnings, ElementsAre("reading \"c.json\": "
                                              "/orchestrator_spec/slurm_spec/partitions/0/node_pool_ids/0: the login "
                                              "pool is left out"));
  EXPECT_THAT(converted.hints, Contains("node pool a3u: in no partition, left out"));
  EXPECT_THAT(converted.json["Partitions"][0]["NodeGroups"], IsEmpty());
}

TEST(ConvertClusterConfig, LeavesOutWhatTheMachineTypeDoesNotSay) {
  const auto converted = with_pool(R"({"machine_spec": {"machine_type": "x9-mega-7", "accelerator_type": "TPU_V9"}})");
  EXPECT_EQ(converted.group()["SlurmSpecifications"], Json::object());
  EXPECT_THAT(converted.hints,
              Contains(HasSubstr("node pool a3u: machine type x9-mega-7 is not known here: add CPUs and "
                                 "RealMemory")));
  EXPECT_THAT(converted.hints, Contains("node pool a3u: accelerator TPU_V9 is no GPU of NVIDIA: no Gres is written"));
}

TEST(ConvertClusterConfig, TakesGpusFromTheMachineTypeWhereNoneAreNamed) {
  const auto converted = with_pool(R"({"machine_spec": {"accelerator_type": null, "accelerator_count": null}})");
  EXPECT_EQ(converted.group()["SlurmSpecifications"]["Gres"], "gpu:h200:8");
}

TEST(ConvertClusterConfig, AReservedPoolTakesItsReservation) {
  const auto converted = with_pool(R"({"provisioning_model": "RESERVATION", "flex_start_max_duration": null,
    "machine_spec": {"reservation_affinity": {"values": ["projects/my-project/reservations/r"]}}})");
  EXPECT_EQ(converted.group()["ProvisioningModel"], "RESERVATION_BOUND");
  EXPECT_EQ(converted.group()["Reservation"], "projects/my-project/reservations/r");
  loaded(converted.text);
}

struct Case {
  const char* pointer;
  const char* value;
  const char* problem;
};
class ClusterConfigProblems : public testing::TestWithParam<Case> {};

TEST_P(ClusterConfigProblems, AreNamedByPointer) {
  const auto converted = with(GetParam().pointer, Json::parse(GetParam().value));
  EXPECT_THAT(converted.errors, ElementsAre(std::string("reading \"c.json\": ") + GetParam().problem));
  EXPECT_EQ(converted.text, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, ClusterConfigProblems,
    testing::Values(
        Case{"", "[]", "expected an object, found an array"},
        Case{"/name", R"("cluster")", R"(/name: expected projects/PROJECT/locations/REGION/..., found "cluster")"},
        Case{"/name", "1", "/name: expected a string, found 1"},
        Case{"/node_pools/0/id", R"("a3u")", R"(/node_pools/1/id: expected each id once, found "a3u")"},
        Case{"/node_pools/1/scaling_spec", "{}",
             R"(/node_pools/1/scaling_spec: expected a key "max_node_count", found none)"},
        Case{"/node_pools/1/scaling_spec/max_node_count", R"("two")",
             R"(/node_pools/1/scaling_spec/max_node_count: expected an integer from 1 to 65536, found "two")"},
        Case{"/node_pools/1/scaling_spec/max_node_count", "0",
             "/node_pools/1/scaling_spec/max_node_count: expected an integer from 1 to 65536, found 0"},
        Case{"/node_pools/1/scaling_spec/min_node_count", "3",
             "/node_pools/1/scaling_spec/min_node_count: expected no more than max_node_count, 2, found 3"},
        Case{
            "/node_pools/1/provisioning_model", R"("FLEX")",
            R"(/node_pools/1/provisioning_model: expected one of "ON_DEMAND", "SPOT", "RESERVATION", "FLEX_START", found "FLEX")"},
        Case{
            "/node_pools/1/flex_start_max_duration", R"("29s")",
            R"(/node_pools/1/flex_start_max_duration: expected seconds from 30 to 604800 such as "604800s", found "29s")"},
        Case{"/node_pools/1/zone", R"("us-east1-a")",
             R"(/node_pools/1/zone: expected a zone of us-central1, found "us-east1-a")"},
        Case{"/node_pools/1/enable_public_ips", R"("yes")",
             R"(/node_pools/1/enable_public_ips: expected true or false, found "yes")"},
        Case{"/node_pools/1/machine_spec", "{}",
             R"(/node_pools/1/machine_spec: expected a key "machine_type", found none)"},
        Case{"/orchestrator_spec", "{}", R"(/orchestrator_spec: expected a key "slurm_spec", found none)"},
        Case{
            "/orchestrator_spec/slurm_spec/partitions/0/node_pool_ids/0", R"("a4")",
            R"(/orchestrator_spec/slurm_spec/partitions/0/node_pool_ids/0: expected the id of a node pool, found "a4")"}));

TEST(ConvertClusterConfig, WarnsOfMisspelledKeysOfAPool) {
  EXPECT_THAT(with_pool(R"({"provisoning_model": "FLEX_START"})").warnings,
              ElementsAre("reading \"c.json\": /node_pools/1/provisoning_model: unknown key, did you mean "
                          "\"provisioning_model\"?"));
}

TEST(ConvertClusterConfig, FindsAllProblemsAtOnceAndBrokenJson) {
  EXPECT_THAT(Converted("{").errors, ElementsAre(HasSubstr("reading \"c.json\": line 1, column 2: not JSON")));
  EXPECT_EQ(Converted("{}").errors.size(), 3U);
}

}  // namespace
}  // namespace burst
