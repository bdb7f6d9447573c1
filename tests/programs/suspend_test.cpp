// SPDX-License-Identifier: Apache-2.0
// SuspendProgram and ResumeFailProgram: which machines are ended, and that Slurm is left alone.
#include "programs/suspend.h"

#include <condition_variable>
#include <mutex>

#include "programs/programs_fixture.h"

namespace burst {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class Suspend : public ProgramsTest {
 protected:
  Suspend() { add_nodes("aws-node-[0-9],aws-gpu-[0-3]", "IDLE+CLOUD+POWERING_DOWN"); }

  ~Suspend() override {
    EXPECT_EQ(slurm.updates(), 0) << "suspend never touches Slurm";
    EXPECT_EQ(slurm.reads + slurm.job_reads, 0);
  }

  int run(const std::string& hostlist) { return suspend(hostlist, false, suite); }

  std::string add(const char* key, std::optional<NodeName> node) {
    return cloud.add_machine(key, std::move(node), seconds{1000}).id;
  }
};

TEST_F(Suspend, EndsTheMachinesOfExactlyTheseNodes) {
  const auto first = add(kNode, "aws-node-0");
  const auto second = add(kNode, "aws-node-1");
  add(kNode, "aws-node-10");
  add(kNode, "aws-node-2");
  add(kNode, std::nullopt);
  add(kGpu, "aws-gpu-0");
  EXPECT_EQ(run("aws-node-[0-1]"), kDone);
  EXPECT_THAT(node_cloud.ended, UnorderedElementsAre(first, second));
  EXPECT_THAT(node_cloud.machines, SizeIs(3));
  EXPECT_TRUE(gpu_cloud.untouched());
  EXPECT_EQ(lines(LogLevel::info, "Terminated instance aws-node-0 " + first), 1U);
}

TEST_F(Suspend, EndsAllMachinesOfANodeThatHasSeveral) {
  add(kNode, "aws-node-0");
  add(kNode, "aws-node-0");
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(node_cloud.machines, IsEmpty());
}

TEST_F(Suspend, EndsAMachineThatOnlyTheJournalKnows) {
  const auto machine = add(kNode, std::nullopt);
  journal.records[{kNode, "dead"}].assigned = {{machine, "aws-node-0"}};
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(node_cloud.ended, ElementsAre(machine));
}

TEST_F(Suspend, IsDoneForANodeWithoutAMachine) {
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(log(), HasSubstr("Node aws-node-0 has no machine"));
  EXPECT_EQ(lines(LogLevel::error, ""), 0U);
}

TEST_F(Suspend, HoldsTheGroupsLockWhileItEndsMachines) {
  add(kNode, "aws-node-0");
  std::set<std::string> held;
  node_cloud.before_stop = [&] { held = state.held(); };
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(held, ElementsAre(kNode));
  EXPECT_THAT(state.held(), IsEmpty());
}

TEST_F(Suspend, GoesOnWithoutTheLockWhenAnotherHoldsIt) {
  const auto machine = add(kNode, "aws-node-0");
  state.held_by_another = {kNode};
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(node_cloud.ended, ElementsAre(machine));
  EXPECT_EQ(lines(LogLevel::warning, "aws-node: another program works on this node group"), 1U);
}

TEST_F(Suspend, GoesOnWithoutTheLockWhenStateDirIsBroken) {
  const auto machine = add(kNode, "aws-node-0");
  state.unwritable = true;
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(node_cloud.ended, ElementsAre(machine));
  EXPECT_EQ(lines(LogLevel::error, "going on without the lock"), 1U);
}

TEST_F(Suspend, FailsForAMachineThatCanNotBeEndedAndEndsTheOthers) {
  const auto stubborn = add(kNode, "aws-node-0");
  const auto other = add(kNode, "aws-node-1");
  node_cloud.cannot_end = {stubborn};
  EXPECT_EQ(run("aws-node-[0-1]"), kFailed);
  EXPECT_THAT(node_cloud.ended, ElementsAre(other));
  EXPECT_EQ(lines(LogLevel::error, "Failed to terminate instance aws-node-0 " + stubborn + " - OperationNotPermitted"),
            1U);
}

TEST_F(Suspend, LetsAGroupsFailureTouchNoOtherGroup) {
  add(kNode, "aws-node-0");
  const auto gpu = add(kGpu, "aws-gpu-0");
  node_cloud.fails_whole("AuthFailure");
  EXPECT_EQ(run("aws-node-0,aws-gpu-0"), kFailed);
  EXPECT_THAT(gpu_cloud.ended, ElementsAre(gpu));
  EXPECT_EQ(lines(LogLevel::error, "aws-node: AuthFailure"), 1U);
}

TEST_F(Suspend, ReportsUnknownNamesAndEndsTheOthers) {
  const auto machine = add(kNode, "aws-node-0");
  EXPECT_EQ(run("aws-none-1,aws-node-0,aws-node-10,x"), kFailed);
  EXPECT_THAT(node_cloud.ended, ElementsAre(machine));
  EXPECT_EQ(lines(LogLevel::error, ""), 3U);
}

TEST_F(Suspend, ThrowsForAnInvalidHostlist) {
  add(kNode, "aws-node-0");
  EXPECT_THROW(run("aws-node-0]"), Error);
  EXPECT_TRUE(node_cloud.untouched());
}

TEST_F(Suspend, WorksOnGroupsSideBySide) {
  add(kNode, "aws-node-0");
  add(kGpu, "aws-gpu-0");
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  int met = 0;
  node_cloud.before_stop = gpu_cloud.before_stop = [&] {
    std::unique_lock lock(mutex);
    ++arrived;
    changed.notify_all();
    if (changed.wait_for(lock, seconds{10}, [&] { return arrived == 2; })) ++met;
  };
  EXPECT_EQ(run("aws-node-0,aws-gpu-0"), kDone);
  EXPECT_EQ(met, 2) << "each stop() waits until both run";
}

TEST_F(Suspend, TakesAMachineThatEndsWhenItComesAsEnded) {
  const auto machine = add(kNode, "aws-node-0");
  node_cloud.end_later = {machine};
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(lines(LogLevel::info, "Instance aws-node-0 " + machine + " ends as soon as it can"), 1U);
  EXPECT_EQ(lines(LogLevel::error, ""), 0U);
}

TEST_F(Suspend, DryRunPrintsTheMachinesAndEndsNone) {
  const auto machine = add(kNode, "aws-node-0");
  const auto ending = add(kNode, "aws-node-1");
  node_cloud.find(ending)->state = MachineState::stopping;
  add(kNode, "aws-node-5");
  EXPECT_EQ(suspend("aws-node-[0-2]", true, suite), kDone);
  EXPECT_EQ(out.str(), "aws-node-0: would end " + machine + "\naws-node-1: would end " + ending +
                           " (is ending already)\naws-node-2: has no machine\n");
  EXPECT_TRUE(node_cloud.untouched());
  EXPECT_EQ(state.lock_attempts, 0);
}

TEST_F(Suspend, DryRunGoesOnAfterAGroupsFailure) {
  node_cloud.fails_whole("AuthFailure");
  EXPECT_EQ(suspend("aws-node-0,aws-gpu-0", true, suite), kFailed);
  EXPECT_EQ(out.str(), "aws-gpu-0: has no machine\n");
}

}  // namespace
}  // namespace burst
