// SPDX-License-Identifier: Apache-2.0
// The slurm.conf fragment: the Python plugin's lines, without its faults.
#include "core/slurm_conf_text.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/gres.h"
#include "fakes/fake_services.h"

namespace burst {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  return text.str();
}

/// The files that the Python plugin's users have, and what it wrote for them (blanks at line ends removed).
class PythonPlugin : public testing::TestWithParam<const char*> {};

TEST_P(PythonPlugin, FilesGiveTheSameLines) {
  const std::string folder = std::string(BURST_SOURCE_DIR "/tests/data/python-plugin/") + GetParam();
  FakeFiles files;
  for (const char* name : {"/config.json", "/partitions.json"}) files.content[name] = file_text(folder + name);
  const std::vector<ProviderKeys> providers{
      {"aws",
       {"Region", "ProfileName", "PurchasingOption", "OnDemandOptions", "SpotOptions", "LaunchTemplateSpecification",
        "LaunchTemplateOverrides", "SubnetIds"},
       nullptr}};
  std::vector<ConfigProblem> problems;
  const auto config = load_config(files, {"/config.json", "/partitions.json", true}, providers, problems);
  for (const auto& problem : problems) ADD_FAILURE() << problem.message;
  EXPECT_EQ(slurm_conf_text(config), file_text(folder + "/slurm.conf.aws"));
  EXPECT_EQ(gres_conf_text(config), file_text(folder + "/gres.conf.aws"));
}

INSTANTIATE_TEST_SUITE_P(Examples, PythonPlugin, testing::Values("two-groups", "three-groups", "two-partitions", "gpu"),
                         [](const auto& example) {
                           std::string name = example.param;
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

Config one_group(SlurmOptions specifications = {}, SlurmOptions partition_options = {}) {
  NodeGroup group;
  group.partition = "p";
  group.name = "g";
  group.max_nodes = 3;
  group.slurm_specifications = std::move(specifications);
  Config config;
  config.slurm_conf = {{"ResumeTimeout", "300"}};
  config.partitions.push_back({"p", {group}, std::move(partition_options)});
  return config;
}

TEST(SlurmConfText, EndsNoLineWithABlank) {
  EXPECT_EQ(slurm_conf_text(one_group()),
            "ResumeTimeout=300\n\nNodeName=p-g-[0-2] State=CLOUD\nPartitionName=p Nodes=p-g-[0-2] MaxTime=INFINITE "
            "State=UP\n\n");
}

TEST(SlurmConfText, DoesNotRepeatWhatTheUserSets) {
  EXPECT_THAT(slurm_conf_text(one_group({{"CPUs", "4"}}, {{"maxtime", "60"}, {"Default", "YES"}, {"State", "DOWN"}})),
              HasSubstr("PartitionName=p Nodes=p-g-[0-2] maxtime=60 Default=YES State=DOWN\n"));
  EXPECT_THAT(slurm_conf_text(one_group({{"CPUs", "4"}, {"State", "FUTURE"}})),
              HasSubstr("NodeName=p-g-[0-2] CPUs=4 State=FUTURE\n"));
}

TEST(SlurmConfText, QuotesEmptyValuesThatWouldTakeTheNextOption) {
  EXPECT_THAT(slurm_conf_text(one_group({{"Feature", ""}, {"CPUs", "4"}})), HasSubstr(" Feature=\"\" CPUs=4\n"));
}

TEST(SlurmConfText, LeavesOutNodesOfAPartitionWithoutGroups) {
  auto config = one_group();
  config.partitions[0].groups.clear();
  EXPECT_EQ(slurm_conf_text(config), "ResumeTimeout=300\n\nPartitionName=p MaxTime=INFINITE State=UP\n\n");
}

TEST(SlurmConfText, ExcludesStaticNodesFromPowerSaving) {
  auto config = one_group();
  EXPECT_THAT(slurm_conf_text(config), Not(HasSubstr("SuspendExcNodes")));
  config.partitions[0].groups[0].min_nodes = 2;
  config.partitions[0].groups.push_back(config.partitions[0].groups[0]);
  config.partitions[0].groups[1].name = "h";
  config.partitions[0].groups[1].min_nodes = 1;
  EXPECT_THAT(slurm_conf_text(config), HasSubstr("ResumeTimeout=300\nSuspendExcNodes=p-g-[0-1],p-h-0\n\nNodeName"));
}

TEST(SlurmConfText, AddsStaticNodesToTheUsersOwnList) {
  auto config = one_group();
  config.partitions[0].groups[0].min_nodes = 1;
  config.slurm_conf.emplace_back("suspendexcnodes", "login[1-2]");
  EXPECT_THAT(slurm_conf_text(config), HasSubstr("\nsuspendexcnodes=login[1-2],p-g-0\n"));
  EXPECT_THAT(slurm_conf_text(config), Not(HasSubstr("SuspendExcNodes")));
}

/// One group whose machines wait in a queue, beside one whose machines do not.
Config queueing() {
  auto config = one_group();
  config.partitions[0].groups[0].partition_needs = {{"ResumeTimeout", "65533"}};
  return config;
}

TEST(SlurmConfText, WritesWhatGroupsNeedOfTheirPartition) {
  EXPECT_THAT(slurm_conf_text(queueing()),
              HasSubstr("PartitionName=p Nodes=p-g-[0-2] MaxTime=INFINITE State=UP ResumeTimeout=65533\n"));
  auto config = queueing();
  config.partitions[0].groups.push_back(config.partitions[0].groups[0]);  // both need it: it is written once
  config.partitions[0].options = {{"Default", "YES"}};
  EXPECT_THAT(slurm_conf_text(config), HasSubstr(" State=UP ResumeTimeout=65533 Default=YES\n"));
}

TEST(SlurmConfText, OfTwoNeedsTheLargerIsWritten) {
  for (const auto& [first, second] : {std::pair("900", "1800"), std::pair("1800", "900")}) {
    auto config = queueing();
    config.partitions[0].groups.push_back(config.partitions[0].groups[0]);
    config.partitions[0].groups[0].partition_needs = {{"ResumeTimeout", first}};
    config.partitions[0].groups.back().partition_needs = {{"ResumeTimeout", second}};
    EXPECT_THAT(slurm_conf_text(config), HasSubstr(" State=UP ResumeTimeout=1800\n"));
  }
}

TEST(SlurmConfText, PartitionOptionsWinOverWhatGroupsNeed) {
  auto config = queueing();
  config.partitions[0].options = {{"resumetimeout", "INFINITE"}};
  EXPECT_THAT(slurm_conf_text(config), HasSubstr(" State=UP resumetimeout=INFINITE\n"));
  EXPECT_THAT(slurm_conf_text(config), Not(HasSubstr("65533")));
}

TEST(SlurmConfText, NodesOfPartitionOptionsReplaceThePartitionsOwn) {
  EXPECT_THAT(slurm_conf_text(one_group({}, {{"Nodes", "p-g-[0-2],q-g-0"}})),
              HasSubstr("PartitionName=p MaxTime=INFINITE State=UP Nodes=p-g-[0-2],q-g-0\n"));
}

TEST(SlurmConfText, ReplacesControllerParametersWhereTheyStand) {
  auto config = one_group();
  EXPECT_THAT(slurm_conf_text(config, "cloud_reg_addrs"),
              HasSubstr("ResumeTimeout=300\nSlurmctldParameters=cloud_reg_addrs\n\n"));
  config.slurm_conf.insert(config.slurm_conf.begin(), {"slurmctldparameters", "a"});
  EXPECT_THAT(slurm_conf_text(config, "a,b"), testing::StartsWith("slurmctldparameters=a,b\nResumeTimeout=300\n\n"));
  EXPECT_THAT(slurm_conf_text(config), testing::StartsWith("slurmctldparameters=a\n"));
}

TEST(WantedControllerParameters, AreForMachinesThatQueueAndForReleasesThatNeedThem) {
  const std::string word = "cloud_reg_addrs";
  const auto config = queueing();
  for (const SlurmVersion version : {SlurmVersion{20, 11, 0}, SlurmVersion{22, 5, 8}, SlurmVersion{23, 2, 7}}) {
    EXPECT_EQ(wanted_controller_parameters(config, version, nullptr), word) << version.major;
    EXPECT_EQ(wanted_controller_parameters(one_group(), version, nullptr), "");
  }
  for (const SlurmVersion version : {SlurmVersion{20, 2, 9}, SlurmVersion{23, 11, 0}, SlurmVersion{26, 5, 0}}) {
    EXPECT_EQ(wanted_controller_parameters(config, version, nullptr), "") << version.major;
  }
  EXPECT_EQ(wanted_controller_parameters(config, std::nullopt, nullptr), word);
}

TEST(WantedControllerParameters, KeepWhatIsSetAlready) {
  auto config = queueing();
  const SlurmOptions installed{{"SlurmctldParameters", "idle_on_node_suspend"}};
  EXPECT_EQ(wanted_controller_parameters(config, std::nullopt, &installed), "idle_on_node_suspend,cloud_reg_addrs");
  config.slurm_conf.emplace_back("SlurmctldParameters", "power_save_interval=10");
  EXPECT_EQ(wanted_controller_parameters(config, std::nullopt, &installed), "power_save_interval=10,cloud_reg_addrs");
  config.slurm_conf.back().second = "power_save_interval=10,Cloud_Reg_Addrs";
  EXPECT_EQ(wanted_controller_parameters(config, std::nullopt, nullptr), "");
}

TEST(FindOption, TakesTheLastOneWithoutCase) {
  const SlurmOptions options{{"CPUs", "1"}, {"cpus", "2"}, {"A", "3"}};
  ASSERT_NE(find_option(options, "CPUS"), nullptr);
  EXPECT_EQ(*find_option(options, "CPUS"), "2");
  EXPECT_EQ(find_option(options, "CPU"), nullptr);
}

}  // namespace
}  // namespace burst
