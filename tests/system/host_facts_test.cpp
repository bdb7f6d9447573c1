// SPDX-License-Identifier: Apache-2.0
// What is learnt of the machine for the configuration check.
#include "system/host_facts.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/slurm_conf_text.h"
#include "fakes/fake_services.h"

namespace burst {
namespace {

std::string value_of(const HostFacts& facts, const char* name) {
  const auto* value = facts.slurm_conf ? find_option(*facts.slurm_conf, name) : nullptr;
  return value == nullptr ? "none" : *value;
}

TEST(ReadHostFacts, ReadsSlurmConfAndWhatItIncludes) {
  FakeFiles files;
  files.content["/s/slurm.conf"] =
      "# JobRequeue=0\nReturnToService=2 # late\nSlurmctldParameters=a,\\\nb=1\nComment=\"x y\"\n"
      "Include more.conf\ninclude /abs.conf\nInclude missing.conf\nNodeName=DEFAULT CPUs=4\n"
      "NodeName=aws-[0-9] State=CLOUD\nPartitionName=p Nodes=ALL SuspendTime=5";
  files.content["/s/more.conf"] = "TreeWidth=1\r\n";
  files.content["/abs.conf"] = "Include /abs.conf\nTopologyPlugin=topology/tree\n";
  files.content["/s/gres.conf"] = "AutoDetect=nvml\n";
  files.content["/s/topology.yaml"] = "";
  const auto facts = read_host_facts({}, files, "/s/slurm.conf");
  EXPECT_EQ(value_of(facts, "ReturnToService"), "2");
  EXPECT_EQ(value_of(facts, "SlurmctldParameters"), "a,b=1");
  EXPECT_EQ(value_of(facts, "Comment"), "x y");
  EXPECT_EQ(value_of(facts, "TreeWidth"), "1");
  EXPECT_EQ(value_of(facts, "TopologyPlugin"), "topology/tree");
  EXPECT_EQ(value_of(facts, "JobRequeue"), "none");
  EXPECT_EQ(value_of(facts, "SuspendTime"), "none");
  EXPECT_FALSE(facts.other_nodes);
  EXPECT_EQ(facts.gres_conf, "AutoDetect=nvml\n");
  EXPECT_EQ(facts.topology_conf, std::nullopt);
  EXPECT_TRUE(facts.topology_yaml);
}

TEST(ReadHostFacts, SeesNodesThatAreNotInTheCloud) {
  FakeFiles files;
  files.content["/s/slurm.conf"] = "nodename=login State=UNKNOWN\n";
  EXPECT_TRUE(read_host_facts({}, files, "/s/slurm.conf").other_nodes);
}

TEST(ReadHostFacts, LeavesOutWhatItCannotRead) {
  FakeFiles files;
  EXPECT_EQ(read_host_facts({}, files, "/s/slurm.conf").slurm_conf, std::nullopt);
  files.unreadable.insert("/s/slurm.conf");
  EXPECT_EQ(read_host_facts({}, files, "/s/slurm.conf").slurm_conf, std::nullopt);
}

/// A folder that goes when the test ends.
class ReadHostFactsFolder : public testing::Test {
 public:
  ReadHostFactsFolder(const ReadHostFactsFolder&) = delete;
  ReadHostFactsFolder& operator=(const ReadHostFactsFolder&) = delete;

 protected:
  ReadHostFactsFolder() {
    std::string path = testing::TempDir() + "host_facts_XXXXXX";
    folder = mkdtemp(path.data());
  }
  ~ReadHostFactsFolder() override { std::filesystem::remove_all(folder); }
  std::string make(const std::string& name, mode_t mode) const {
    auto path = folder + "/" + name;
    std::ofstream(path) << "x";
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string folder;
};

TEST_F(ReadHostFactsFolder, LooksAtTheProgramsThatAreNamed) {
  Config config;
  const auto resume = make("resume", 0755), suspend = make("suspend", 0664);
  config.slurm_conf = {{"ResumeProgram", resume + " -v"},
                       {"SuspendProgram", suspend},
                       {"ResumeFailProgram", folder + "/missing"},
                       {"RebootProgram", "/bin/true"}};
  const FakeFiles files;
  const auto facts = read_host_facts(config, files, "/s/slurm.conf");
  ASSERT_EQ(facts.programs.size(), 3U);
  EXPECT_TRUE(facts.programs.at(resume).exists && facts.programs.at(resume).executable);
  EXPECT_FALSE(facts.programs.at(resume).writable_by_others);
  EXPECT_TRUE(facts.programs.at(suspend).exists && facts.programs.at(suspend).writable_by_others);
  EXPECT_FALSE(facts.programs.at(suspend).executable);
  EXPECT_FALSE(facts.programs.at(folder + "/missing").exists);
}

TEST_F(ReadHostFactsFolder, SaysWhichFilesSlurmUserCannotRead) {
  Config config;
  config.config_file = make("config.json", 0600);
  config.partitions_file = make("partitions.json", 0644);
  FakeFiles files;
  files.content["/s/slurm.conf"] = "SlurmUser=nobody\n";
  EXPECT_THAT(read_host_facts(config, files, "/s/slurm.conf").unreadable, testing::ElementsAre(config.config_file));
  files.content["/s/slurm.conf"] = "SlurmUser=root\n";
  EXPECT_THAT(read_host_facts(config, files, "/s/slurm.conf").unreadable, testing::IsEmpty());
}

}  // namespace
}  // namespace burst
