// SPDX-License-Identifier: Apache-2.0
// The configuration check: each rule finds what it is for, and nothing in a good configuration.
#include "core/conf_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burst {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr SlurmVersion kDebian{22, 5, 8}, kNew{25, 11, 0}, kNewest{26, 5, 0};

Config good_config() {
  NodeGroup group;
  group.partition = "aws";
  group.name = "node";
  group.max_nodes = 100;
  group.slurm_specifications = {{"CPUs", "4"}, {"Features", "a"}};
  Config config;
  config.slurm_conf = {{"PrivateData", "CLOUD"},
                       {"ResumeProgram", "/opt/resume"},
                       {"SuspendProgram", "/opt/suspend"},
                       {"ResumeFailProgram", "/opt/suspend"},
                       {"ResumeRate", "100"},
                       {"SuspendRate", "100"},
                       {"ResumeTimeout", "300"},
                       {"SuspendTimeout", "120"},
                       {"SuspendTime", "650"},
                       {"TreeWidth", "60000"}};
  config.partitions.push_back({"aws", {group}, {{"Default", "YES"}}});
  return config;
}

void set(SlurmOptions& options, const std::string& key, const std::string& value) {
  for (auto& [name, old] : options) {
    if (name == key) {
      old = value;
      return;
    }
  }
  options.emplace_back(key, value);
}

std::vector<std::string> found(const Config& config, const SlurmVersion& version = kDebian,
                               const HostFacts& host = {}) {
  std::vector<std::string> lines;
  for (const auto& finding : check_conf(config, version, host)) lines.push_back(to_string(finding));
  return lines;
}

/// A configuration with one option of SlurmConf set.
Config with(const std::string& key, const std::string& value) {
  auto config = good_config();
  set(config.slurm_conf, key, value);
  return config;
}
Config with_node_option(const std::string& key, const std::string& value) {
  auto config = good_config();
  set(config.partitions[0].groups[0].slurm_specifications, key, value);
  return config;
}
Config with_partition_option(const std::string& key, const std::string& value) {
  auto config = good_config();
  set(config.partitions[0].options, key, value);
  return config;
}
Config without(const std::string& key) {
  auto config = good_config();
  std::erase_if(config.slurm_conf, [&](const auto& option) { return option.first == key; });
  return config;
}

TEST(CheckConf, FindsNothingInAGoodConfiguration) {
  EXPECT_THAT(found(good_config()), IsEmpty());
  HostFacts host;
  host.programs = {{"/opt/resume", {true, true, false}}, {"/opt/suspend", {true, true, false}}};
  host.slurm_conf = SlurmOptions{{"ReturnToService", "2"}, {"SlurmctldParameters", "power_save_min_interval=5"}};
  host.gres_conf = "# AutoDetect=nvml\nAutoDetect=off\n";
  EXPECT_THAT(found(good_config(), kDebian, host), IsEmpty());
  EXPECT_THAT(found(with("TreeWidth", "16"), kNew, host), IsEmpty());
  EXPECT_THAT(found(with("TreeWidth", "16"), kNewest, host), IsEmpty());
}

TEST(CheckConf, PutsRefusalsBeforeWarnings) {
  auto config = with("SuspendTime", "10");
  set(config.slurm_conf, "ResumeRate", "x");
  const auto lines = found(config);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "error: R4 ResumeRate=x: expected a number from 0 to 60000");
  EXPECT_EQ(lines[1], "warning: W1 SuspendTime=10: nodes end 10 s after their last job");
}

TEST(CheckConf, RefusesProgramsThatSlurmWouldNotRun) {
  EXPECT_THAT(found(with("ResumeProgram", "resume")), Contains("error: R1 ResumeProgram=resume: not an absolute path"));
  EXPECT_THAT(found(with("SuspendProgram", "")), Contains("error: R1 SuspendProgram=: not an absolute path"));
  EXPECT_THAT(found(with("ResumeProgram", "/opt/resume -v")),
              Contains("error: R1 ResumeProgram=/opt/resume -v: arguments are not allowed before Slurm 26.05"));
  EXPECT_THAT(found(with("ResumeProgram", "/opt/resume -v"), kNewest), Not(Contains(HasSubstr("R1"))));
  EXPECT_THAT(found(with("ResumeProgram", "wake"), kNewest), Not(Contains(HasSubstr("R1"))));
  const std::vector<std::pair<ProgramFacts, std::string>> table{{{false, false, false}, "no such file on this machine"},
                                                                {{true, false, false}, "not executable"},
                                                                {{true, true, true}, "writable by group or others"}};
  for (const auto& [facts, text] : table) {
    HostFacts host;
    host.programs["/opt/resume"] = facts;
    EXPECT_THAT(found(good_config(), kDebian, host),
                testing::ElementsAre("error: R1 ResumeProgram=/opt/resume: " + text));
  }
}

TEST(CheckConf, RefusesReservedNamesAndTooManyNodes) {
  auto config = good_config();
  config.partitions[0].name = "Default";
  EXPECT_THAT(found(config), Contains("error: R2 partition Default: a name that Slurm keeps for itself"));
  config = good_config();
  config.partitions[0].groups[0].max_nodes = 40'000;
  config.partitions[0].groups.push_back(config.partitions[0].groups[0]);
  EXPECT_THAT(found(config), Contains("error: R2 80000 nodes in all node groups, Slurm holds 65536 at most"));
}

TEST(CheckConf, RefusesMalformedGresAndAutoDetect) {
  EXPECT_THAT(found(with_node_option("Gres", "gpu:a:b:c")),
              Contains("error: R3 aws-node: Gres \"gpu:a:b:c\" is not name[:type][:count]"));
  HostFacts host;
  host.gres_conf = "Name=x\nAutoDetect=nvml # all\n";
  EXPECT_THAT(found(with_node_option("Gres", "gpu:1"), kDebian, host), Contains(HasSubstr("error: R3 gres.conf: ")));
  EXPECT_THAT(found(good_config(), kDebian, host), IsEmpty());
}

TEST(CheckConf, RefusesRatesAndIntervalsThatTurnPowerSavingOff) {
  EXPECT_THAT(found(with("SuspendRate", "60001")), Contains(HasSubstr("error: R4 SuspendRate=60001")));
  EXPECT_THAT(found(with("SuspendRate", "-1")), Contains(HasSubstr("error: R4 SuspendRate=-1")));
  EXPECT_THAT(found(with("SuspendRate", "0")), IsEmpty());
  EXPECT_THAT(found(with("SlurmctldParameters", "a,Power_Save_Interval=61,power_save_min_interval=5")),
              Contains(HasSubstr("error: R4 SlurmctldParameters=power_save_interval=61")));
}

TEST(CheckConf, RefusesTimesThatSlurmMisreads) {
  for (const char* value : {"0", "65534", "5m", "", "INFINITE"}) {
    EXPECT_THAT(found(with("ResumeTimeout", value)), Contains(HasSubstr("error: R5 ResumeTimeout="))) << value;
  }
  EXPECT_THAT(found(with("ResumeTimeout", "INFINITE"), kNew), Not(Contains(HasSubstr("R5"))));
  EXPECT_THAT(found(with("SuspendTimeout", "INFINITE"), kNew), Contains(HasSubstr("error: R5 SuspendTimeout=")));
  EXPECT_THAT(found(with("SuspendTime", "10m")), Contains(HasSubstr("error: R5 SuspendTime=10m")));
  EXPECT_THAT(found(with_partition_option("SuspendTime", "x")),
              Contains(HasSubstr("error: R5 partition aws: SuspendTime=x")));
}

TEST(CheckConf, RefusesAddressesThatAreNotAsManyAsTheNodes) {
  EXPECT_THAT(found(with_node_option("NodeAddr", "n[0-98]")),
              Contains("error: R6 aws-node: NodeAddr=n[0-98]: 99 names for 100 nodes"));
  EXPECT_THAT(found(with_node_option("NodeAddr", "n[0-")), Contains(HasSubstr("error: R6 aws-node: NodeAddr=n[0-: ")));
  EXPECT_THAT(found(with_node_option("NodeAddr", "n[0-99]")), IsEmpty());
}

TEST(CheckConf, RefusesOptionsThatTheReleaseDoesNotKnow) {
  EXPECT_THAT(found(with("SuspendExcStates", "DOWN")),
              Contains("error: R7 SuspendExcStates: known since Slurm 23.02 only, this is 22.05"));
  EXPECT_THAT(found(with_node_option("SuspendTime", "600"), kNew),
              Contains(HasSubstr("error: R7 aws-node: SuspendTime: known since Slurm 26.05")));
  EXPECT_THAT(found(with_partition_option("PowerDownOnIdle", "YES")),
              Contains(HasSubstr("error: R7 partition aws: PowerDownOnIdle")));
  EXPECT_THAT(found(with_partition_option("PowerDownOnIdle", "YES"), kNew), Not(Contains(HasSubstr("R7"))));
}

TEST(CheckConf, WarnsOfTimesThatServeBadly) {
  EXPECT_THAT(found(with("SuspendTime", "400")),
              Contains("warning: W1 SuspendTime=400: less than SuspendTimeout + ResumeTimeout, 120 + 300"));
  EXPECT_THAT(found(with_partition_option("SuspendTime", "20")),
              Contains("warning: W1 partition aws: SuspendTime=20: nodes end 20 s after their last job"));
  EXPECT_THAT(found(with("SuspendTime", "INFINITE")), Contains(HasSubstr("warning: W2 ")));
  auto by_partition = with("SuspendTime", "INFINITE");
  by_partition.partitions[0].options.emplace_back("SuspendTime", "650");
  EXPECT_THAT(found(by_partition), IsEmpty());
  EXPECT_THAT(found(with("ResumeTimeout", "60")), Contains(HasSubstr("warning: W5 ResumeTimeout=60")));
  EXPECT_THAT(found(with("SuspendTimeout", "10")), Contains(HasSubstr("warning: W6 SuspendTimeout=10")));
  EXPECT_THAT(found(with("SuspendTimeout", "601")), Contains(HasSubstr("warning: W6 SuspendTimeout=601")));
}

TEST(CheckConf, WarnsOfNodesThatAreNotInTheCloud) {
  HostFacts host;
  host.other_nodes = true;
  EXPECT_THAT(found(good_config(), kDebian, host), Contains(HasSubstr("warning: W3 ")));
  EXPECT_THAT(found(with("SuspendExcParts", "local"), kDebian, host), IsEmpty());
  EXPECT_THAT(found(with("SuspendTime", "INFINITE"), kDebian, host), Not(Contains(HasSubstr("W3"))));
}

TEST(CheckConf, WarnsOfWhatTheReleaseNeedsOrNeedsNoMore) {
  EXPECT_THAT(found(with("PrivateData", "jobs")), Contains(HasSubstr("warning: W4 PrivateData=CLOUD is missing")));
  EXPECT_THAT(found(with("PrivateData", "jobs,cloud")), IsEmpty());
  EXPECT_THAT(found(with("TreeWidth", "50")), Contains(HasSubstr("warning: W4 TreeWidth=50")));
  EXPECT_THAT(found(good_config(), kNew), testing::ElementsAre(HasSubstr("warning: W4 TreeWidth=60000: not needed")));
}

TEST(CheckConf, WarnsOfSettingsOfTheInstalledSlurm) {
  HostFacts host;
  host.slurm_conf = SlurmOptions{{"JobRequeue", "0"}};
  const auto lines = found(without("ResumeFailProgram"), kDebian, host);
  EXPECT_THAT(lines, Contains(HasSubstr("warning: W7 ReturnToService=0")));
  EXPECT_THAT(lines, Contains(HasSubstr("warning: W8 ")));
  EXPECT_THAT(lines, Contains(HasSubstr("warning: W11 ")));
  EXPECT_THAT(lines, Contains(HasSubstr("warning: W12 ")));
  host.slurm_conf->emplace_back("ResumeFailProgram", "/opt/suspend");
  EXPECT_THAT(found(without("ResumeFailProgram"), kDebian, host), Not(Contains(HasSubstr("W8"))));
}

TEST(CheckConf, WarnsOfBatchesSmallerThanAJobThatStartsAsOne) {
  auto config = with("TreeWidth", "16");
  config.partitions[0].groups[0].strategy = LaunchStrategy::all_or_nothing;
  EXPECT_THAT(found(config, kNew),
              testing::ElementsAre(HasSubstr("warning: W9 aws-node: ResumeRate=100 gives 16 nodes")));
  EXPECT_THAT(found(config, kDebian), Not(Contains(HasSubstr("W9"))));
  set(config.slurm_conf, "ResumeRate", "0");
  EXPECT_THAT(found(config, kNew), IsEmpty());
}

TEST(CheckConf, WarnsOfMiscountedPoweredNodes) {
  EXPECT_THAT(found(with("SlurmctldParameters", "power_save_min_interval=5,max_powered_nodes=9"), kNew),
              Contains(HasSubstr("warning: W10 ")));
  EXPECT_THAT(found(with("SlurmctldParameters", "power_save_min_interval=5,max_powered_nodes=9"), kDebian), IsEmpty());
}

TEST(CheckConf, WarnsOfATopologyWithoutTheNodes) {
  HostFacts host;
  host.topology_conf = "SwitchName=s Nodes=other-[0-9]\n";
  EXPECT_THAT(found(with("TopologyPlugin", "topology/tree"), kDebian, host),
              Contains("warning: W13 aws-node: topology.conf names none of its nodes"));
  EXPECT_THAT(found(good_config(), kDebian, host), IsEmpty());
  host.topology_yaml = true;
  EXPECT_THAT(found(good_config(), kDebian, host), Contains(HasSubstr("warning: W13 topology.conf and topology.yaml")));
}

TEST(CheckConf, WarnsOfUnreadableFilesAndExcludedNodes) {
  HostFacts host;
  host.unreadable = {"/e/config.json"};
  EXPECT_THAT(found(good_config(), kDebian, host), Contains("warning: W14 SlurmUser can't read \"/e/config.json\""));
  EXPECT_THAT(found(with("SuspendExcNodes", "login,aws-node-[0-3]")),
              Contains(HasSubstr("warning: W15 SuspendExcNodes names nodes of aws-node")));
  EXPECT_THAT(found(with("SuspendExcNodes", "login")), IsEmpty());
}

TEST(CheckConf, WarnsOfOptionsThatSlurmDoesNotKnow) {
  EXPECT_THAT(found(with_node_option("RealMemroy", "1")),
              Contains("warning: W16 aws-node: RealMemroy is no option of Slurm that this check knows, did you mean "
                       "RealMemory?"));
  EXPECT_THAT(found(with_partition_option("Defualt", "YES")), Contains(HasSubstr("did you mean Default?")));
  EXPECT_THAT(found(with_node_option("realmemory", "1")), IsEmpty());
}

/// The good configuration with machines that wait in a queue.
Config queueing() {
  auto config = good_config();
  config.partitions[0].groups[0].partition_needs = {{"ResumeTimeout", "65533"}};
  return config;
}

TEST(CheckConf, FindsNothingWrongWithMachinesThatQueue) { EXPECT_THAT(found(queueing()), IsEmpty()); }

TEST(CheckConf, WarnsOfAResumeTimeoutThatEndsTheQueueing) {
  auto config = queueing();
  set(config.partitions[0].options, "ResumeTimeout", "600");
  EXPECT_THAT(found(config),
              testing::ElementsAre("warning: W17 partition aws: ResumeTimeout=600: machines of aws-node wait in the "
                                   "provider's queue, and Slurm gives up on them after that time; without it 65533 is "
                                   "written"));
  set(config.partitions[0].options, "ResumeTimeout", "INFINITE");
  EXPECT_THAT(found(config, kNew), Not(Contains(HasSubstr("W17"))));
}

TEST(CheckConf, WarnsOfMachinesWithAndWithoutAQueueInOnePartition) {
  auto config = queueing();
  config.partitions[0].groups.push_back(good_config().partitions[0].groups[0]);
  config.partitions[0].groups[1].name = "other";
  EXPECT_THAT(found(config), testing::ElementsAre("warning: W18 partition aws: the long ResumeTimeout that aws-node "
                                                  "needs holds for aws-other too: give them partitions of their own"));
}

TEST(CheckConf, WarnsOfASuspendTimeoutShorterThanMachinesTakeToEnd) {
  auto config = with("SuspendTimeout", "60");
  EXPECT_THAT(found(config), IsEmpty());
  config.partitions[0].groups[0].termination_time = std::chrono::seconds(120);
  EXPECT_THAT(found(config), testing::ElementsAre(
                                 "warning: W19 partition aws: SuspendTimeout=60: ending a machine of aws-node can take "
                                 "120 s, and as long its node can't have a new one"));
  set(config.partitions[0].options, "SuspendTimeout", "120");
  EXPECT_THAT(found(config), IsEmpty());
}

TEST(CheckConf, WarnsOfAddressesThatOldSlurmDoesNotLearn) {
  HostFacts host;
  host.slurm_conf = SlurmOptions{{"ReturnToService", "2"}, {"SlurmctldParameters", "power_save_min_interval=5"}};
  EXPECT_THAT(found(queueing(), kDebian, host),
              testing::ElementsAre("warning: W20 slurm.conf: SlurmctldParameters lacks cloud_reg_addrs, by which Slurm "
                                   "up to 23.02 learns the addresses of machines that queue; expected "
                                   "power_save_min_interval=5,cloud_reg_addrs"));
  EXPECT_THAT(found(queueing(), kNew, host), Not(Contains(HasSubstr("W20"))));
  EXPECT_THAT(found(good_config(), kDebian, host), IsEmpty());
}

}  // namespace
}  // namespace burst
