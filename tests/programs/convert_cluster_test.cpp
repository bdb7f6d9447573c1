// SPDX-License-Identifier: Apache-2.0
// `generate_conf --from-cluster-config`: what it writes, prints and returns.
#include "programs/convert_cluster.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_services.h"

namespace burst {
namespace {

using testing::HasSubstr;

class ConvertCluster : public testing::Test {
 protected:
  ConvertCluster() {
    files.content["c.json"] = R"({"display_name": "c", "name": "projects/my-project/locations/us-central1/x/",
      "node_pools": [{"id": "a", "machine_spec": {"machine_type": "n2-standard-8"}, "scaling_spec": {"max_node_count": 4}}],
      "orchestrator_spec": {"slurm_spec": {"partitions": [{"id": "p", "node_pool_ids": ["a"]}]}}})";
  }
  int run(const std::string& directory = ".", bool to_stdout = false) {
    return convert_cluster({"c.json", directory, to_stdout, providers}, files, out, err);
  }
  std::vector<ProviderKeys> providers{{"gce", {"Project", "Region", "ProvisioningModel", "InstanceTemplate"}}};
  FakeFiles files;
  std::ostringstream out, err;
};

TEST_F(ConvertCluster, WritesPartitionsJsonAndHints) {
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(files.content.at("partitions.json"), HasSubstr("\"PartitionName\": \"p\""));
  EXPECT_EQ(out.str(), "");
  EXPECT_THAT(err.str(), testing::StartsWith("hint: node pool a: create the instance template c-a: "));
  EXPECT_EQ(run("/etc/slurm-burst"), 0);
  EXPECT_EQ(files.content.at("/etc/slurm-burst/partitions.json"), files.content.at("partitions.json"));
}

TEST_F(ConvertCluster, PrintsAndWritesNothing) {
  EXPECT_EQ(run(".", true), 0);
  EXPECT_THAT(out.str(), HasSubstr("\"PartitionName\": \"p\""));
  EXPECT_EQ(files.content.size(), 1U);
}

TEST_F(ConvertCluster, ReplacesNoFile) {
  files.content["partitions.json"] = "mine";
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(files.content.at("partitions.json"), "mine");
}

TEST_F(ConvertCluster, WritesNothingThatTheProgramsWouldNotLoad) {
  providers[0].check = [](const nlohmann::ordered_json&) {
    return std::vector<ConfigProblem>{{true, "/Project: expected another, found \"my-project\""}};
  };
  EXPECT_EQ(run(), 2);
  EXPECT_EQ(err.str(),
            "error: reading \"partitions.json\": /Partitions/0/NodeGroups/0/Project: expected another, found "
            "\"my-project\"\n");
  EXPECT_EQ(files.content.size(), 1U);
}

TEST_F(ConvertCluster, WritesNothingForAFileThatCannotBeUsed) {
  files.content["c.json"] = "{}";
  EXPECT_EQ(run(), 2);
  EXPECT_THAT(err.str(), HasSubstr("error: reading \"c.json\": expected a key \"name\", found none\n"));
  EXPECT_EQ(files.content.size(), 1U);
  files.content.clear();
  EXPECT_THROW(run(), Error);
}

}  // namespace
}  // namespace burst
