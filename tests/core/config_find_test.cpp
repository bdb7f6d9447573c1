// SPDX-License-Identifier: Apache-2.0
// Where the configuration is found, and the questions that Config answers about itself.
#include <gtest/gtest.h>

#include "burst/config.h"
#include "burst/error.h"
#include "fakes/fake_services.h"

namespace burst {
namespace {

TEST(FindConfig, TakesTheOptionsFileAndPartitionsBesideIt) {
  FakeFiles files;
  files.content["/etc/x/my.json"] = "{}";
  files.content["/opt/burst/config.json"] = "{}";
  const auto paths = find_config(files, "/etc/x/my.json", "/other.json", "/opt/burst", "/etc/slurm-burst");
  EXPECT_EQ(paths.config, "/etc/x/my.json");
  EXPECT_EQ(paths.partitions, "/etc/x/partitions.json");
  EXPECT_FALSE(paths.beside_executable);
}

TEST(FindConfig, TakesARelativeFileAsItIs) {
  FakeFiles files;
  files.content["my.json"] = "{}";
  EXPECT_EQ(find_config(files, "my.json", std::nullopt, "/opt", "/etc").partitions, "partitions.json");
}

TEST(FindConfig, TakesTheVariableWhenThereIsNoOption) {
  FakeFiles files;
  files.content["/v/config.json"] = "{}";
  files.content["/opt/burst/config.json"] = "{}";
  EXPECT_EQ(find_config(files, "", "/v/config.json", "/opt/burst", "/etc").config, "/v/config.json");
}

TEST(FindConfig, IgnoresAnEmptyVariable) {
  FakeFiles files;
  files.content["/opt/burst/config.json"] = "{}";
  EXPECT_EQ(find_config(files, "", "", "/opt/burst", "/etc").config, "/opt/burst/config.json");
}

TEST(FindConfig, LooksBesideTheProgramBeforeTheSystemsFolder) {
  FakeFiles files;
  files.content["/opt/burst/config.json"] = "{}";
  files.content["/etc/slurm-burst/config.json"] = "{}";
  const auto paths = find_config(files, "", std::nullopt, "/opt/burst", "/etc/slurm-burst");
  EXPECT_EQ(paths.config, "/opt/burst/config.json");
  EXPECT_TRUE(paths.beside_executable);
  files.remove("/opt/burst/config.json");
  const auto system = find_config(files, "", std::nullopt, "/opt/burst", "/etc/slurm-burst");
  EXPECT_EQ(system.config, "/etc/slurm-burst/config.json");
  EXPECT_FALSE(system.beside_executable);
}

TEST(FindConfig, DoesNotReplaceANamedFileThatIsMissing) {
  FakeFiles files;
  files.content["/opt/burst/config.json"] = "{}";
  EXPECT_THROW(find_config(files, "/missing.json", std::nullopt, "/opt/burst", "/etc"), Error);
  EXPECT_THROW(find_config(files, "", "/missing.json", "/opt/burst", "/etc"), Error);
}

TEST(FindConfig, NamesAllPlacesLookedAt) {
  const FakeFiles files;
  try {
    find_config(files, "", std::nullopt, "/opt/burst", "/etc/slurm-burst");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "NoConfiguration");
    EXPECT_STREQ(error.what(),
                 "finding the configuration: no such file: \"/opt/burst/config.json\" (beside the program), "
                 "\"/etc/slurm-burst/config.json\" (the system's configuration)");
  }
}

TEST(FindConfig, DoesNotPassOverAnUnreadableFile) {
  FakeFiles files;
  files.unreadable.insert("/opt/burst/config.json");
  files.content["/etc/slurm-burst/config.json"] = "{}";
  EXPECT_EQ(find_config(files, "", std::nullopt, "/opt/burst", "/etc/slurm-burst").config, "/opt/burst/config.json");
}

Config two_partitions() {
  Config config;
  for (const char* partition : {"aws", "gpu"}) {
    Partition made{partition, {}, {}};
    for (const char* name : {"a", "b"}) {
      NodeGroup group;
      group.partition = partition;
      group.name = name;
      group.max_nodes = 10;
      made.groups.push_back(group);
    }
    config.partitions.push_back(made);
  }
  return config;
}

TEST(ConfigFindGroup, FindsByPartitionAndGroupOnly) {
  const auto config = two_partitions();
  EXPECT_EQ(config.find_group("gpu-a-3"), &config.partitions[1].groups[0]);
  EXPECT_EQ(config.find_group("gpu-a-12345"), &config.partitions[1].groups[0]);
  EXPECT_EQ(config.find_group("gpu-c-0"), nullptr);
  EXPECT_EQ(config.find_group("a-gpu-0"), nullptr);
  EXPECT_EQ(config.find_group("gpu"), nullptr);
  EXPECT_EQ(config.find_group(""), nullptr);
}

TEST(ConfigGroups, ListsThemInTheOrderOfTheFile) {
  const auto config = two_partitions();
  std::string keys;
  for (const auto* group : config.groups()) keys += group->key() + " ";
  EXPECT_EQ(keys, "aws-a aws-b gpu-a gpu-b ");
}

TEST(NodeGroupNodeRange, IsARangeOrASingleName) {
  auto config = two_partitions();
  auto& group = config.partitions[0].groups[0];
  EXPECT_EQ(group.node_range(), "aws-a-[0-9]");
  group.max_nodes = 2;
  EXPECT_EQ(group.node_range(), "aws-a-[0-1]");
  group.max_nodes = 1;
  EXPECT_EQ(group.node_range(), "aws-a-0");
}

}  // namespace
}  // namespace burst
