// SPDX-License-Identifier: Apache-2.0
// The rows of docs/reconcile.md for machines that queue and fail.
#include "core/reconcile_fixture.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kBooting = "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP";
constexpr const char* kBootingIdle = "IDLE+CLOUD+NOT_RESPONDING+POWERING_UP";
constexpr const char* kOff = "IDLE+CLOUD+POWERED_DOWN";

class ReconcileQueueTest : public ReconcileTest {
 protected:
  Machine& queued(const std::string& id, const std::string& name, std::optional<JobId> job = 7) {
    Machine& made = machine(id, name, MachineState::queued);
    made.job = job;
    return made;
  }
  Machine& failed(const std::string& id, const std::string& name, Outcome outcome = Outcome::rejected,
                  const std::string& code = "BadImage") {
    Machine& made = machine(id, name, MachineState::failed);
    made.failure = MachineFailure{outcome, code, "no such image"};
    return made;
  }
};

TEST_F(ReconcileQueueTest, N3LeavesAQueuedMachineInPeaceForHours) {
  node("p-g-1", kBooting);
  queued("q-1", "p-g-1");
  EXPECT_THAT(passes(600), IsEmpty());
}

TEST_F(ReconcileQueueTest, N2TakesNoAddressFromAQueuedMachine) {
  node("p-g-1", kBooting);
  queued("q-1", "p-g-1").address = "10.0.0.1";
  EXPECT_THAT(passes(3), IsEmpty());
}

TEST_F(ReconcileQueueTest, N4GivesUpAFailedStartAtOnceAndM7EndsWhatIsLeftOfIt) {
  node("p-g-1", kBooting);
  failed("q-1", "p-g-1");
  EXPECT_THAT(pass(), ElementsAre("N4 p-g-1 power_down_force burst:BadImage", "M7 p-g-1 end q-1"));
  EXPECT_EQ(actions[0].reason, "burst:BadImage no such image");
  EXPECT_EQ(actions[1].reason, "it has failed: BadImage no such image");
  EXPECT_FALSE(memory.cool_down);
  again("IDLE+CLOUD+POWERING_DOWN");
  EXPECT_THAT(pass(), ElementsAre("M7 p-g-1 end q-1")) << "a crash in between, or one that was not ended";
}

TEST_F(ReconcileQueueTest, N4SaysSomethingWhereTheCloudDoesNot) {
  node("p-g-1", kBooting);
  failed("q-1", "p-g-1").failure.reset();
  pass();
  EXPECT_EQ(actions.at(0).reason, "burst:MachineFailed its machine failed");
}

TEST_F(ReconcileQueueTest, N4BeginsACoolDownWhereTheCloudHadNothing) {
  for (const auto outcome : {Outcome::no_capacity, Outcome::over_quota}) {
    reset();
    node("p-g-1", kBooting);
    node("p-g-2", kOff);
    failed("q-1", "p-g-1", outcome, "STOCKOUT");
    EXPECT_THAT(pass(), ElementsAre("N4 p-g-1 power_down_force burst:STOCKOUT", "C1 p-g-2 down burst:STOCKOUT",
                                    "M7 p-g-1 end q-1"));
    ASSERT_TRUE(memory.cool_down);
    EXPECT_EQ(memory.cool_down->length, policy.timing.cool_down);
    EXPECT_EQ(memory.bootstrap_failures, 0);
  }
}

TEST_F(ReconcileQueueTest, OnlyTheStartThatIsGivenUpCountsAsARefusal) {
  node("p-g-1", "IDLE+CLOUD+POWERING_DOWN");
  failed("q-1", "p-g-1", Outcome::no_capacity);
  failed("q-2", "", Outcome::no_capacity);
  pass();
  EXPECT_FALSE(memory.cool_down);
}

TEST_F(ReconcileQueueTest, AFailedMachineIsNotTheNodesMachineBesideALiveOne) {
  node("p-g-1", kBooting, "", "10.0.0.1");
  failed("q-1", "p-g-1", Outcome::no_capacity);
  machine("i-2", "p-g-1", MachineState::running, "10.0.0.1", seconds(10));
  EXPECT_THAT(pass(), ElementsAre("M7 p-g-1 end q-1"));
  EXPECT_FALSE(memory.cool_down);
}

TEST_F(ReconcileQueueTest, N6AndN9WaitUntilAFailedMachineIsGone) {
  group.min_nodes = 1;
  node("p-g-0", kOff);
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "burst:X y");
  failed("q-0", "p-g-0");
  failed("q-1", "p-g-1");
  EXPECT_THAT(pass(), ElementsAre("M7 p-g-0 end q-0", "M7 p-g-1 end q-1"));
  machines.clear();
  EXPECT_THAT(pass(), ElementsAre("N9 p-g-0 power_up", "N6 p-g-1 idle"));
}

TEST_F(ReconcileQueueTest, M7EndsFailedOnesThatSlurmDoesNotKnowOrThatBearNoNode) {
  node("p-g-1", kOff);
  failed("q-1", "p-g-77");
  failed("q-2", "").created = now;
  EXPECT_THAT(pass(), ElementsAre("M7 p-g-77 end q-1", "M7  end q-2"));
}

TEST_F(ReconcileQueueTest, N12PowersDownAtOnceANodeWhoseMachineTheCloudHasStopped) {
  node("p-g-1", "ALLOCATED+CLOUD");
  failed("i-1", "p-g-1", Outcome::no_capacity, "PREEMPTED");
  EXPECT_THAT(pass(), ElementsAre("N12 p-g-1 power_down_force burst:PREEMPTED", "M7 p-g-1 end i-1"));
  EXPECT_FALSE(memory.cool_down) << "it had its machine";
}

TEST_F(ReconcileQueueTest, N18EndsTheStartOfAJobThatIsGoneInTwoRuns) {
  node("p-g-1", kBootingIdle);
  queued("q-1", "p-g-1", 12);
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("N18 p-g-1 power_down_force burst:JobEnded"));
  EXPECT_EQ(actions[0].reason, "burst:JobEnded job 12 ended before its machine came");
}

TEST_F(ReconcileQueueTest, N18CountsAnewWhenAJobTakesTheNode) {
  node("p-g-1", kBootingIdle);
  queued("q-1", "p-g-1");
  pass();
  again(kBooting);
  EXPECT_THAT(pass(), IsEmpty());
  again(kBootingIdle);
  EXPECT_THAT(pass(), IsEmpty());
}

TEST_F(ReconcileQueueTest, N18LeavesManualPowerUpsStaticNodesAndMachinesThatCame) {
  group.min_nodes = 1;
  node("p-g-0", kBootingIdle);
  node("p-g-1", kBootingIdle);
  node("p-g-2", kBootingIdle, "", "10.0.0.1");
  node("p-g-3", "IDLE+CLOUD+POWERING_UP+MAINTENANCE");
  queued("q-0", "p-g-0");
  queued("q-1", "p-g-1", std::nullopt);
  machine("i-2", "p-g-2", MachineState::running, "10.0.0.1").job = 7;
  queued("q-3", "p-g-3");
  EXPECT_THAT(passes(5), IsEmpty());
}

TEST_F(ReconcileQueueTest, N19EndsABootThatTakesTooLongAfterTheQueue) {
  for (const auto state : {MachineState::starting, MachineState::running}) {
    reset();
    node("p-g-1", kBooting, "", "10.0.0.1");
    machine("i-1", "p-g-1", state, "10.0.0.1").register_by = now + seconds(60);
    EXPECT_THAT(pass(), IsEmpty());
    EXPECT_THAT(pass(), IsEmpty()) << "it has until then";
    EXPECT_THAT(pass(), ElementsAre("N19 p-g-1 power_down_force burst:BootTimeout"));
    EXPECT_EQ(memory.bootstrap_failures, 1);
    again("IDLE+CLOUD+POWERING_DOWN");
    pass();
    EXPECT_EQ(memory.bootstrap_failures, 1) << "counted once";
  }
}

TEST_F(ReconcileQueueTest, N19LeavesQueuedMachinesAndThoseThatRegistered) {
  node("p-g-1", kBooting);
  node("p-g-2", "ALLOCATED+CLOUD", "", "10.0.0.2");
  queued("q-1", "p-g-1").register_by = now - seconds(9);
  machine("i-2", "p-g-2", MachineState::running, "10.0.0.2").register_by = now - seconds(9);
  EXPECT_THAT(passes(5), IsEmpty());
}

TEST_F(ReconcileQueueTest, QueuedMachinesNeverCountAsFailedBoots) {
  node("p-g-1", kBooting);
  queued("q-1", "p-g-1");
  pass();
  EXPECT_THAT(memory.booting, IsEmpty());
  again("DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached");
  machines.clear();
  pass();
  EXPECT_EQ(memory.bootstrap_failures, 0);
}

TEST_F(ReconcileQueueTest, AMachineThatFailsBeforeItRegistersCountsUnlessTheCloudTookItBack) {
  for (const auto outcome : {Outcome::no_capacity, Outcome::rejected}) {
    reset();
    node("p-g-1", kBooting, "", "10.0.0.1");
    machine("i-1", "p-g-1", MachineState::running, "10.0.0.1");
    pass();
    machines.clear();
    failed("i-1", "p-g-1", outcome);
    pass();
    EXPECT_EQ(memory.bootstrap_failures, outcome == Outcome::rejected ? 1 : 0);
  }
}

TEST_F(ReconcileQueueTest, AQueuedMachineThatCameIsASuccessOfTheProbe) {
  cool_down();
  memory.cool_down->probing_since = now;
  node("p-g-1", kBooting, "", "10.0.0.1");
  queued("q-1", "p-g-1");
  pass();
  EXPECT_TRUE(memory.cool_down) << "it may yet be refused";
  machines.clear();
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1").register_by = now + seconds(600);
  pass();
  EXPECT_FALSE(memory.cool_down);
  EXPECT_EQ(memory.last_length, seconds(0));
}

TEST_F(ReconcileQueueTest, AProbeIsNotWaitedForAsLongAsAQueueMayLast) {
  policy.resume_timeout = seconds(65'533);
  cool_down(std::string(kBootstrapFailing));
  memory.cool_down->probing_since = now;
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "burst:BootstrapFailing x");
  EXPECT_THAT(passes(60), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("C3  warn", "N6 p-g-1 idle"));
}

TEST_F(ReconcileQueueTest, M1EndsARequestWhoseLaunchDied) {
  node("p-g-1", kOff);
  machine("q-1", "", MachineState::queued, "", seconds(1000)).launch = "dead";
  machine("q-2", "", MachineState::queued, "", seconds(1000)).launch = "alive";
  machine("q-3", "", MachineState::queued, "", seconds(0)).launch = "dead";
  launches = {"alive"};
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("M1  end q-1"));
  machines.erase(machines.begin());
  pass();
  EXPECT_THAT(pass(), ElementsAre("M1  end q-3")) << "older than LaunchGrace by now";
}

TEST_F(ReconcileQueueTest, M2EndsTheQueuedDoubleOfAMachineThatRuns) {
  node("p-g-1", kBooting, "", "10.0.0.1");
  queued("q-1", "p-g-1").address = "10.0.0.1";
  machine("i-2", "p-g-1", MachineState::starting, "", seconds(1));
  EXPECT_THAT(pass(), ElementsAre("M2 p-g-1 end q-1"));
}

TEST_F(ReconcileQueueTest, M2KeepsTheElderOfTwoInTheQueue) {
  node("p-g-1", kBooting);
  machine("q-1", "p-g-1", MachineState::queued, "", seconds(10));
  machine("q-2", "p-g-1", MachineState::queued, "", seconds(20));
  EXPECT_THAT(pass(), ElementsAre("M2 p-g-1 end q-1"));
}

TEST_F(ReconcileQueueTest, M3AndM4EndQueuedMachinesOfNodesThatGoOrAreOff) {
  node("p-g-1", kOff);
  node("p-g-2", "IDLE+CLOUD+POWERING_DOWN");
  queued("q-1", "p-g-1");
  queued("q-2", "p-g-2");
  EXPECT_THAT(pass(), ElementsAre("M3 p-g-1 end q-1"));
  machines.erase(machines.begin());
  EXPECT_THAT(passes(2), ElementsAre("M4 p-g-2 end q-2"));
}

TEST_F(ReconcileQueueTest, N16WaitsForAQueuedMachineToGo) {
  node("p-g-1", "IDLE+CLOUD+POWERING_DOWN");
  policy.suspend_timeout = seconds(100'000);
  queued("q-1", "p-g-1");
  EXPECT_THAT(passes(5), IsEmpty());
  machines.clear();
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("N16 p-g-1 resume"));
}

// ---- machines that expire

TEST_F(ReconcileQueueTest, N12FollowsAnExpiryAtOnceAndAStaticNodeComesBackInTwoRuns) {
  group.min_nodes = 1;
  node("p-g-0", "ALLOCATED+CLOUD", "", "10.0.0.1");
  machine("i-1", "p-g-0", MachineState::running, "10.0.0.1").expires = now + seconds(30);
  EXPECT_THAT(pass(), IsEmpty());
  machines.clear();
  EXPECT_THAT(pass(), ElementsAre("N12 p-g-0 power_down_force burst:MachineExpired"));
  EXPECT_EQ(actions[0].reason, "burst:MachineExpired its machine reached its maximum run duration");
  again("IDLE+CLOUD+POWERING_DOWN");
  EXPECT_THAT(pass(), ElementsAre("N16 p-g-0 resume"));
  again(kOff);
  EXPECT_THAT(pass(), ElementsAre("N9 p-g-0 power_up"));
  EXPECT_THAT(memory.expires, IsEmpty());
}

TEST_F(ReconcileQueueTest, ADynamicNodeStaysOffAfterItsExpiry) {
  node("p-g-5", "IDLE+CLOUD", "", "10.0.0.1");
  machine("i-1", "p-g-5", MachineState::running, "10.0.0.1").expires = now + seconds(30);
  pass();
  machines.clear();
  EXPECT_THAT(pass(), ElementsAre("N12 p-g-5 power_down_force burst:MachineExpired"));
  again("IDLE+CLOUD+POWERING_DOWN");
  EXPECT_THAT(pass(), ElementsAre("N16 p-g-5 resume"));
  again(kOff);
  EXPECT_THAT(passes(10), IsEmpty());
}

TEST_F(ReconcileQueueTest, AMachineThatIsGoneBeforeItsEndHasTheGrace) {
  node("p-g-1", "IDLE+CLOUD", "", "10.0.0.1");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1").expires = now + seconds(3600);
  pass();
  machines.clear();
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(passes(3), ElementsAre("N12 p-g-1 power_down_force burst:MachineGone"));
}

TEST_F(ReconcileQueueTest, AMachineThatOutlivesItsEndIsLeft) {
  node("p-g-1", "ALLOCATED+CLOUD", "", "10.0.0.1");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1").expires = now - seconds(3600);
  EXPECT_THAT(passes(5), IsEmpty());
}

TEST_F(ReconcileQueueTest, AnOldExpiryIsNotTheNextMachines) {
  node("p-g-1", "IDLE+CLOUD", "", "10.0.0.1");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1").expires = now;
  pass();
  machines.clear();
  again(kBooting);
  pass();
  again("ALLOCATED+CLOUD");
  EXPECT_THAT(pass(), IsEmpty()) << "its new machine is not listed yet";
}

TEST_F(ReconcileQueueTest, N11SaysThatTheMachineExpired) {
  node("p-g-1", "IDLE+CLOUD", "", "10.0.0.1");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1").expires = now;
  pass();
  machines.clear();
  again("DOWN+CLOUD+NOT_RESPONDING", "Not responding");
  EXPECT_THAT(pass(), ElementsAre("N11 p-g-1 power_down_force burst:MachineExpired"));
}

}  // namespace
}  // namespace burst
