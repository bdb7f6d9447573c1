// SPDX-License-Identifier: Apache-2.0
#include "core/group_timeouts.h"

#include <gtest/gtest.h>

namespace burst {
namespace {

using std::chrono::seconds;

class GroupTimeoutsTest : public testing::Test {
 protected:
  SlurmOptions needs;

  GroupTimeouts of(SlurmOptions options) {
    Config config;
    config.partitions.push_back({"other", {}, {{"ResumeTimeout", "7"}}});
    NodeGroup modest;
    modest.partition_needs = {};
    NodeGroup needy;
    needy.partition_needs = needs;
    config.partitions.push_back({"aws", {}, std::move(options)});
    if (!needs.empty()) config.partitions.back().groups = {modest, needy, NodeGroup()};
    NodeGroup group;
    group.partition = "aws";
    SlurmConf slurm_conf;
    slurm_conf.resume_timeout = seconds{300};
    slurm_conf.suspend_timeout = seconds{30};
    return group_timeouts(config, group, slurm_conf);
  }
};

TEST_F(GroupTimeoutsTest, AreSlurmConfsWithoutOptionsOfThePartition) {
  EXPECT_EQ(of({}).resume, seconds{300});
  EXPECT_EQ(of({{"MaxTime", "60"}}).suspend, seconds{30});
}

TEST_F(GroupTimeoutsTest, AreThePartitionsWhereItHasThem) {
  EXPECT_EQ(of({{"resumetimeout", "900"}}).resume, seconds{900});
  EXPECT_EQ(of({{"SuspendTimeout", "120"}}).suspend, seconds{120});
}

TEST_F(GroupTimeoutsTest, ADayIsAsGoodAsForEver) {
  EXPECT_EQ(of({{"ResumeTimeout", "INFINITE"}}).resume, seconds{86400});
}

TEST_F(GroupTimeoutsTest, AreWhatAGroupOfThePartitionNeedsWhereThePartitionSaysNothing) {
  needs = {{"ResumeTimeout", "65533"}};
  EXPECT_EQ(of({}).resume, seconds{65533});
  EXPECT_EQ(of({}).suspend, seconds{30});
  EXPECT_EQ(of({{"ResumeTimeout", "900"}}).resume, seconds{900}) << "PartitionOptions win";
  needs = {{"ResumeTimeout", "INFINITE"}};
  EXPECT_EQ(of({}).resume, seconds{86400});
}

TEST_F(GroupTimeoutsTest, WhatIsNoNumberIsSlurmConfs) {
  for (const char* text : {"", "ten", "10m", "-5", "0"})
    EXPECT_EQ(of({{"ResumeTimeout", text}}).resume, seconds{300}) << text;
}

}  // namespace
}  // namespace burst
