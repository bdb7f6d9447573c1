// SPDX-License-Identifier: Apache-2.0
// ResumeProgram with a cloud that queues: launches by job, machines that are pending, what was left of failed ones.
#include "core/group_memory.h"
#include "programs/programs_fixture.h"
#include "programs/resume.h"

namespace burst {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr seconds kOld{100'000};
constexpr const char* kJobs =
    R"({"jobs":[{"job_id":7,"nodes_resume":"aws-node-0"},{"job_id":8,"nodes_resume":"aws-node-[1-2]"}]})";

class ResumeQueue : public ProgramsTest {
 protected:
  ResumeQueue() {
    add_nodes("aws-node-[0-9]", "IDLE+CLOUD+POWERED_DOWN");
    node_cloud.queues = true;
    node_cloud.needs = {true, true};
  }

  int run(const std::string& hostlist, const std::string& resume_file = "") {
    for (const auto& name : expand_hostlist(hostlist)) slurm.add(name, "ALLOCATED+CLOUD+POWERING_UP");
    return resume({hostlist, resume_file, false}, suite);
  }

  SlurmJob job(JobId id, std::optional<seconds> limit) {
    SlurmJob made;
    made.id = id;
    made.state = "CONFIGURING";
    made.time_limit = limit;
    return made;
  }

  Machine& add(const NodeName& node, MachineState machine_state, seconds age) {
    Machine& machine = cloud.add_machine(kNode, node, age);
    machine.state = machine_state;
    return machine;
  }
};

TEST_F(ResumeQueue, LaunchesByJobWithTheJobsTimeLimits) {
  slurm.queue = {job(7, seconds{600}), job(8, std::nullopt), job(9, seconds{5})};
  EXPECT_EQ(run("aws-node-[0-3]", kJobs), kDone);
  EXPECT_EQ(slurm.job_reads, 1);
  ASSERT_THAT(node_cloud.launches, SizeIs(3));
  EXPECT_EQ(node_cloud.launches[0].job, 7U);
  EXPECT_EQ(node_cloud.launches[0].job_time_limit, seconds{600});
  EXPECT_EQ(node_cloud.launches[1].job, 8U);
  EXPECT_FALSE(node_cloud.launches[1].job_time_limit);
  EXPECT_FALSE(node_cloud.launches[2].job) << "powered up by hand";
  EXPECT_FALSE(node_cloud.launches[2].job_time_limit);
}

TEST_F(ResumeQueue, AsksForNoJobsWhereNobodyNeedsTheirLimits) {
  EXPECT_EQ(run("aws-node-[0-3]"), kDone);
  EXPECT_EQ(slurm.job_reads, 0) << "no job is known";
  node_cloud.needs.job_time_limit = false;
  EXPECT_EQ(run("aws-node-[4-5]", R"({"jobs":[{"job_id":7,"nodes_resume":"aws-node-[4-5]"}]})"), kDone);
  EXPECT_EQ(slurm.job_reads, 0);
}

TEST_F(ResumeQueue, GoesOnWithoutTheTimeLimitsThatCanNotBeRead) {
  slurm.fail_jobs = "squeue is away";
  EXPECT_EQ(run("aws-node-0", kJobs), kDone);
  EXPECT_EQ(lines(LogLevel::warning, "squeue is away"), 1U);
  ASSERT_THAT(node_cloud.launches, SizeIs(1));
  EXPECT_FALSE(node_cloud.launches[0].job_time_limit);
}

TEST_F(ResumeQueue, LeavesPendingNodesToChangeStateAndRemembersNothing) {
  GroupMemory memory;
  record_refusal(memory, "STOCKOUT", "none", now(), config.timing);
  memory.cool_down->probing_since = now();
  state.memory[kNode] = to_json(memory);
  EXPECT_EQ(run("aws-node-[0-1]", kJobs), kDone);
  EXPECT_EQ(slurm.updates(), 0) << "no address, no refusal";
  EXPECT_EQ(parse_group_memory(state.memory[kNode]), memory) << "neither a success nor a refusal";
  EXPECT_EQ(
      lines(LogLevel::info, "Node aws-node-0 " + node_cloud.machines[0].id + " is pending - the request is accepted"),
      1U);
}

TEST_F(ResumeQueue, SaysOnlyThatANodeIsPendingWhereNothingElseIsKnown) {
  const auto id = add("aws-node-0", MachineState::queued, seconds{5}).id;
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(log(), HasSubstr("Node aws-node-0 " + id + " is pending\n"));
}

TEST_F(ResumeQueue, AdoptsAQueuedMachineWhateverItsAge) {
  add("aws-node-0", MachineState::queued, kOld).address = "10.9.9.9";
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(node_cloud.starts, 0);
  EXPECT_THAT(node_cloud.ended, IsEmpty());
  EXPECT_EQ(slurm.updates(), 0) << "no address is told of a machine that is not there";
}

TEST_F(ResumeQueue, AdoptsTheMachineThatRunsBeforeTheOneInTheQueue) {
  add("aws-node-0", MachineState::queued, kOld);
  const auto address = add("aws-node-0", MachineState::running, seconds{5}).address;
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(slurm.known.at("aws-node-0").address, address);
}

TEST_F(ResumeQueue, EndsWhatIsLeftOfAFailedMachineBeforeTheStart) {
  const auto failed = add("aws-node-0", MachineState::failed, seconds{5}).id;
  node_cloud.before_start = [&] { EXPECT_THAT(node_cloud.ended, ElementsAre(failed)); };
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(node_cloud.starts, 1);
  EXPECT_EQ(lines(LogLevel::warning, "Terminated instance aws-node-0 " + failed + ": it had failed"), 1U);
}

TEST_F(ResumeQueue, LeavesAFailedMachineBesideOneThatItAdoptsToChangeState) {
  const auto failed = add("aws-node-0", MachineState::failed, seconds{5}).id;
  const auto address = add("aws-node-0", MachineState::running, seconds{5}).address;
  node_cloud.cannot_end = {failed};
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(slurm.known.at("aws-node-0").address, address);
  EXPECT_EQ(node_cloud.stops, 0);
}

TEST_F(ResumeQueue, StartsNoMachineBesideOneThatEndsLater) {
  const auto failed = add("aws-node-0", MachineState::failed, seconds{5}).id;
  node_cloud.end_later = {failed};
  EXPECT_EQ(run("aws-node-0"), kFailed);
  EXPECT_EQ(node_cloud.starts, 0);
  EXPECT_THAT(slurm.told(StateChange::power_down_force), ElementsAre("aws-node-0"));
  EXPECT_EQ(slurm.known.at("aws-node-0").reason, "burst:MachineEnding its request serves other nodes too");
}

TEST_F(ResumeQueue, MeasuresAMachineThatWasQueuedByItsOwnTime) {
  slurm_conf.resume_timeout = seconds{65'533};
  const auto stale = add("aws-node-0", MachineState::running, seconds{5'000}).id;
  node_cloud.machines.back().register_by = now();
  add("aws-node-1", MachineState::running, seconds{70'000}).register_by = now() + seconds{1};
  EXPECT_EQ(run("aws-node-[0-1]"), kDone);
  EXPECT_THAT(node_cloud.ended, ElementsAre(stale));
  ASSERT_THAT(node_cloud.launches, SizeIs(1));
  EXPECT_THAT(node_cloud.launches[0].nodes, ElementsAre("aws-node-0"));
}

TEST_F(ResumeQueue, DryRunPrintsTheLaunchesByJob) {
  EXPECT_EQ(resume({"aws-node-[0-2]", kJobs, true}, suite), kDone);
  EXPECT_EQ(out.str(),
            "aws-node: would start 1 machine for aws-node-0, job 7\n"
            "aws-node: would start 2 machines for aws-node-[1-2], job 8\n");
  EXPECT_TRUE(node_cloud.untouched());
}

}  // namespace
}  // namespace burst
