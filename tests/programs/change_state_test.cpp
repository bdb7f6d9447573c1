// SPDX-License-Identifier: Apache-2.0
// The reconciler's pass: what it reads, in which order, what it does with a decision, and when it keeps its hands off.
#include "programs/change_state.h"

#include <latch>

#include "core/group_memory.h"
#include "programs/programs_fixture.h"

namespace burst {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::string_view kOff = "IDLE+CLOUD+POWERED_DOWN";
constexpr seconds kOld{10'000};

class ChangeState : public ProgramsTest {
 protected:
  ChangeState() { add_nodes("aws-node-[0-9],aws-gpu-[0-3],onprem-big-[0-1]", kOff); }

  int run() { return change_state(false, suite); }
  int dry_run() { return change_state(true, suite); }

  /// A machine whose node is off: row M3 ends it.
  std::string add_orphan(const char* key, const NodeName& node) { return cloud.add_machine(key, node, kOld).id; }

  /// A machine whose node runs jobs there.
  void add_busy(const char* key, const NodeName& node) {
    const Machine machine = cloud.add_machine(key, node, kOld);
    auto& entry = slurm.add(node, "ALLOCATED+CLOUD");
    entry.address = machine.address;
    entry.hostname = machine.hostname;
  }

  void expect_nothing_changed() {
    EXPECT_EQ(slurm.updates(), 0);
    EXPECT_TRUE(node_cloud.ended.empty() && gpu_cloud.ended.empty() && big_cloud.ended.empty());
    EXPECT_EQ(node_cloud.starts + node_cloud.stops, 0);
    EXPECT_THAT(state.writes, IsEmpty());
  }
};

TEST_F(ChangeState, ReadsAQuietClusterOnceAndChangesNothing) {
  add_busy(kNode, "aws-node-0");
  add_busy(kGpu, "aws-gpu-1");
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(slurm.reads, 1);
  EXPECT_EQ(slurm.job_reads, 0);
  EXPECT_EQ(node_cloud.lists + gpu_cloud.lists + big_cloud.lists, 3);
  expect_nothing_changed();
  EXPECT_EQ(out.str(), "");
}

TEST_F(ChangeState, IsQuietAgainAfterItHasMended) {
  add_orphan(kNode, "aws-node-3");
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(node_cloud.stops, 1);
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(node_cloud.stops, 1);
  EXPECT_EQ(slurm.updates(), 0);
}

TEST_F(ChangeState, ReadsSlurmAndTheCloudsSideBySideUnderTheLocks) {
  std::latch both(2);  // one after the other would wait here for ever
  slurm.before_read = [&] {
    both.arrive_and_wait();
    EXPECT_THAT(state.held(), UnorderedElementsAre(kNode, kGpu, kBig));
  };
  node_cloud.before_list = [&] {
    both.arrive_and_wait();
    EXPECT_THAT(state.held(), UnorderedElementsAre(kNode, kGpu, kBig));
  };
  EXPECT_EQ(run(), kDone);
}

// Mending

TEST_F(ChangeState, EndsAnOrphan) {
  const auto orphan = add_orphan(kNode, "aws-node-3");
  add_busy(kNode, "aws-node-4");
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(node_cloud.ended, ElementsAre(orphan));
  EXPECT_EQ(lines(LogLevel::info, "M3 aws-node-3: end machine " + orphan), 1U);
  EXPECT_EQ(slurm.updates(), 0);
}

TEST_F(ChangeState, UpdatesAllAddressesOfAGroupInOneCall) {
  for (const auto* node : {"aws-node-0", "aws-node-1"}) {
    slurm.add(node, "ALLOCATED+CLOUD+POWERING_UP");
    cloud.add_machine(kNode, node, seconds{10});
  }
  EXPECT_EQ(run(), kDone);
  ASSERT_THAT(slurm.address_calls, SizeIs(1));
  EXPECT_THAT(slurm.address_calls[0], SizeIs(2));
  EXPECT_EQ(slurm.known.at("aws-node-1").address, node_cloud.machines.at(1).address);
  EXPECT_THAT(slurm.state_calls, IsEmpty());
  EXPECT_THAT(node_cloud.ended, IsEmpty());
}

TEST_F(ChangeState, MakesOneCallForEachDistinctChange) {
  for (const auto* node : {"aws-node-0", "aws-node-1", "aws-node-2"})
    slurm.add(node, "DOWN+CLOUD+POWERED_DOWN").reason = "burst:X it was so";
  for (const auto* node : {"aws-node-4", "aws-node-5"})
    slurm.add(node, "DOWN+CLOUD+POWERING_UP").reason = "ResumeTimeout reached";
  EXPECT_EQ(run(), kDone);
  ASSERT_THAT(slurm.state_calls, SizeIs(2));
  EXPECT_THAT(slurm.told(StateChange::idle), UnorderedElementsAre("aws-node-0", "aws-node-1", "aws-node-2"));
  EXPECT_THAT(slurm.told(StateChange::power_down), UnorderedElementsAre("aws-node-4", "aws-node-5"));
}

TEST_F(ChangeState, LeavesANodeAloneThatAnAdminHasSetDown) {
  slurm.add("aws-node-0", "DOWN+CLOUD+POWERED_DOWN").reason = "broken fan";
  EXPECT_EQ(run(), kDone);
  expect_nothing_changed();
}

TEST_F(ChangeState, WritesTheMemoryBeforeItActs) {
  slurm.add("aws-node-0", "ALLOCATED+CLOUD+POWERING_UP");
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(slurm.updates(), 0) << "the first pass that misses a machine only remembers";
  EXPECT_THAT(state.writes, ElementsAre(kNode));
  world.clock.advance(seconds{200});
  std::size_t written = 0;
  slurm.before_update = [&] { written = state.writes.size(); };
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(slurm.told(StateChange::power_down_force), ElementsAre("aws-node-0"));
  EXPECT_EQ(written, 2U);
}

TEST_F(ChangeState, ActsOnNothingThatItCanNotRemember) {
  slurm.add("aws-node-0", "ALLOCATED+CLOUD+POWERING_UP");
  add_orphan(kNode, "aws-node-3");
  const auto other = add_orphan(kGpu, "aws-gpu-3");
  state.memory_unwritable = true;
  EXPECT_EQ(run(), kFailed);
  EXPECT_THAT(node_cloud.ended, IsEmpty());
  EXPECT_THAT(gpu_cloud.ended, ElementsAre(other));
}

TEST_F(ChangeState, FollowsTheCoolDownOfItsMemory) {
  GroupMemory memory;
  memory.cool_down = CoolDown{"InsufficientInstanceCapacity", "none", now() + seconds{300}, seconds{600}, std::nullopt};
  state.memory[kGpu] = to_json(memory);
  EXPECT_EQ(run(), kDone);
  ASSERT_THAT(slurm.state_calls, SizeIs(1));
  EXPECT_THAT(slurm.told(StateChange::down), UnorderedElementsAre("aws-gpu-0", "aws-gpu-1", "aws-gpu-2", "aws-gpu-3"));
  EXPECT_EQ(slurm.state_calls[0].reason, "burst:InsufficientInstanceCapacity none");
}

TEST_F(ChangeState, HoldsAGroupsLockWhileItMends) {
  add_orphan(kNode, "aws-node-3");
  std::set<std::string> held;
  node_cloud.before_stop = [&] { held = state.held(); };
  EXPECT_EQ(run(), kDone);
  EXPECT_TRUE(held.contains(kNode));
  EXPECT_THAT(state.held(), IsEmpty());
}

// Names

TEST_F(ChangeState, NamesTheMachinesOfADeadLaunch) {
  slurm.add("aws-node-0", "ALLOCATED+CLOUD+POWERING_UP");
  Machine& machine = cloud.add_machine(kNode, std::nullopt, kOld);
  machine.launch = "dead";
  journal.records[{kNode, "dead"}].assigned = {{machine.id, "aws-node-0"}};
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(node_cloud.count("aws-node-0"), 1U);
  EXPECT_THAT(node_cloud.ended, IsEmpty());
  EXPECT_EQ(slurm.known.at("aws-node-0").address, machine.address);
}

TEST_F(ChangeState, EndsAnUnnamedMachineOnlyWhenItsLaunchIsOver) {
  Machine& running = cloud.add_machine(kNode, std::nullopt, kOld);
  running.launch = "running";
  const auto kept = running.id;
  const auto record = journal.begin(kNode, "running");
  const auto lost = cloud.add_machine(kNode, std::nullopt, kOld).id;
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(node_cloud.ended, IsEmpty()) << "its name may be on the way";
  world.clock.advance(seconds{60});
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(node_cloud.ended, ElementsAre(lost));
  EXPECT_NE(node_cloud.find(kept), nullptr);
}

TEST_F(ChangeState, HoldsNoGroupsLockWhileItNamesMachines) {
  for (auto* part : {&node_cloud, &gpu_cloud, &big_cloud})
    part->before_finish = [this] {
      EXPECT_THAT(state.held(), IsEmpty()) << "naming a thousand machines takes minutes";
    };
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(node_cloud.finishes + gpu_cloud.finishes + big_cloud.finishes, 3);
}

TEST_F(ChangeState, ReportsMachinesThatCouldNotBeNamed) {
  slurm.add("aws-node-0", "ALLOCATED+CLOUD+POWERING_UP");
  const auto id = cloud.add_machine(kNode, std::nullopt, kOld).id;
  journal.records[{kNode, "dead"}].assigned = {{id, "aws-node-0"}};
  node_cloud.naming_fails = {"aws-node-0"};
  gpu_cloud.fail_finish = Error("ExpiredToken", "the token has expired");
  EXPECT_EQ(run(), kFailed);
  EXPECT_EQ(lines(LogLevel::error, "Failed to tag node aws-node-0 " + id), 1U);
  EXPECT_EQ(lines(LogLevel::error, "aws-gpu: ExpiredToken"), 1U);
  EXPECT_EQ(big_cloud.finishes, 1);
}

// Queues and expiries

TEST_F(ChangeState, TellsANodeWhyItsStartFailedAndThenEndsWhatIsLeftOfIt) {
  slurm.add("aws-node-0", "ALLOCATED+CLOUD+POWERING_UP");
  Machine& failed = cloud.add_machine(kNode, "aws-node-0", kOld);
  failed.state = MachineState::failed;
  failed.failure = MachineFailure{Outcome::no_capacity, "STOCKOUT", "none left"};
  const auto id = failed.id;
  slurm.fail_set_state = "slurmctld is away";
  EXPECT_EQ(run(), kFailed);
  EXPECT_THAT(node_cloud.ended, IsEmpty()) << "the next pass still has to know why";
  slurm.fail_set_state.reset();
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(slurm.told(StateChange::power_down_force), ElementsAre("aws-node-0"));
  EXPECT_EQ(slurm.known.at("aws-node-0").reason, "burst:STOCKOUT none left");
  EXPECT_THAT(node_cloud.ended, ElementsAre(id));
  EXPECT_TRUE(parse_group_memory(state.memory[kNode]).cool_down);
}

TEST_F(ChangeState, ReadsNoReservationsWhereNoGroupWantsThem) {
  slurm.fail_reservations = "no such thing";
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(slurm.reservation_reads, 0);
}

TEST_F(ChangeState, ReservesNodesBeforeTheirMachinesExpireAndFollowsThemUp) {
  for (auto& group : config.partitions[0].groups) group.reserve_before_expiry = true;
  const auto end = std::chrono::ceil<std::chrono::minutes>(now() + seconds{600});
  for (const auto* node : {"aws-node-1", "aws-node-2"}) {
    add_busy(kNode, node);
    node_cloud.machines.back().expires = end;
  }
  EXPECT_EQ(dry_run(), kDone);
  EXPECT_THAT(out.str(), HasSubstr("E1 aws-node-[1-2]: create reservation burst-expiry-aws-node-"));
  EXPECT_THAT(slurm.reserved, IsEmpty());
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(slurm.reservation_reads, 2) << "once a pass, for all groups";
  ASSERT_THAT(slurm.reserved, SizeIs(1));
  EXPECT_THAT(slurm.reserved[0].nodes, ElementsAre("aws-node-1", "aws-node-2"));
  EXPECT_EQ(slurm.reserved[0].start, end);
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(slurm.reservation_calls, SizeIs(1)) << "it is there";

  world.clock.advance(seconds{700});
  node_cloud.machines.clear();
  for (const auto* node : {"aws-node-1", "aws-node-2"}) slurm.add(node, "IDLE+CLOUD+MAINTENANCE+RESERVED");
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(slurm.told(StateChange::power_down_force), UnorderedElementsAre("aws-node-1", "aws-node-2"));
  EXPECT_THAT(slurm.known.at("aws-node-1").reason, testing::StartsWith("burst:MachineExpired"));
  EXPECT_THAT(slurm.reserved, IsEmpty());
}

TEST_F(ChangeState, ChangesNoReservationWhenTheyCanNotBeReadAndDoesTheRest) {
  config.partitions[0].groups[0].reserve_before_expiry = true;
  add_busy(kNode, "aws-node-1");
  node_cloud.machines.back().expires = now() + seconds{6000};
  const auto orphan = add_orphan(kNode, "aws-node-3");
  slurm.fail_reservations = "slurm_load_reservations error";
  EXPECT_EQ(run(), kFailed);
  EXPECT_THAT(slurm.reservation_calls, IsEmpty());
  EXPECT_THAT(node_cloud.ended, ElementsAre(orphan));
  EXPECT_EQ(lines(LogLevel::error, "slurm_load_reservations error; none is changed"), 1U);
}

// Faults

TEST_F(ChangeState, DecidesNothingAboutAGroupThatCanNotBeReadAndMendsTheOthers) {
  slurm.add("aws-node-0", "ALLOCATED+CLOUD");  // would count as one that lost its machine
  slurm.add("aws-node-1", "DOWN+CLOUD+POWERED_DOWN").reason = "burst:X it was so";
  add_orphan(kNode, "aws-node-3");
  node_cloud.fails_whole("AuthFailure");
  big_cloud.fail_connect = Error("InvalidRegion", "no such region");
  const auto other = add_orphan(kGpu, "aws-gpu-0");
  EXPECT_EQ(run(), kFailed);
  EXPECT_THAT(gpu_cloud.ended, ElementsAre(other));
  EXPECT_TRUE(node_cloud.untouched());
  EXPECT_EQ(slurm.updates(), 0);
  EXPECT_THAT(state.writes, IsEmpty());
  EXPECT_EQ(lines(LogLevel::error, "aws-node: AuthFailure"), 1U);
  EXPECT_EQ(lines(LogLevel::error, "onprem-big: InvalidRegion"), 1U);
}

TEST_F(ChangeState, KeepsNoLockOfAGroupThatCanNotBeRead) {
  node_cloud.fails_whole("AuthFailure");
  add_orphan(kGpu, "aws-gpu-0");
  std::set<std::string> held;
  gpu_cloud.before_stop = [&] { held = state.held(); };
  EXPECT_EQ(run(), kFailed);
  EXPECT_TRUE(held.contains(kGpu));
  EXPECT_FALSE(held.contains(kNode));
}

TEST_F(ChangeState, DoesNothingAtAllWhenSlurmCanNotBeRead) {
  add_orphan(kNode, "aws-node-3");
  slurm.fail_nodes = "Unable to contact slurm controller";
  EXPECT_EQ(run(), kFailed);
  expect_nothing_changed();
  EXPECT_EQ(node_cloud.finishes, 0);
  EXPECT_EQ(lines(LogLevel::error, "Unable to contact slurm controller"), 1U);
  EXPECT_THAT(state.held(), IsEmpty());
}

TEST_F(ChangeState, FailsWhenSlurmTakesNoUpdateAndDoesTheRest) {
  slurm.add("aws-node-0", "DOWN+CLOUD+POWERED_DOWN").reason = "burst:X it was so";
  const auto orphan = add_orphan(kNode, "aws-node-3");
  slurm.fail_set_state = "Access/permission denied";
  EXPECT_EQ(run(), kFailed);
  EXPECT_THAT(node_cloud.ended, ElementsAre(orphan));
  EXPECT_EQ(lines(LogLevel::error, "Access/permission denied"), 1U);
}

TEST_F(ChangeState, FailsForAMachineThatCanNotBeEnded) {
  node_cloud.cannot_end = {add_orphan(kNode, "aws-node-3")};
  EXPECT_EQ(run(), kFailed);
  EXPECT_EQ(lines(LogLevel::error, "OperationNotPermitted"), 1U);
}

// Others that run

TEST_F(ChangeState, DoesNothingWhenAnotherRuns) {
  add_orphan(kNode, "aws-node-3");
  state.change_state_runs = true;
  EXPECT_EQ(run(), kDone);
  expect_nothing_changed();
  EXPECT_EQ(slurm.reads, 0);
  EXPECT_EQ(node_cloud.lists, 0);
}

TEST_F(ChangeState, LeavesABusyGroupToTheNextPass) {
  add_orphan(kNode, "aws-node-3");
  slurm.add("aws-node-1", "DOWN+CLOUD+POWERED_DOWN").reason = "burst:X it was so";
  const auto other = add_orphan(kGpu, "aws-gpu-0");
  state.held_by_another = {kNode};
  EXPECT_EQ(run(), kDone) << "a busy group is no fault";
  EXPECT_TRUE(node_cloud.untouched());
  EXPECT_EQ(node_cloud.lists, 0);
  EXPECT_THAT(gpu_cloud.ended, ElementsAre(other));
  EXPECT_EQ(slurm.updates(), 0);
}

TEST_F(ChangeState, ThrowsWhenStateDirIsBroken) {
  add_orphan(kNode, "aws-node-3");
  state.unwritable = true;
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(slurm.updates(), 0);
  EXPECT_TRUE(node_cloud.untouched());
}

// --dry-run

TEST_F(ChangeState, DryRunPrintsTheDecisionsAndChangesNothing) {
  const auto orphan = add_orphan(kNode, "aws-node-3");
  slurm.add("aws-node-0", "DOWN+CLOUD+POWERED_DOWN").reason = "burst:X it was so";
  slurm.add("aws-node-1", "ALLOCATED+CLOUD+POWERING_UP");  // a real pass would remember it
  EXPECT_EQ(dry_run(), kDone);
  EXPECT_EQ(out.str(), "N6 aws-node-0: set to IDLE\nM3 aws-node-3: end machine " + orphan +
                           ", reason \"its node is powered down\"\n");
  expect_nothing_changed();
  EXPECT_EQ(node_cloud.finishes, 0);
}

TEST_F(ChangeState, DryRunTakesNoLock) {
  const auto orphan = add_orphan(kNode, "aws-node-3");
  state.change_state_runs = true;
  state.held_by_another = {kNode};
  state.unwritable = true;
  EXPECT_EQ(dry_run(), kDone);
  EXPECT_EQ(state.lock_attempts, 0);
  EXPECT_THAT(out.str(), HasSubstr(orphan));
}

}  // namespace
}  // namespace burst
