// SPDX-License-Identifier: Apache-2.0
// What is read from slurm.conf, and where it is looked for.
#include "slurm/slurm_conf.h"

#include <gtest/gtest.h>

#include "fakes/fake_services.h"

namespace burst {
namespace {

using std::chrono::seconds;

class SlurmConfTest : public testing::Test {
 protected:
  SlurmConf read(const std::string& bin_path = "", const std::string& hint = "") {
    return read_slurm_conf(files, environment, bin_path, hint);
  }
  FakeFiles files;
  FakeEnvironment environment;
};

TEST_F(SlurmConfTest, ReadsKeysInAnyCaseWithCommentsQuotesAndContinuations) {
  files.content["/etc/slurm/slurm.conf"] =
      "# ClusterName=no\n"
      "clustername=Prod1 # the cluster\n"
      "StateSaveLocation = \"/var/spool/slurm ctld\"\n"
      "SLURMUSER=slurm(64030)\r\n"
      "ResumeTimeout=\\\n  900\n"
      "SuspendTimeout=120\n"
      "KillWait=45\n"
      "UnkillableStepTimeout=180\n"
      "NodeName=aws-g-[0-9] State=CLOUD ResumeTimeout=1 CPUs=4 \\\n  KillWait=2\n"
      "PartitionName=aws Nodes=aws-g-[0-9] SuspendTimeout=7\n";
  const auto conf = read();
  EXPECT_EQ(conf.path, "/etc/slurm/slurm.conf");
  EXPECT_EQ(conf.cluster_name, "prod1");
  EXPECT_EQ(conf.state_save_location, "/var/spool/slurm ctld");
  EXPECT_EQ(conf.slurm_user, "slurm");
  EXPECT_EQ(conf.resume_timeout, seconds(900));
  EXPECT_EQ(conf.suspend_timeout, seconds(120));
  EXPECT_EQ(conf.kill_wait, seconds(45));
  EXPECT_EQ(conf.unkillable_step_timeout, seconds(180));
}

TEST_F(SlurmConfTest, HasSlurmsDefaults) {
  files.content["/etc/slurm/slurm.conf"] = "SlurmctldHost=h";
  const auto conf = read("", "hint");
  EXPECT_EQ(conf.cluster_name, "hint");
  EXPECT_EQ(conf.state_save_location, "/var/spool");
  EXPECT_EQ(conf.slurm_user, "root");
  EXPECT_EQ(conf.resume_timeout, seconds(60));
  EXPECT_EQ(conf.suspend_timeout, seconds(30));
  EXPECT_EQ(conf.kill_wait, seconds(30));
  EXPECT_EQ(conf.unkillable_step_timeout, seconds(60));
}

TEST_F(SlurmConfTest, KeepsTheDefaultOfAValueThatIsNoNumber) {
  files.content["/etc/slurm/slurm.conf"] = "ResumeTimeout=soon\nSuspendTimeout=INFINITE\nKillWait=-7\n";
  EXPECT_EQ(read().resume_timeout, seconds(60));
  EXPECT_GT(read().suspend_timeout, std::chrono::hours(24 * 365));
  EXPECT_EQ(read().kill_wait, seconds(30));
}

TEST_F(SlurmConfTest, FollowsIncludes) {
  files.content["/etc/slurm/slurm.conf"] =
      "ClusterName=c1\nInclude slurm.conf.aws\ninclude\t/abs/%c.conf  \nInclude missing.conf\nIncludeThis=no\n";
  files.content["/etc/slurm/slurm.conf.aws"] = "ResumeTimeout=300\nInclude sub/x.conf";
  files.content["/etc/slurm/sub/x.conf"] = "SuspendTimeout=77\nInclude y.conf";
  files.content["/etc/slurm/sub/y.conf"] = "UnkillableStepTimeout=5";
  files.content["/abs/c1.conf"] = "KillWait=11";
  const auto conf = read();
  EXPECT_EQ(conf.resume_timeout, seconds(300));
  EXPECT_EQ(conf.suspend_timeout, seconds(77));
  EXPECT_EQ(conf.unkillable_step_timeout, seconds(5));
  EXPECT_EQ(conf.kill_wait, seconds(11));
}

TEST_F(SlurmConfTest, EndsWithAFileThatIncludesItself) {
  files.content["/etc/slurm/slurm.conf"] = "Include slurm.conf\nKillWait=12\n";
  EXPECT_EQ(read().kill_wait, seconds(12));
}

TEST_F(SlurmConfTest, LooksWhereSlurmConfSaysAndNowhereElse) {
  files.content["/etc/slurm/slurm.conf"] = "ClusterName=wrong";
  files.content["/x/slurm.conf"] = "ClusterName=right";
  environment.variables["SLURM_CONF"] = "/x/slurm.conf";
  EXPECT_EQ(read().cluster_name, "right");
  environment.variables["SLURM_CONF"] = "/y/slurm.conf";
  EXPECT_EQ(read().path, "");
  environment.variables["SLURM_CONF"] = "";
  EXPECT_EQ(read().cluster_name, "wrong");
}

TEST_F(SlurmConfTest, LooksBesideSlurmsPrograms) {
  files.content["/run/slurm/conf/slurm.conf"] = "ClusterName=configless";
  EXPECT_EQ(read().cluster_name, "configless");
  files.content["/etc/slurm-llnl/slurm.conf"] = "ClusterName=old";
  EXPECT_EQ(read("/opt/slurm/bin/").cluster_name, "old");
  files.content["/opt/slurm/etc/slurm/slurm.conf"] = "ClusterName=deep";
  EXPECT_EQ(read("/opt/slurm/bin").cluster_name, "deep");
  files.content["/opt/slurm/etc/slurm.conf"] = "ClusterName=opt";
  EXPECT_EQ(read("/opt/slurm/bin/").cluster_name, "opt");
  EXPECT_EQ(read("/opt/slurm/bin/").path, "/opt/slurm/etc/slurm.conf");
}

TEST_F(SlurmConfTest, IsEmptyWithoutALegibleFile) {
  EXPECT_EQ(read("", "hint").path, "");
  EXPECT_EQ(read("", "hint").cluster_name, "hint");
  files.unreadable.insert("/etc/slurm/slurm.conf");
  EXPECT_EQ(read().path, "");
}

}  // namespace
}  // namespace burst
