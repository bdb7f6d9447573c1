// SPDX-License-Identifier: Apache-2.0
// ResumeProgram: which machines are started, what Slurm is told, and what is left alone when something fails.
#include "programs/resume.h"

#include <condition_variable>
#include <mutex>

#include "core/group_memory.h"
#include "programs/programs_fixture.h"

namespace burst {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr std::string_view kWaking = "ALLOCATED+CLOUD+POWERING_UP";

class Resume : public ProgramsTest {
 protected:
  Resume() {
    add_nodes("aws-node-[0-9],aws-gpu-[0-3],onprem-big-[0-1]", "IDLE+CLOUD+POWERED_DOWN");
    config.timing.cool_down = seconds{600};
  }

  int run(const std::string& hostlist, const std::string& resume_file = "") {
    for (const auto& name : expand_hostlist(hostlist)) {
      if (slurm.known.contains(name)) slurm.add(name, kWaking);
    }
    return resume({hostlist, resume_file, false}, suite);
  }

  int dry_run(const std::string& hostlist, const std::string& resume_file = "") {
    return resume({hostlist, resume_file, true}, suite);
  }

  GroupMemory memory(const std::string& key) const { return parse_group_memory(state.read_memory(key)); }

  const FakeSlurm::StateCall& refusal(std::string_view reason) const {
    static const FakeSlurm::StateCall kNone;
    for (const auto& call : slurm.state_calls) {
      if (call.change == StateChange::power_down_force && call.reason.find(reason) != std::string::npos) return call;
    }
    ADD_FAILURE() << "no POWER_DOWN_FORCE with " << reason;
    return kNone;
  }
};

// Starting

TEST_F(Resume, StartsAMachineForEachNode) {
  EXPECT_EQ(run("aws-node-[0-2]"), kDone);
  EXPECT_THAT(node_cloud.machines, SizeIs(3));
  for (const auto* node : {"aws-node-0", "aws-node-1", "aws-node-2"}) EXPECT_EQ(node_cloud.count(node), 1U) << node;
  EXPECT_TRUE(gpu_cloud.untouched());
  EXPECT_THAT(node_cloud.ended, IsEmpty());
}

TEST_F(Resume, GivesSlurmAllAddressesInOneCall) {
  EXPECT_EQ(run("aws-node-[0-2]"), kDone);
  ASSERT_THAT(slurm.address_calls, SizeIs(1));
  EXPECT_THAT(slurm.address_calls[0], SizeIs(3));
  for (const auto& machine : node_cloud.machines) {
    EXPECT_EQ(slurm.known.at(*machine.node).address, machine.address);
    EXPECT_EQ(slurm.known.at(*machine.node).hostname, machine.hostname);
  }
}

TEST_F(Resume, TellsSlurmNothingButAddressesWhenAllIsWell) {
  EXPECT_EQ(run("aws-node-[0-2]"), kDone);
  EXPECT_THAT(slurm.state_calls, IsEmpty());
  EXPECT_EQ(slurm.reads, 0);
  EXPECT_EQ(slurm.job_reads, 0);
  EXPECT_THAT(slurm.comments, IsEmpty());
}

TEST_F(Resume, StartsOneMachineForANameThatIsTwiceInTheHostlist) {
  EXPECT_EQ(run("aws-node-1,aws-node-[0-1],aws-node-1"), kDone);
  EXPECT_THAT(node_cloud.machines, SizeIs(2));
  EXPECT_EQ(node_cloud.count("aws-node-1"), 1U);
  EXPECT_THAT(node_cloud.launches.at(0).nodes, ElementsAre("aws-node-1", "aws-node-0"));
}

TEST_F(Resume, TellsTheAddressesBeforeItNamesTheMachines) {
  std::size_t told = 0;
  node_cloud.before_finish = [&] { told = slurm.address_calls.size(); };
  EXPECT_EQ(run("aws-node-[0-1]"), kDone);
  EXPECT_EQ(node_cloud.finishes, 1);
  EXPECT_EQ(told, 1U);
}

TEST_F(Resume, HoldsTheGroupsLockWhileItStartsAndNotWhileItNames) {
  std::set<std::string> listing, starting, naming{"not called"};
  node_cloud.before_list = [&] { listing = state.held(); };
  node_cloud.before_start = [&] { starting = state.held(); };
  node_cloud.before_finish = [&] { naming = state.held(); };
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(listing, ElementsAre(kNode));
  EXPECT_THAT(starting, ElementsAre(kNode));
  EXPECT_THAT(naming, IsEmpty());
  EXPECT_THAT(state.held(), IsEmpty());
}

TEST_F(Resume, NeedsNoLockForALaunchThatIsClaimedAndRemembersItsEndAllTheSame) {
  std::set<std::string> listing, starting{"not called"};
  node_cloud.claims = true;
  node_cloud.out_of_capacity();
  node_cloud.before_list = [&] { listing = state.held(); };
  node_cloud.before_start = [&] { starting = state.held(); };
  EXPECT_EQ(run("aws-node-0"), kFailed);
  EXPECT_THAT(listing, ElementsAre(kNode));
  EXPECT_THAT(starting, IsEmpty());
  EXPECT_THAT(state.held(), IsEmpty());
  EXPECT_TRUE(memory(kNode).cool_down.has_value());
}

TEST_F(Resume, KeepsWhatAClaimedLaunchStartedWhenItsEndCannotBeRemembered) {
  node_cloud.claims = true;
  node_cloud.before_start = [&] { state.held_by_another.insert(kNode); };
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(node_cloud.machines, SizeIs(1));
  EXPECT_EQ(slurm.known.at("aws-node-0").address, node_cloud.machines[0].address);
  EXPECT_THAT(state.writes, IsEmpty());
}

TEST_F(Resume, LeavesAPendingNodeToChangeState) {
  node_cloud.slow = {"aws-node-1"};
  EXPECT_EQ(run("aws-node-[0-1]"), kDone);
  ASSERT_THAT(slurm.address_calls, SizeIs(1));
  EXPECT_THAT(slurm.address_calls[0], SizeIs(1));
  EXPECT_EQ(slurm.address_calls[0][0].node, "aws-node-0");
  EXPECT_THAT(slurm.state_calls, IsEmpty());
  EXPECT_THAT(log(), HasSubstr("aws-node-1"));
  EXPECT_THAT(log(), HasSubstr("AddressUnknown"));
}

TEST_F(Resume, WorksOnGroupsSideBySide) {
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  int met = 0;
  const auto meet = [&] {
    std::unique_lock lock(mutex);
    ++arrived;
    changed.notify_all();
    if (changed.wait_for(lock, seconds{10}, [&] { return arrived == 3; })) ++met;
  };
  node_cloud.before_start = gpu_cloud.before_start = big_cloud.before_start = meet;
  EXPECT_EQ(run("aws-node-0,aws-gpu-0,onprem-big-0"), kDone);
  EXPECT_EQ(met, 3) << "each start() waits until all three run";
}

// Adopting

TEST_F(Resume, AdoptsAYoungMachineAndStartsNone) {
  const Machine machine = cloud.add_machine(kNode, "aws-node-0", seconds{60});
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(node_cloud.starts, 0);
  EXPECT_EQ(node_cloud.stops, 0);
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
  EXPECT_EQ(slurm.known.at("aws-node-0").address, machine.address);
  EXPECT_THAT(slurm.state_calls, IsEmpty());
}

TEST_F(Resume, StartsMachinesOnlyForTheNodesThatHaveNone) {
  cloud.add_machine(kNode, "aws-node-0", seconds{60});
  EXPECT_EQ(run("aws-node-[0-1]"), kDone);
  ASSERT_THAT(node_cloud.launches, SizeIs(1));
  EXPECT_THAT(node_cloud.launches[0].nodes, ElementsAre("aws-node-1"));
}

TEST_F(Resume, AdoptsAMachineThatOnlyTheJournalKnows) {
  Machine& machine = cloud.add_machine(kNode, std::nullopt, seconds{60});
  machine.launch = "dead";
  journal.records[{kNode, "dead"}].assigned = {{machine.id, "aws-node-0"}};
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(node_cloud.starts, 0);
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U) << "the naming of the dead launch is finished";
}

TEST_F(Resume, AdoptsTheOldestOfSeveralYoungMachines) {
  cloud.add_machine(kNode, "aws-node-0", seconds{20});
  const Machine oldest = cloud.add_machine(kNode, "aws-node-0", seconds{90});
  cloud.add_machine(kNode, "aws-node-0", seconds{50});
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(node_cloud.starts, 0);
  EXPECT_EQ(slurm.known.at("aws-node-0").address, oldest.address);
}

TEST_F(Resume, DoesNotAdoptAMachineThatIsEnding) {
  cloud.add_machine(kNode, "aws-node-0", seconds{60}).state = MachineState::stopping;
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(node_cloud.starts, 1);
  EXPECT_EQ(node_cloud.stops, 0);
}

TEST_F(Resume, AdoptsAMachineWithoutAnAddressAndTellsNone) {
  cloud.add_machine(kNode, "aws-node-0", seconds{5}).address.clear();
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(node_cloud.starts, 0);
  EXPECT_THAT(slurm.address_calls, IsEmpty());
  EXPECT_THAT(slurm.state_calls, IsEmpty());
}

TEST_F(Resume, LeavesTheMachinesOfOtherNodesAlone) {
  cloud.add_machine(kNode, "aws-node-7", seconds{100'000});
  cloud.add_machine(kNode, std::nullopt, seconds{100'000});
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(node_cloud.stops, 0);
  EXPECT_THAT(node_cloud.machines, SizeIs(3));
}

// Leftovers

TEST_F(Resume, EndsALeftoverBeforeItStartsANewMachine) {
  const std::string leftover = cloud.add_machine(kNode, "aws-node-0", kResumeTimeout).id;
  std::vector<std::string> ended_before_start;
  node_cloud.before_start = [&] { ended_before_start = node_cloud.ended; };
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(ended_before_start, ElementsAre(leftover));
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
  EXPECT_NE(node_cloud.machines.at(0).id, leftover);
}

TEST_F(Resume, AdoptsAMachineJustYoungerThanResumeTimeout) {
  cloud.add_machine(kNode, "aws-node-0", kResumeTimeout - seconds{1});
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_TRUE(node_cloud.starts == 0 && node_cloud.stops == 0);
}

TEST_F(Resume, AdoptsAMachineYoungerThanItsPartitionsOwnResumeTimeout) {
  config.partitions[0].options = {{"ResumeTimeout", "900"}};
  cloud.add_machine(kNode, "aws-node-0", kResumeTimeout + seconds{60});
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_TRUE(node_cloud.starts == 0 && node_cloud.stops == 0);
}

TEST_F(Resume, StartsNoSecondMachineWhenALeftoverCanNotBeEnded) {
  const std::string leftover = cloud.add_machine(kNode, "aws-node-0", seconds{10'000}).id;
  node_cloud.cannot_end = {leftover};
  EXPECT_EQ(run("aws-node-[0-1]"), kFailed);
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
  EXPECT_EQ(node_cloud.count("aws-node-1"), 1U);
  EXPECT_THAT(refusal("OperationNotPermitted").nodes, ElementsAre("aws-node-0"));
}

TEST_F(Resume, RefusesANodeOnceThatHasAYoungMachineAndALeftoverThatCanNotBeEnded) {
  const Machine young = cloud.add_machine(kNode, "aws-node-0", seconds{10});
  for (int i = 0; i < 2; ++i) node_cloud.cannot_end.insert(cloud.add_machine(kNode, "aws-node-0", seconds{10'000}).id);
  EXPECT_EQ(run("aws-node-0"), kFailed);
  EXPECT_EQ(node_cloud.starts, 0);
  EXPECT_THAT(slurm.address_calls, IsEmpty()) << "a node is adopted or refused, not both";
  EXPECT_THAT(refusal("OperationNotPermitted").nodes, ElementsAre("aws-node-0"));
}

// Names

TEST_F(Resume, ReportsUnknownNamesAndIdsBeyondMaxNodesAndStartsTheOthers) {
  EXPECT_EQ(run("aws-node-0,aws-none-3,login1,aws-gpu-4,aws-gpu-3"), kFailed);
  EXPECT_EQ(lines(LogLevel::error, "aws-none-3"), 1U);
  EXPECT_EQ(lines(LogLevel::error, "login1"), 1U);
  EXPECT_EQ(lines(LogLevel::error, "aws-gpu-4"), 1U);
  EXPECT_THAT(log(), HasSubstr("MaxNodes=4"));
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
  EXPECT_EQ(gpu_cloud.count("aws-gpu-3"), 1U);
  EXPECT_THAT(gpu_cloud.machines, SizeIs(1));
  EXPECT_THAT(slurm.state_calls, IsEmpty());
}

TEST_F(Resume, StartsNothingForAnIdThatSlurmWouldWriteOtherwise) {
  EXPECT_EQ(run("aws-node-007"), kFailed);
  EXPECT_TRUE(node_cloud.untouched());
  EXPECT_EQ(lines(LogLevel::error, "aws-node-007"), 1U);
}

TEST_F(Resume, ThrowsForAnInvalidHostlistAndStartsNothing) {
  EXPECT_THROW(resume({"aws-node-[0-", "", false}, suite), Error);
  EXPECT_TRUE(node_cloud.untouched());
  EXPECT_EQ(slurm.updates(), 0);
}

// Failures

TEST_F(Resume, LetsAGroupsFailureTouchNoOtherGroup) {
  node_cloud.fails_whole("AuthFailure");
  big_cloud.fail_connect = Error("InvalidRegion", "no such region");
  EXPECT_EQ(run("aws-node-[0-1],aws-gpu-0,onprem-big-0"), kFailed);
  EXPECT_EQ(gpu_cloud.count("aws-gpu-0"), 1U);
  EXPECT_NE(slurm.known.at("aws-gpu-0").address, "aws-gpu-0");
  EXPECT_THAT(refusal("burst:AuthFailure").nodes, ElementsAre("aws-node-0", "aws-node-1"));
  EXPECT_THAT(refusal("burst:InvalidRegion").nodes, ElementsAre("onprem-big-0"));
  EXPECT_THAT(slurm.state_calls, SizeIs(2));
  EXPECT_THAT(node_cloud.machines, IsEmpty());
}

TEST_F(Resume, PowersRefusedNodesDownByForceWithOneUpdateACode) {
  node_cloud.rejects = {{"aws-node-1", {"InvalidParameter", "bad\nsubnet"}},
                        {"aws-node-2", {"UnauthorizedOperation", "no"}},
                        {"aws-node-3", {"InvalidParameter", "bad\nsubnet"}}};
  EXPECT_EQ(run("aws-node-[0-3]"), kFailed);
  EXPECT_THAT(slurm.state_calls, SizeIs(2));
  EXPECT_THAT(refusal("burst:InvalidParameter bad subnet").nodes, ElementsAre("aws-node-1", "aws-node-3"));
  EXPECT_EQ(refusal("burst:UnauthorizedOperation").reason, "burst:UnauthorizedOperation no");
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
}

TEST_F(Resume, KeepsAdoptedNodesWhenTheStartOfTheOthersFails) {
  const Machine machine = cloud.add_machine(kNode, "aws-node-0", seconds{30});
  node_cloud.fail_start = Error("ExpiredToken", "the token has expired");
  EXPECT_EQ(run("aws-node-[0-1]"), kFailed);
  EXPECT_THAT(slurm.told(StateChange::power_down_force), UnorderedElementsAre("aws-node-1"));
  EXPECT_EQ(slurm.known.at("aws-node-0").address, machine.address);
}

TEST_F(Resume, KeepsNodesThatSlurmWasToldOfWhenTheStartFailsLater) {
  node_cloud.slow = {"aws-node-1"};
  node_cloud.fail_start = Error("NoReply", "connection reset");
  node_cloud.dies_before_answer = true;
  EXPECT_EQ(run("aws-node-[0-1]"), kFailed);
  EXPECT_THAT(slurm.told(StateChange::power_down_force), UnorderedElementsAre("aws-node-1"));
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U) << "named";
}

TEST_F(Resume, LogsAFailedAddressUpdateAndGoesOn) {
  slurm.fail_set_addresses = "slurm_update error: Unable to contact slurm controller";
  EXPECT_EQ(run("aws-node-0"), kFailed);
  EXPECT_EQ(lines(LogLevel::error, "Unable to contact slurm controller"), 1U);
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
  EXPECT_EQ(node_cloud.finishes, 1);
  EXPECT_THAT(node_cloud.ended, IsEmpty());
}

TEST_F(Resume, LogsAFailedRefusalAndGoesOn) {
  slurm.fail_set_state = "Unable to contact slurm controller";
  node_cloud.rejects = {{"aws-node-0", {"A", "a"}}, {"aws-node-1", {"B", "b"}}};
  EXPECT_EQ(run("aws-node-[0-2]"), kFailed);
  EXPECT_THAT(slurm.state_calls, SizeIs(2));
  EXPECT_EQ(node_cloud.finishes, 1);
}

TEST_F(Resume, ReportsMachinesThatCouldNotBeNamed) {
  node_cloud.naming_fails = {"aws-node-1"};
  EXPECT_EQ(run("aws-node-[0-1]"), kFailed);
  EXPECT_EQ(lines(LogLevel::error, "InvalidInstanceID.NotFound: no such instance"), 1U);
  EXPECT_THAT(log(), HasSubstr("Failed to tag node aws-node-1 "));
  EXPECT_THAT(slurm.state_calls, IsEmpty()) << "its machine lives";
  EXPECT_THAT(journal.assignments(kNode), Not(IsEmpty())) << "change_state has to know which node's it is";
}

TEST_F(Resume, ReportsANamingThatFailsAsAWhole) {
  node_cloud.fail_finish = Error("ExpiredToken", "the token has expired");
  EXPECT_EQ(run("aws-node-0"), kFailed);
  EXPECT_EQ(lines(LogLevel::error, "ExpiredToken"), 1U);
  EXPECT_THAT(slurm.state_calls, IsEmpty());
}

TEST_F(Resume, WarnsOfABrokenResumeFileAndGoesOnWithTheHostlist) {
  EXPECT_EQ(run("aws-node-0", "{\"jobs\": ["), kDone);
  EXPECT_EQ(lines(LogLevel::warning, "going on with the hostlist alone"), 1U);
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
}

// Locks and StateDir

TEST_F(Resume, StartsNothingAndTellsSlurmWhenStateDirCanNotBeWritten) {
  state.unwritable = true;
  EXPECT_EQ(run("aws-node-[0-1]"), kFailed);
  EXPECT_TRUE(node_cloud.untouched());
  EXPECT_THAT(refusal("burst:StateDirError").nodes, ElementsAre("aws-node-0", "aws-node-1"));
  EXPECT_THAT(slurm.state_calls, SizeIs(1));
}

TEST_F(Resume, StartsNothingAndTellsSlurmWhenTheJournalCanNotBeWritten) {
  journal.unwritable = true;
  EXPECT_EQ(run("aws-node-0"), kFailed);
  EXPECT_THAT(node_cloud.machines, IsEmpty());
  EXPECT_THAT(refusal("burst:StateDirError").nodes, ElementsAre("aws-node-0"));
}

TEST_F(Resume, StartsNothingAndTellsNothingWhenAnotherHoldsTheLock) {
  state.held_by_another = {kNode};
  EXPECT_EQ(run("aws-node-0,aws-gpu-0"), kFailed);
  EXPECT_TRUE(node_cloud.untouched());
  EXPECT_EQ(node_cloud.connects, 0);
  EXPECT_THAT(slurm.state_calls, IsEmpty());
  EXPECT_EQ(lines(LogLevel::error, "aws-node: another program works on this node group"), 1U);
  EXPECT_EQ(gpu_cloud.count("aws-gpu-0"), 1U);
}

TEST_F(Resume, KeepsItsMachinesWhenTheMemoryCanNotBeReadOrWritten) {
  state.memory_unreadable = true;
  EXPECT_EQ(run("aws-node-0"), kDone);
  state.memory_unreadable = false;
  state.memory_unwritable = true;
  GroupMemory failing;
  failing.last_length = seconds{600};
  state.memory[kNode] = to_json(failing);  // a success would reset it
  EXPECT_EQ(run("aws-node-1"), kDone);
  EXPECT_THAT(node_cloud.machines, SizeIs(2));
  EXPECT_THAT(slurm.state_calls, IsEmpty());
  EXPECT_EQ(lines(LogLevel::error, "StateDir"), 2U);
}

// Capacity

TEST_F(Resume, StartsTheCoolDownWhenThereIsNoCapacity) {
  node_cloud.out_of_capacity();
  EXPECT_EQ(run("aws-node-0"), kFailed);
  const auto kept = memory(kNode);
  ASSERT_TRUE(kept.cool_down);
  EXPECT_EQ(kept.cool_down->code, "InsufficientInstanceCapacity");
  EXPECT_EQ(kept.cool_down->until, now() + seconds{600});
  EXPECT_THAT(state.writes, ElementsAre(kNode));
}

TEST_F(Resume, StartsTheCoolDownWhenTheQuotaIsReached) {
  node_cloud.over_quota();
  EXPECT_EQ(run("aws-node-0"), kFailed);
  ASSERT_TRUE(memory(kNode).cool_down);
  EXPECT_EQ(memory(kNode).cool_down->code, "VcpuLimitExceeded");
}

TEST_F(Resume, ClosesTheGroupsIdlePoweredDownNodesAtOnceAndNoOther) {
  node_cloud.out_of_capacity();
  slurm.add("aws-node-3", "ALLOCATED+CLOUD+POWERED_DOWN");
  slurm.add("aws-node-4", "IDLE+CLOUD");
  slurm.add("aws-node-5", "MIXED+CLOUD");
  slurm.add("aws-node-6", kWaking);
  EXPECT_EQ(run("aws-node-[0-1]"), kFailed);
  EXPECT_THAT(slurm.told(StateChange::power_down_force), UnorderedElementsAre("aws-node-0", "aws-node-1"));
  // The two that were refused power down by now: they are not to be usable in between.
  EXPECT_THAT(slurm.told(StateChange::down),
              UnorderedElementsAre("aws-node-0", "aws-node-1", "aws-node-2", "aws-node-7", "aws-node-8", "aws-node-9"));
  ASSERT_THAT(slurm.state_calls, SizeIs(2));
  EXPECT_THAT(slurm.state_calls[1].reason, StartsWith("burst:InsufficientInstanceCapacity"));
  EXPECT_EQ(slurm.reads, 1);
}

TEST_F(Resume, KeepsTheMachinesThatItGotAndCoolsDownForTheRest) {
  node_cloud.out_of_capacity(2);
  EXPECT_EQ(run("aws-node-[0-3]"), kFailed);
  EXPECT_THAT(node_cloud.machines, SizeIs(2));
  EXPECT_THAT(node_cloud.ended, IsEmpty());
  ASSERT_THAT(slurm.address_calls, SizeIs(1));
  EXPECT_THAT(slurm.address_calls[0], SizeIs(2));
  EXPECT_THAT(slurm.told(StateChange::power_down_force), UnorderedElementsAre("aws-node-2", "aws-node-3"));
  EXPECT_TRUE(memory(kNode).cool_down);
}

TEST_F(Resume, StartsNoCoolDownForNodesThatAreRejectedOtherwise) {
  node_cloud.rejects = {{"aws-node-0", {"UnauthorizedOperation", "no"}}};
  EXPECT_EQ(run("aws-node-0"), kFailed);
  EXPECT_FALSE(memory(kNode).cool_down);
  EXPECT_THAT(state.writes, IsEmpty());
  EXPECT_THAT(slurm.told(StateChange::down), IsEmpty());
}

TEST_F(Resume, ClosesNoOtherGroup) {
  node_cloud.out_of_capacity();
  EXPECT_EQ(run("aws-node-0,aws-gpu-0"), kFailed);
  EXPECT_FALSE(memory(kGpu).cool_down);
  for (const auto& node : slurm.told(StateChange::down)) EXPECT_THAT(node, StartsWith("aws-node-"));
}

TEST_F(Resume, EndsTheCoolDownWhenItsProbeStarts) {
  GroupMemory probing;
  probing.cool_down = CoolDown{"InsufficientInstanceCapacity", "none", now() - seconds{5}, seconds{600}, now()};
  probing.last_length = seconds{600};
  state.memory[kNode] = to_json(probing);
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(memory(kNode), GroupMemory{});
}

TEST_F(Resume, ResetsTheLengthOfTheNextCoolDownAfterASuccess) {
  GroupMemory after;
  after.last_length = seconds{2400};
  state.memory[kNode] = to_json(after);
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_EQ(memory(kNode).last_length, seconds{0});
}

TEST_F(Resume, WritesNoMemoryWhenNothingChanges) {
  EXPECT_EQ(run("aws-node-0"), kDone);
  EXPECT_THAT(state.writes, IsEmpty());
}

TEST_F(Resume, IsNotStoppedByASlurmThatCanNotBeReadWhenItClosesTheGroup) {
  node_cloud.out_of_capacity(1);
  slurm.fail_nodes = "Unable to contact slurm controller";
  EXPECT_EQ(run("aws-node-[0-1]"), kFailed);
  EXPECT_EQ(node_cloud.finishes, 1);
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
}

// Launches by job

constexpr const char* kTwoJobs =
    R"({"jobs":[{"job_id":7,"nodes_resume":"aws-node-[0-1]"},{"job_id":8,"nodes_resume":"aws-node-[2-3]"}]})";

TEST_F(Resume, LaunchesByJobWhereTheGroupIsAllOrNothing) {
  config.partitions[0].groups[0].strategy = LaunchStrategy::all_or_nothing;
  node_cloud.out_of_capacity(3);
  EXPECT_EQ(run("aws-node-[0-3]", kTwoJobs), kFailed);
  ASSERT_THAT(node_cloud.launches, SizeIs(2));
  EXPECT_EQ(node_cloud.launches[0].job, 7U);
  EXPECT_TRUE(node_cloud.launches[0].all_or_nothing);
  EXPECT_EQ(node_cloud.launches[1].job, 8U);
  EXPECT_THAT(node_cloud.machines, SizeIs(2)) << "job 8 can't have both, so it gets none";
  EXPECT_THAT(slurm.told(StateChange::power_down_force), UnorderedElementsAre("aws-node-2", "aws-node-3"));
}

TEST_F(Resume, LaunchesAllInOneWhereTheGroupIsBestEffort) {
  EXPECT_EQ(run("aws-node-[0-3]", kTwoJobs), kDone);
  ASSERT_THAT(node_cloud.launches, SizeIs(1));
  EXPECT_FALSE(node_cloud.launches[0].all_or_nothing);
  EXPECT_THAT(node_cloud.launches[0].nodes, SizeIs(4));
}

// Closed groups

TEST_F(Resume, StartsNothingForJobsWhileTheGroupIsClosed) {
  GroupMemory closed;
  closed.cool_down = CoolDown{"InsufficientInstanceCapacity", "none", now() + seconds{5}, seconds{600}, std::nullopt};
  state.memory[kNode] = to_json(closed);
  EXPECT_EQ(run("aws-node-[0-4]", kTwoJobs), kFailed);
  // The fifth is of no job: someone powers it up by hand.
  EXPECT_THAT(node_cloud.machines, SizeIs(1));
  EXPECT_EQ(node_cloud.count("aws-node-4"), 1U);
  EXPECT_THAT(refusal("burst:InsufficientInstanceCapacity none").nodes,
              UnorderedElementsAre("aws-node-0", "aws-node-1", "aws-node-2", "aws-node-3"));
  EXPECT_EQ(memory(kNode), closed) << "a refusal of our own makes it no longer";
  EXPECT_THAT(slurm.told(StateChange::down), testing::Contains("aws-node-9")) << "it was not closed, evidently";
}

TEST_F(Resume, StartsAProbe) {
  GroupMemory probing;
  probing.cool_down = CoolDown{"InsufficientInstanceCapacity", "none", now() + seconds{5}, seconds{600}, now()};
  state.memory[kNode] = to_json(probing);
  EXPECT_EQ(run("aws-node-0", kTwoJobs), kDone);
  EXPECT_THAT(node_cloud.machines, SizeIs(1));
}

// --dry-run

TEST_F(Resume, DryRunPrintsThePlan) {
  config.partitions[0].groups[0].strategy = LaunchStrategy::all_or_nothing;
  const std::string young = cloud.add_machine(kNode, "aws-node-4", seconds{10}).id;
  const std::string old = cloud.add_machine(kNode, "aws-node-5", seconds{10'000}).id;
  EXPECT_EQ(dry_run("aws-node-[0-5],aws-gpu-1", kTwoJobs), kDone);
  EXPECT_EQ(out.str(), "aws-node-4: has machine " + young +
                           ", would adopt it\n"
                           "aws-node-5: would end leftover machine " +
                           old +
                           "\n"
                           "aws-node: would start 2 machines for aws-node-[0-1], job 7, all or nothing\n"
                           "aws-node: would start 2 machines for aws-node-[2-3], job 8, all or nothing\n"
                           "aws-node: would start 1 machine for aws-node-5\n"
                           "aws-gpu: would start 1 machine for aws-gpu-1\n");
}

TEST_F(Resume, DryRunStartsNothingTellsNothingAndWritesNothing) {
  cloud.add_machine(kNode, "aws-node-5", seconds{10'000});
  node_cloud.out_of_capacity();
  EXPECT_EQ(dry_run("aws-node-[0-5]"), kDone);
  EXPECT_TRUE(node_cloud.untouched());
  EXPECT_THAT(node_cloud.machines, SizeIs(1));
  EXPECT_EQ(slurm.updates(), 0);
  EXPECT_EQ(state.lock_attempts, 0);
  EXPECT_THAT(state.writes, IsEmpty());
  EXPECT_THAT(journal.records, IsEmpty());
}

TEST_F(Resume, DryRunGoesOnAfterAGroupsFailure) {
  node_cloud.fails_whole("AuthFailure");
  EXPECT_EQ(dry_run("aws-node-0,aws-gpu-0"), kFailed);
  EXPECT_EQ(out.str(), "aws-gpu: would start 1 machine for aws-gpu-0\n");
  EXPECT_EQ(slurm.updates(), 0);
}

}  // namespace
}  // namespace burst
