// SPDX-License-Identifier: Apache-2.0
// The program generate_conf: what it writes, prints and returns.
#include "programs/generate_conf.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_services.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class GenerateConf : public testing::Test {
 protected:
  GenerateConf() {
    NodeGroup group;
    group.partition = "p";
    group.name = "g";
    group.max_nodes = 2;
    group.slurm_specifications = {{"Gres", "gpu:2"}};
    config.slurm_bin_path = "/slurm/bin/";
    config.slurm_conf = {{"ResumeProgram", "/r"}, {"SuspendTime", "600"}};
    config.partitions.push_back({"p", {group}, {}});
    fake.processes.handler = [](const ProcessRequest& request) {
      if (request.argv[0] == "/slurm/bin/scontrol") return ProcessResult{0, false, "slurm 22.05.8\n", ""};
      throw Error("ProcessError", "starting \"" + request.argv[0] + "\": no such file");
    };
  }
  int run(const GenerateConfOptions& options = {}) {
    return generate_conf(options, config,
                         {fake.files, fake.log, fake.processes, out, [this] { return host; }, group_facts});
  }

  FakeServices fake;
  Config config;
  HostFacts host;
  std::function<GroupFacts(const NodeGroup&)> group_facts;
  std::ostringstream out;
};

const char* const kSlurmConf =
    "ResumeProgram=/r\nSuspendTime=600\n\nNodeName=p-g-[0-1] State=CLOUD Gres=gpu:2\nPartitionName=p Nodes=p-g-[0-1] "
    "MaxTime=INFINITE State=UP\n\n";
const char* const kGresConf = "NodeName=p-g-[0-1] Name=gpu File=/dev/nvidia[0-1]\n";

TEST_F(GenerateConf, WritesBothFilesIntoTheWorkingFolder) {
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(fake.files.content["slurm.conf.aws"], kSlurmConf);
  EXPECT_EQ(fake.files.content["gres.conf.aws"], kGresConf);
  EXPECT_EQ(fake.files.content.size(), 2U);
  EXPECT_EQ(fake.log.text(), "Output slurm.conf file: slurm.conf.aws\nOutput gres.conf file: gres.conf.aws\n");
  EXPECT_EQ(out.str(), "");
  EXPECT_THAT(fake.processes.requests, IsEmpty());
}

TEST_F(GenerateConf, WritesIntoAnotherFolder) {
  GenerateConfOptions options;
  options.directory = "/etc/slurm";
  EXPECT_EQ(run(options), 0);
  EXPECT_EQ(fake.files.content["/etc/slurm/slurm.conf.aws"], kSlurmConf);
  EXPECT_THAT(fake.log.text(), HasSubstr("Output gres.conf file: /etc/slurm/gres.conf.aws\n"));
}

TEST_F(GenerateConf, PrintsBothAndWritesNothing) {
  GenerateConfOptions options;
  options.to_stdout = true;
  EXPECT_EQ(run(options), 0);
  EXPECT_EQ(out.str(), std::string(kSlurmConf) + "# gres.conf\n" + kGresConf);
  EXPECT_THAT(fake.files.content, IsEmpty());
}

TEST_F(GenerateConf, ThrowsWhenAFileCannotBeWritten) {
  fake.files.unwritable.insert("slurm.conf.aws");
  EXPECT_THROW(run(), Error);
  EXPECT_THAT(fake.log.text(), Not(HasSubstr("Output")));
}

TEST_F(GenerateConf, WarnsOfGresThatGivesNoLine) {
  config.partitions[0].groups[0].slurm_specifications = {{"Gres", "4"}};
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(fake.log.text(), HasSubstr("p-g: Gres \"4\" is not name[:type][:count]: no line in gres.conf"));
  EXPECT_EQ(fake.files.content["gres.conf.aws"], "");
}

TEST_F(GenerateConf, FillsInWhatTheProviderKnowsAndTheGroupDoesNotSay) {
  group_facts = [](const NodeGroup& group) {
    EXPECT_EQ(group.key(), "p-g");
    return GroupFacts{{{"CPUs", "4"}, {"gres", "gpu:9"}}, {{false, "half a CPU is lost"}}};
  };
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(fake.files.content["slurm.conf.aws"], HasSubstr("NodeName=p-g-[0-1] State=CLOUD Gres=gpu:2 CPUs=4\n"));
  EXPECT_EQ(fake.files.content["gres.conf.aws"], kGresConf);
  EXPECT_THAT(fake.log.text(), HasSubstr("p-g: half a CPU is lost\n"));
}

TEST_F(GenerateConf, GresThatTheProviderKnowsGiveLinesInGresConf) {
  config.partitions[0].groups[0].slurm_specifications.clear();
  group_facts = [](const NodeGroup&) { return GroupFacts{{{"Gres", "gpu:2"}}, {}}; };
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(fake.files.content["gres.conf.aws"], kGresConf);
}

TEST_F(GenerateConf, WritesNothingWhenTheProviderCanNotReadWhatAKeyNames) {
  group_facts = [](const NodeGroup&) { return GroupFacts{{}, {{true, "reading \"/t.yaml\": no such file"}}}; };
  EXPECT_THROW(run(), Error);
  EXPECT_THAT(fake.files.content, IsEmpty());
  GenerateConfOptions options;
  options.check = true;
  EXPECT_EQ(run(options), 1);
  EXPECT_THAT(out.str(), HasSubstr("error: R8 p-g: reading \"/t.yaml\": no such file\nwarning: "));
}

TEST_F(GenerateConf, CheckPrintsWhatTheProviderWarnsOf) {
  group_facts = [](const NodeGroup&) { return GroupFacts{{}, {{false, "no -b"}}}; };
  GenerateConfOptions options;
  options.check = true;
  EXPECT_EQ(run(options), 0);
  EXPECT_THAT(out.str(), testing::EndsWith("warning: W21 p-g: no -b\n"));
  EXPECT_THAT(fake.log.text(), Not(HasSubstr("no -b")));
}

TEST_F(GenerateConf, CheckPrintsFindingsAndWritesNothing) {
  GenerateConfOptions options;
  options.check = true;
  EXPECT_EQ(run(options), 0);
  EXPECT_THAT(out.str(), HasSubstr("warning: W8 "));
  EXPECT_THAT(out.str(), Not(HasSubstr("error")));
  config.slurm_conf = {{"ResumeProgram", "r"}};
  EXPECT_EQ(run(options), 1);
  EXPECT_THAT(out.str(), HasSubstr("error: R1 ResumeProgram=r: not an absolute path\n"));
  EXPECT_THAT(fake.files.content, IsEmpty());
}

TEST_F(GenerateConf, CheckUsesTheGivenReleaseWithoutAskingSlurm) {
  GenerateConfOptions options;
  options.check = true;
  options.slurm_version = SlurmVersion{26, 5, 0};
  config.slurm_conf = {{"ResumeProgram", "/r -v"}};
  EXPECT_EQ(run(options), 0);
  EXPECT_THAT(fake.processes.requests, IsEmpty());
}

TEST_F(GenerateConf, CheckAssumesTheNewestReleaseAndSaysSo) {
  fake.processes.handler = [](const ProcessRequest&) { return ProcessResult{1, false, "", "broken"}; };
  GenerateConfOptions options;
  options.check = true;
  config.slurm_conf = {{"ResumeProgram", "/r -v"}};
  EXPECT_EQ(run(options), 0);
  EXPECT_THAT(fake.log.text(), HasSubstr("no Slurm found, checking for 26.05"));
}

TEST_F(GenerateConf, AsksScontrolThenSlurmctldForTheRelease) {
  EXPECT_EQ(installed_slurm_version(config, fake.processes), (SlurmVersion{22, 5, 8}));
  fake.processes.requests.clear();
  fake.processes.handler = [](const ProcessRequest& request) {
    if (request.argv[0] == "slurmctld") return ProcessResult{0, false, "slurm 25.11.7\n", ""};
    throw Error("ProcessError", "no such file");
  };
  config.slurm_bin_path.clear();
  EXPECT_EQ(installed_slurm_version(config, fake.processes), (SlurmVersion{25, 11, 7}));
  ASSERT_EQ(fake.processes.requests.size(), 2U);
  EXPECT_THAT(fake.processes.requests[0].argv, ElementsAre("scontrol", "-V"));
}

class GenerateConfOfQueues : public GenerateConf {
 protected:
  GenerateConfOfQueues() { config.partitions[0].groups[0].partition_needs = {{"ResumeTimeout", "65533"}}; }
  std::string slurm_conf(const GenerateConfOptions& options = {}) {
    EXPECT_EQ(run(options), 0);
    return fake.files.content["slurm.conf.aws"];
  }
};

TEST_F(GenerateConfOfQueues, LetsOldSlurmLearnAddressesFromRegistrations) {
  EXPECT_THAT(slurm_conf(), HasSubstr("SuspendTime=600\nSlurmctldParameters=cloud_reg_addrs\n\n"));
  GenerateConfOptions options;
  options.slurm_version = SlurmVersion{23, 11, 0};
  fake.processes.requests.clear();
  EXPECT_THAT(slurm_conf(options), Not(HasSubstr("SlurmctldParameters")));
  EXPECT_THAT(fake.processes.requests, IsEmpty());
}

TEST_F(GenerateConfOfQueues, KeepsTheParametersOfTheInstalledSlurmAndSaysWhereTheLineBelongs) {
  host.slurm_conf = SlurmOptions{{"SlurmctldParameters", "idle_on_node_suspend"}};
  EXPECT_THAT(slurm_conf(), HasSubstr("\nSlurmctldParameters=idle_on_node_suspend,cloud_reg_addrs\n"));
  EXPECT_THAT(fake.log.text(),
              HasSubstr("slurm.conf has a line SlurmctldParameters too, and the last one counts: set it "
                        "there to idle_on_node_suspend,cloud_reg_addrs"));
}

}  // namespace
}  // namespace burst
