// SPDX-License-Identifier: Apache-2.0
// ResumeProgram with jobs that are worth nothing with half of their nodes.
#include "programs/programs_fixture.h"
#include "programs/resume.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class WholeJobsTest : public ProgramsTest {
 protected:
  WholeJobsTest() {
    add_nodes("aws-node-[0-9],aws-gpu-[0-3],onprem-big-[0-1]", "IDLE+CLOUD+POWERED_DOWN");
    for (auto& partition : config.partitions)
      for (auto& group : partition.groups) group.strategy = LaunchStrategy::all_or_nothing;
  }

  /// {job, hostlist} ..., as slurmctld calls for them; `more` nodes are powered up by hand.
  int run(const std::vector<std::pair<JobId, std::string>>& jobs, const std::string& more = "") {
    nlohmann::json file{{"jobs", nlohmann::json::array()}};
    std::string all = more;
    for (const auto& [id, nodes] : jobs) {
      file["jobs"].push_back({{"job_id", id}, {"nodes_resume", nodes}});
      all += (all.empty() ? "" : ",") + nodes;
    }
    for (const auto& name : expand_hostlist(all)) slurm.add(name, "ALLOCATED+CLOUD+POWERING_UP");
    return resume({all, file.dump(), false}, suite);
  }

  std::set<NodeName> given_up() const { return slurm.told(StateChange::power_down_force); }

  std::set<NodeName> given_back() const {
    std::set<NodeName> nodes;
    for (const auto& call : slurm.state_calls)
      if (call.reason.find("burst:JobNotWhole") == 0) nodes.insert(call.nodes.begin(), call.nodes.end());
    return nodes;
  }

  static SlurmJob queued(JobId id, const std::string& nodes, JobId het_job = 0) {
    SlurmJob job;
    job.id = id;
    job.het_job = het_job;
    job.state = "CONFIGURING";
    job.nodes = expand_hostlist(nodes);
    return job;
  }
};

TEST_F(WholeJobsTest, OfferTheNextJobWhatTheFirstOneGaveBack) {
  node_cloud.claims = true;
  // Side by side both came short; what one gave back is there for the other afterwards.
  node_cloud.before_start = [&] { node_cloud.capacity = node_cloud.starts == 1 ? 0 : 2; };
  EXPECT_EQ(run({{7, "aws-node-[0-2]"}, {8, "aws-node-[3-4]"}, {9, "aws-node-5"}}), kFailed);
  ASSERT_THAT(node_cloud.launches, SizeIs(5));
  EXPECT_EQ(node_cloud.launches[3].job, 8U);
  EXPECT_TRUE(node_cloud.launches[3].all_or_nothing);
  EXPECT_THAT(node_cloud.launches[4].nodes, ElementsAre("aws-node-5"));
  EXPECT_THAT(node_cloud.machines, SizeIs(3));
  EXPECT_THAT(given_up(), UnorderedElementsAre("aws-node-0", "aws-node-1", "aws-node-2"));
  EXPECT_EQ(slurm.known.at("aws-node-3").address, node_cloud.machines[0].address);
  EXPECT_THAT(state.held(), IsEmpty());
}

TEST_F(WholeJobsTest, WaitForWhatIsGivenBackToGoButNotForEver) {
  node_cloud.claims = true;
  node_cloud.out_of_capacity();
  Machine leaving = cloud.make_machine(kNode);
  leaving.node = "aws-node-1";
  leaving.state = MachineState::stopping;
  node_cloud.machines.push_back(leaving);
  EXPECT_EQ(run({{7, "aws-node-[0-1]"}, {8, "aws-node-[2-3]"}}), kFailed);
  EXPECT_EQ(node_cloud.starts, 1);
  EXPECT_GT(node_cloud.lists, 3);
}

TEST_F(WholeJobsTest, StartNoNodeThatSomeoneElseHasStartedMeanwhile) {
  node_cloud.claims = true;
  node_cloud.out_of_capacity();
  node_cloud.before_start = [&] {
    if (node_cloud.starts == 1) cloud.add_machine(kNode, "aws-node-3", std::chrono::seconds{0});
  };
  EXPECT_EQ(run({{7, "aws-node-[0-1]"}, {8, "aws-node-[2-3]"}}), kFailed);
  EXPECT_EQ(node_cloud.starts, 1);
}

TEST_F(WholeJobsTest, AreTriedNoSecondTimeWhereTheProviderHandsOver) {
  node_cloud.needs.hands_over = true;
  node_cloud.out_of_capacity();
  EXPECT_EQ(run({{7, "aws-node-[0-1]"}, {8, "aws-node-[2-3]"}}), kFailed);
  EXPECT_EQ(node_cloud.starts, 1);
}

TEST_F(WholeJobsTest, TakeASharedNodeFromAJobThatCameShort) {
  node_cloud.needs.hands_over = true;
  node_cloud.before_start = [&] { node_cloud.capacity = 1; };
  // Oversubscribed: node 2 is of both jobs, and is asked for with the first.
  EXPECT_EQ(run({{7, "aws-node-[0-2]"}, {8, "aws-node-[2-3]"}}), kFailed);
  EXPECT_THAT(given_up(), UnorderedElementsAre("aws-node-0", "aws-node-1"));
  EXPECT_EQ(node_cloud.count("aws-node-2"), 1U);
  EXPECT_EQ(node_cloud.count("aws-node-3"), 1U);
  EXPECT_THAT(given_back(), IsEmpty());
}

TEST_F(WholeJobsTest, GiveBackWhatLacksASharedNode) {
  node_cloud.needs.hands_over = true;
  node_cloud.before_start = [&] { node_cloud.capacity = node_cloud.starts == 1 ? 1 : 0; };
  EXPECT_EQ(run({{7, "aws-node-[0-2]"}, {8, "aws-node-[2-3]"}}), kFailed);
  EXPECT_THAT(given_back(), UnorderedElementsAre("aws-node-3"));
  EXPECT_THAT(given_up(), SizeIs(4));
}

TEST_F(WholeJobsTest, GiveBackWhatCameInAnotherGroup) {
  gpu_cloud.out_of_capacity();
  EXPECT_EQ(run({{7, "aws-node-[0-1],aws-gpu-[0-1]"}, {8, "aws-node-2"}}, "aws-node-9"), kFailed);
  EXPECT_THAT(given_back(), UnorderedElementsAre("aws-node-0", "aws-node-1"));
  EXPECT_THAT(given_up(), UnorderedElementsAre("aws-node-0", "aws-node-1", "aws-gpu-0", "aws-gpu-1"));
  EXPECT_THAT(log(), HasSubstr("Giving back aws-node-[0-1]"));
}

TEST_F(WholeJobsTest, KeepWhatCameInABestEffortGroup) {
  config.partitions[0].groups[0].strategy = LaunchStrategy::best_effort;
  gpu_cloud.out_of_capacity();
  EXPECT_EQ(run({{7, "aws-node-[0-1],aws-gpu-[0-1]"}}), kFailed);
  EXPECT_THAT(given_back(), IsEmpty());
}

TEST_F(WholeJobsTest, TakeTheComponentsOfAHeterogeneousJobAsOne) {
  slurm.queue = {queued(7, "aws-node-[0-1]", 7), queued(8, "aws-gpu-0", 7), queued(9, "aws-node-[4-5]")};
  gpu_cloud.out_of_capacity();
  EXPECT_EQ(run({{7, "aws-node-[0-1]"}, {8, "aws-gpu-0"}, {9, "aws-node-[4-5]"}}), kFailed);
  EXPECT_THAT(given_back(), UnorderedElementsAre("aws-node-0", "aws-node-1"));
  EXPECT_THAT(given_up(), UnorderedElementsAre("aws-node-0", "aws-node-1", "aws-gpu-0"));
}

TEST_F(WholeJobsTest, LaunchTheComponentsInOneGroupTogether) {
  slurm.queue = {queued(7, "aws-node-0", 7), queued(8, "aws-node-1", 7)};
  node_cloud.out_of_capacity(1);
  EXPECT_EQ(run({{7, "aws-node-0"}, {8, "aws-node-1"}}), kFailed);
  ASSERT_THAT(node_cloud.launches, SizeIs(1));
  EXPECT_TRUE(node_cloud.launches[0].all_or_nothing);
  EXPECT_THAT(node_cloud.machines, IsEmpty());
}

TEST_F(WholeJobsTest, LeaveANodeThatSlurmHasGivenToAnotherJob) {
  gpu_cloud.out_of_capacity();
  slurm.queue = {queued(7, "aws-node-[0-1],aws-gpu-0"), queued(20, "aws-node-1")};
  EXPECT_EQ(run({{7, "aws-node-[0-1],aws-gpu-0"}}), kFailed);
  EXPECT_THAT(given_back(), UnorderedElementsAre("aws-node-0"));
}

TEST_F(WholeJobsTest, AreReadFromTheQueueWhereNoFileTellsThem) {
  slurm.queue = {queued(7, "aws-node-[0-1]"), queued(8, "aws-node-2")};
  node_cloud.out_of_capacity(2);
  for (const auto& name : expand_hostlist("aws-node-[0-3]")) slurm.add(name, "ALLOCATED+CLOUD+POWERING_UP");
  EXPECT_EQ(resume({"aws-node-[0-3]", "", false}, suite), kFailed);
  ASSERT_THAT(node_cloud.launches, SizeIs(2));
  EXPECT_EQ(node_cloud.launches[0].job, 7U);
  EXPECT_THAT(node_cloud.launches[1].nodes, ElementsAre("aws-node-2", "aws-node-3"));
  EXPECT_THAT(node_cloud.machines, SizeIs(2));
}

TEST_F(WholeJobsTest, CostNoReadingOfTheQueueWhereNobodyWantsThem) {
  for (auto& partition : config.partitions)
    for (auto& group : partition.groups) group.strategy = LaunchStrategy::best_effort;
  EXPECT_EQ(run({{7, "aws-node-0"}, {8, "aws-node-1"}}), kDone);
  EXPECT_EQ(slurm.job_reads, 0);
}

TEST_F(WholeJobsTest, GoOnWithAQueueThatCanNotBeRead) {
  slurm.fail_jobs = "Unable to contact slurm controller";
  EXPECT_EQ(run({{7, "aws-node-[0-1]"}, {8, "aws-node-[2-3]"}}), kDone);
  EXPECT_THAT(node_cloud.machines, SizeIs(4));
}

}  // namespace
}  // namespace burst
