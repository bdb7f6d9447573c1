// SPDX-License-Identifier: Apache-2.0
// Every row of docs/reconcile.md: when it acts, and when it must not.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/reconcile_fixture.h"

namespace burst {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- nodes

TEST_F(ReconcileTest, N1LeavesNodesThatAreOffOrAboutToBeResumed) {
  for (const auto* state :
       {"IDLE+CLOUD+POWERED_DOWN", "ALLOCATED+CLOUD+POWERED_DOWN", "MIXED+CLOUD+POWERED_DOWN",
        "IDLE+CLOUD+POWERED_DOWN+PLANNED", "IDLE+CLOUD+POWERED_DOWN+RESERVED", "IDLE+CLOUD+POWER_UP+POWERED_DOWN",
        "ALLOCATED+CLOUD+POWERED_DOWN+NOT_RESPONDING", "IDLE+CLOUD+POWER", "IDLE*+CLOUD+POWER"}) {
    reset();
    node("p-g-1", state);
    EXPECT_THAT(passes(5), IsEmpty()) << state;
  }
}

TEST_F(ReconcileTest, N0MakesANodeAvailableThatSlurmKeepsAsNotResponding) {
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING");
  EXPECT_THAT(passes(10), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("N0 p-g-1 idle"));
}

TEST_F(ReconcileTest, N0ComesAgainOnlyAfterTenMinutes) {
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING");
  int times = 0;
  for (int i = 0; i < 31; ++i) times += static_cast<int>(pass().size());
  EXPECT_LE(times, 3);
  EXPECT_GE(times, 2);
}

TEST_F(ReconcileTest, N0LeavesDrainedNodesAndThoseWithAMachine) {
  node("p-g-1", "IDLE+CLOUD+DRAIN+POWERED_DOWN+NOT_RESPONDING", "burst:X");
  node("p-g-2", "IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING");
  machine("i-2", "p-g-2", MachineState::stopping);
  cool_down();
  memory.cool_down->until = now + seconds(100'000);
  nodes[1].state = parse_node_state("ALLOCATED+CLOUD+POWERED_DOWN+NOT_RESPONDING");
  EXPECT_THAT(passes(20), IsEmpty());
}

TEST_F(ReconcileTest, N2CorrectsTheAddressOfABootingNode) {
  for (const auto* state :
       {"ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", "IDLE#+CLOUD", "MIXED+POWERING_UP+MAINTENANCE"}) {
    for (const auto stage : {MachineState::starting, MachineState::running}) {
      reset();
      node("p-g-1", state, "", "p-g-1");
      machine("i-1", "p-g-1", stage, "10.0.0.1");
      EXPECT_THAT(pass(), ElementsAre("N2 p-g-1 address 10.0.0.1 h-10.0.0.1")) << state;
      nodes[0].address = "10.0.0.1";
      EXPECT_THAT(passes(3), IsEmpty()) << state;
    }
  }
}

TEST_F(ReconcileTest, N3WaitsForABootingNodeAsLongAsItHasAMachine) {
  for (const auto stage : {MachineState::queued, MachineState::starting, MachineState::running}) {
    reset();
    node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
    machine("i-1", "p-g-1", stage);
    EXPECT_THAT(passes(30), IsEmpty());
  }
}

TEST_F(ReconcileTest, N3TellsWaitingJobsWhyAMachineIsQueued) {
  node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  machine("i-1", "p-g-1", MachineState::queued).detail = "waiting\nfor capacity";
  EXPECT_THAT(pass(), ElementsAre("N3 p-g-1 comment waiting for capacity"));
  machines[0].state = MachineState::starting;
  EXPECT_THAT(pass(), IsEmpty());
}

TEST_F(ReconcileTest, N4GivesUpAStartWithoutMachineAfterTwoPassesAndTheGrace) {
  for (const auto* state : {"ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", "IDLE#+CLOUD", "MIXED+CLOUD+POWERING_UP"}) {
    reset();
    node("p-g-1", state);
    EXPECT_THAT(pass(), IsEmpty()) << state;
    EXPECT_THAT(pass(), IsEmpty()) << state;
    EXPECT_THAT(pass(), ElementsAre("N4 p-g-1 power_down_force burst:NoMachine")) << state;
  }
}

TEST_F(ReconcileTest, N4NeedsTwoPassesEvenWithoutAGrace) {
  policy.timing.launch_grace = seconds(0);
  node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("N4 p-g-1 power_down_force burst:NoMachine"));
}

TEST_F(ReconcileTest, N4BeginsToCountAnewWhenAMachineWasSeen) {
  node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  pass();
  pass();
  machine("i-1", "p-g-1", MachineState::starting);
  EXPECT_THAT(pass(), IsEmpty());
  machines.clear();
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("N4 p-g-1 power_down_force burst:MachineGone"));
}

TEST_F(ReconcileTest, N4CountsAMachineThatIsStoppingAsNone) {
  node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  machine("i-1", "p-g-1", MachineState::stopping).detail = "Server.SpotInstanceTermination";
  EXPECT_THAT(passes(3), ElementsAre("N4 p-g-1 power_down_force burst:MachineGone"));
  EXPECT_THAT(actions[0].reason, HasSubstr("Server.SpotInstanceTermination"));
}

TEST_F(ReconcileTest, N4WaitsForALaunchThatStillNamesItsMachines) {
  node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  machine("i-1", "").launch = "l-1";
  launches = {"l-1"};
  EXPECT_THAT(passes(10), IsEmpty());
  launches.clear();
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("M1  end i-1")) << "the launch died: its machine goes, the start has its grace";
  machines.clear();
  EXPECT_THAT(pass(), ElementsAre("N4 p-g-1 power_down_force burst:NoMachine"));
}

TEST_F(ReconcileTest, N5PowersDownANodeThatWentDownWhileBooting) {
  for (const auto* reason : {"", "burst:X y", "node_stuck", "Not responding", "ResumeTimeout reached"}) {
    reset();
    node("p-g-1", "DOWN+CLOUD+NOT_RESPONDING+POWERING_UP", reason);
    EXPECT_THAT(pass(), ElementsAre("N5 p-g-1 power_down")) << reason;
    again("DOWN+CLOUD+POWER_DOWN+NOT_RESPONDING+POWERING_UP", reason);
    EXPECT_THAT(passes(3), IsEmpty()) << "asked already";
  }
  reset();
  node("p-g-1", "DOWN#+CLOUD", "admin at work");
  EXPECT_THAT(passes(10), IsEmpty());
}

TEST_F(ReconcileTest, N5AlsoWithAMachineAtAnotherAddress) {
  node("p-g-1", "DOWN+CLOUD+NOT_RESPONDING+POWERING_UP", "burst:X");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1");
  EXPECT_THAT(pass(), ElementsAre("N5 p-g-1 power_down"));
}

TEST_F(ReconcileTest, N6BringsNodesBackThatSlurmOrWeTookDown) {
  for (const auto* state : {"DOWN+CLOUD+POWERED_DOWN", "DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING", "DOWN+CLOUD+POWER",
                            "DOWN*+CLOUD+POWER", "DOWN+CLOUD+POWERED_DOWN+RESERVED+PLANNED"}) {
    for (const auto* reason :
         {"", "ResumeTimeout reached", "Not responding", "burst:X text", "node_not_responding",
          "burst:X : ResumeTimeout reached", "Not responding : ResumeTimeout reached", "Node unexpectedly rebooted",
          "node_stuck : ResumeTimeout reached", "reboot timed out"}) {
      reset();
      node("p-g-1", state, reason);
      EXPECT_THAT(pass(), ElementsAre("N6 p-g-1 idle")) << state << " " << reason;
    }
  }
}

TEST_F(ReconcileTest, N6LeavesWhatAnAdminSet) {
  for (const auto* reason : {"broken fan", "maintenance : ResumeTimeout reached", "see burst:X", "NHC: check failed",
                             "node_stuck since monday", "ResumeTimeout reached twice"}) {
    reset();
    node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", reason);
    EXPECT_THAT(passes(20), IsEmpty()) << reason;
  }
  for (const auto* state : {"DOWN+CLOUD+DRAIN+POWERED_DOWN", "DOWN+CLOUD+FAIL+POWERED_DOWN",
                            "DOWN+CLOUD+MAINTENANCE+POWERED_DOWN", "DOWN+CLOUD+POWERED_DOWN+REBOOT_REQUESTED"}) {
    reset();
    node("p-g-1", state, "ResumeTimeout reached");
    EXPECT_THAT(passes(20), IsEmpty()) << state;
  }
}

TEST_F(ReconcileTest, N6WaitsUntilTheOldMachineIsGone) {
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached");
  machine("i-1", "p-g-1", MachineState::stopping);
  EXPECT_THAT(passes(5), IsEmpty());
  machines[0].state = MachineState::running;
  EXPECT_THAT(pass(), ElementsAre("M3 p-g-1 end i-1"));
  machines.clear();
  EXPECT_THAT(pass(), ElementsAre("N6 p-g-1 idle"));
}

TEST_F(ReconcileTest, N7KeepsNodesDownWhileTheGroupCoolsDown) {
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "burst:Older one");
  cool_down();
  EXPECT_THAT(passes(9), IsEmpty());
}

TEST_F(ReconcileTest, N8UndrainsOnlyWhatWeDrained) {
  node("p-g-1", "IDLE+CLOUD+DRAIN+POWERED_DOWN", "burst:X");
  node("p-g-2", "IDLE+CLOUD+DRAIN+POWERED_DOWN", "admin");
  node("p-g-3", "IDLE+CLOUD+DRAIN+POWERED_DOWN", "");
  node("p-g-4", "IDLE+CLOUD+DRAIN+POWERED_DOWN", "Not responding");
  node("p-g-5", "DRAINED~+CLOUD+POWER", "node_stuck");
  EXPECT_THAT(pass(), ElementsAre("N8 p-g-1 idle", "N8 p-g-5 idle"));
}

TEST_F(ReconcileTest, N9PowersStaticNodesUp) {
  group.min_nodes = 2;
  node("p-g-0", "IDLE+CLOUD+POWERED_DOWN");
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN+PLANNED");
  node("p-g-2", "IDLE+CLOUD+POWERED_DOWN");
  EXPECT_THAT(pass(), ElementsAre("N9 p-g-0 power_up", "N9 p-g-1 power_up"));
}

TEST_F(ReconcileTest, N9LeavesStaticNodesThatAreWantedDrainedOrBusy) {
  group.min_nodes = 100;
  node("p-g-0", "IDLE+CLOUD+POWER_UP+POWERED_DOWN");
  node("p-g-1", "IDLE+CLOUD+DRAIN+POWERED_DOWN", "admin");
  node("p-g-2", "ALLOCATED+CLOUD+POWERED_DOWN");
  node("p-g-3", "IDLE+CLOUD+POWERING_DOWN");
  node("p-g-4", "IDLE+CLOUD+MAINTENANCE+POWERED_DOWN");
  node("p-g-5", "IDLE+CLOUD+POWERED_DOWN");
  machine("i-5", "p-g-5", MachineState::stopping);
  node("p-g-6", "IDLE+CLOUD+FAIL+POWERED_DOWN", "admin");
  EXPECT_THAT(pass(), IsEmpty());
}

TEST_F(ReconcileTest, N9WaitsForTheEndOfACoolDown) {
  group.min_nodes = 1;
  node("p-g-0", "IDLE+CLOUD+POWERED_DOWN");
  cool_down();
  EXPECT_THAT(pass(), ElementsAre("C1 p-g-0 down burst:NoCapacity"));
}

TEST_F(ReconcileTest, N10EndsANodeThatRegisteredWithLessThanSlurmExpects) {
  node("p-g-1", "IDLE+CLOUD+DRAIN+INVALID_REG", "Low RealMemory (reported:100 < 100.00% of configured:200)",
       "10.0.0.1");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1");
  EXPECT_THAT(pass(), ElementsAre("N10 p-g-1 power_down_force burst:InvalidRegistration"));
  EXPECT_THAT(actions[0].reason, HasSubstr("Low RealMemory"));
  for (const auto* state : {"IDLE+CLOUD+INVALID_REG+POWERING_DOWN", "IDLE+CLOUD+INVALID_REG+POWER_DOWN"}) {
    again(state, "burst:InvalidRegistration Low RealMemory");
    memory = {};
    EXPECT_THAT(pass(), IsEmpty()) << state;
  }
}

TEST_F(ReconcileTest, N11EndsADownNodeThatDoesNotRespond) {
  for (const auto* state : {"DOWN+CLOUD+NOT_RESPONDING", "DOWN*+CLOUD", "DOWN+CLOUD+COMPLETING+NOT_RESPONDING"}) {
    for (const bool with_machine : {false, true}) {
      reset();
      node("p-g-1", state, "Not responding");
      if (with_machine) machine("i-1", "p-g-1");
      EXPECT_THAT(pass(), ElementsAre("N11 p-g-1 power_down_force burst:node_not_responding")) << state;
      again("DOWN+CLOUD+NOT_RESPONDING+POWERING_DOWN", "burst:node_not_responding");
      EXPECT_THAT(pass(), IsEmpty());
    }
  }
  reset();
  node("p-g-1", "DOWN+CLOUD+NOT_RESPONDING", "admin");
  node("p-g-2", "DOWN+CLOUD+NOT_RESPONDING+POWER_DOWN", "Not responding");
  node("p-g-3", "DOWN+CLOUD", "Not responding");
  node("p-g-4", "DOWN+CLOUD+NOT_RESPONDING+REBOOT_ISSUED", "Not responding");
  EXPECT_THAT(passes(10), IsEmpty());
}

TEST_F(ReconcileTest, N12PowersDownANodeWhoseMachineIsGone) {
  for (const auto* state : {"IDLE+CLOUD", "ALLOCATED+CLOUD", "MIXED+CLOUD+PLANNED", "IDLE*+CLOUD",
                            "ALLOCATED+CLOUD+NOT_RESPONDING", "IDLE+CLOUD+RESERVED", "IDLE+CLOUD+COMPLETING"}) {
    reset();
    node("p-g-1", state);
    EXPECT_THAT(pass(), IsEmpty()) << state;
    EXPECT_THAT(pass(), IsEmpty()) << state;
    EXPECT_THAT(pass(), ElementsAre("N12 p-g-1 power_down_force burst:MachineGone")) << state;
  }
}

TEST_F(ReconcileTest, N12SaysWhyWhereTheCloudDoes) {
  node("p-g-1", "ALLOCATED+CLOUD");
  machine("i-1", "p-g-1", MachineState::stopping).detail = "spot interruption";
  EXPECT_THAT(passes(3), ElementsAre("N12 p-g-1 power_down_force burst:MachineGone"));
  EXPECT_THAT(actions[0].reason, HasSubstr("spot interruption"));
}

TEST_F(ReconcileTest, N12KeepsAnAdminsWords) {
  node("p-g-1", "IDLE+CLOUD+DRAIN", "disk is failing");
  EXPECT_THAT(passes(3), ElementsAre("N12 p-g-1 power_down_force"));
}

TEST_F(ReconcileTest, N12DoesNotTakeAnEarlierGraceForItsOwn) {
  node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  pass();
  pass();
  again("ALLOCATED+CLOUD");
  EXPECT_THAT(pass(), IsEmpty()) << "it registered: the count begins anew";
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("N12 p-g-1 power_down_force burst:MachineGone"));
}

TEST_F(ReconcileTest, N12LeavesNodesWithAPowerFlag) {
  node("p-g-1", "ALLOCATED+CLOUD+POWER_DOWN");
  node("p-g-2", "ALLOCATED+CLOUD+REBOOT_ISSUED");
  node("p-g-3", "MAINT+CLOUD");
  node("p-g-4", "FUTURE");
  node("p-g-5", "UNKNOWN+CLOUD");
  EXPECT_THAT(passes(10), IsEmpty());
}

TEST_F(ReconcileTest, N13CorrectsTheAddressOfANodeThatIsUp) {
  node("p-g-1", "MIXED+CLOUD", "", "10.0.0.9");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1");
  EXPECT_THAT(pass(), ElementsAre("N13 p-g-1 address 10.0.0.1 h-10.0.0.1"));
  machines[0].address.clear();
  EXPECT_THAT(pass(), IsEmpty()) << "an address that is not known yet replaces none";
}

TEST_F(ReconcileTest, N14LeavesASilentNodeToSlurmdTimeout) {
  node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING", "", "10.0.0.1");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1");
  EXPECT_THAT(passes(10), IsEmpty());
}

TEST_F(ReconcileTest, N15TakesDownANodeThatCompletesForTooLong) {
  node("p-g-1", "IDLE+CLOUD+COMPLETING+DRAIN", "Kill task failed", "10.0.0.1");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1");
  EXPECT_THAT(pass(), IsEmpty()) << "a long epilog is no fault";
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), IsEmpty()) << "120 s of 60 + 30 + 60";
  EXPECT_THAT(pass(), ElementsAre("N15 p-g-1 down burst:node_stuck"));
  again("DOWN+CLOUD+COMPLETING+DRAIN", "burst:node_stuck");
  EXPECT_THAT(passes(5), IsEmpty());
}

TEST_F(ReconcileTest, N15NeedsCompletingAndDrainAllTheTime) {
  node("p-g-1", "IDLE+CLOUD+COMPLETING", "", "10.0.0.1");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1");
  EXPECT_THAT(passes(10), IsEmpty());
  again("IDLE+CLOUD+DRAIN", "admin");
  EXPECT_THAT(passes(10), IsEmpty());
  again("IDLE+CLOUD+COMPLETING+DRAIN", "admin");
  EXPECT_THAT(passes(2), IsEmpty());
  again("IDLE+CLOUD+DRAIN", "admin");
  pass();
  again("IDLE+CLOUD+COMPLETING+DRAIN", "admin");
  EXPECT_THAT(passes(3), IsEmpty());
}

TEST_F(ReconcileTest, N16FreesANodeWhoseMachineIsGoneInTwoPasses) {
  node("p-g-1", "IDLE+CLOUD+POWERING_DOWN");
  machine("i-1", "p-g-1", MachineState::stopping);
  EXPECT_THAT(passes(3), IsEmpty());
  machines.clear();
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("N16 p-g-1 resume"));
}

TEST_F(ReconcileTest, N16LeavesDrainedAndDownNodes) {
  node("p-g-1", "IDLE+CLOUD+DRAIN+POWERING_DOWN", "admin");
  node("p-g-2", "DOWN+CLOUD+POWERING_DOWN", "burst:X");
  node("p-g-3", "IDLE+CLOUD+COMPLETING+POWERING_DOWN");
  node("p-g-4", "IDLE%+CLOUD+MAINTENANCE");
  EXPECT_THAT(passes(10), IsEmpty());
}

TEST_F(ReconcileTest, N17LeavesEverythingElse) {
  for (const auto* state : {"IDLE+CLOUD+REBOOT_REQUESTED", "IDLE+CLOUD+REBOOT_ISSUED+NOT_RESPONDING", "MAINT", "FUTURE",
                            "UNKNOWN", "ERROR", "DOWN+CLOUD", "DOWN+CLOUD+POWERING_DOWN", "IDLE+CLOUD+DRAIN"}) {
    reset();
    node("p-g-1", state, "", "10.0.0.1");
    machine("i-1", "p-g-1", MachineState::running, "10.0.0.1", seconds(10));
    EXPECT_THAT(pass(), IsEmpty()) << state;
  }
}

// ---- machines

TEST_F(ReconcileTest, M1EndsNamelessMachinesOfDeadLaunches) {
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN");
  machine("i-old", "").launch = "dead";
  machine("i-none", "");
  machine("i-young", "", MachineState::starting, "", seconds(10)).launch = "dead";
  machine("i-running", "").launch = "alive";
  machine("i-stopping", "", MachineState::stopping);
  launches = {"alive"};
  EXPECT_THAT(pass(), IsEmpty()) << "its name may be on the way";
  EXPECT_THAT(pass(), ElementsAre("M1  end i-old", "M1  end i-none"));
}

TEST_F(ReconcileTest, M2KeepsTheMachineAtNodeAddr) {
  node("p-g-1", "ALLOCATED+CLOUD", "", "10.0.0.2");
  machine("i-1", "p-g-1", MachineState::running, "10.0.0.1", seconds(9000));
  machine("i-2", "p-g-1", MachineState::running, "10.0.0.2", seconds(10));
  machine("i-3", "p-g-1", MachineState::starting, "");
  machine("i-4", "p-g-1", MachineState::stopping, "10.0.0.4");
  EXPECT_THAT(pass(), ElementsAre("M2 p-g-1 end i-1", "M2 p-g-1 end i-3"));
}

TEST_F(ReconcileTest, M2KeepsTheOldestRunningOneOtherwise) {
  node("p-g-1", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  machine("i-1", "p-g-1", MachineState::starting, "", seconds(9000));
  machine("i-2", "p-g-1", MachineState::running, "", seconds(100));
  machine("i-3", "p-g-1", MachineState::running, "", seconds(200));
  machine("i-4", "p-g-1", MachineState::queued, "", seconds(9999));
  EXPECT_THAT(pass(), ElementsAre("M2 p-g-1 end i-1", "M2 p-g-1 end i-2", "M2 p-g-1 end i-4"));
}

TEST_F(ReconcileTest, M3EndsOrphans) {
  for (const auto* state : {"IDLE+CLOUD+POWERED_DOWN", "DOWN+CLOUD+POWERED_DOWN", "IDLE+CLOUD+DRAIN+POWERED_DOWN",
                            "IDLE+CLOUD+POWER", "DOWN+CLOUD+MAINTENANCE+POWERED_DOWN"}) {
    reset();
    node("p-g-1", state, "admin");
    machine("i-1", "p-g-1", MachineState::running, "", seconds(121));
    machine("i-2", "p-g-1", MachineState::starting, "", seconds(120));
    EXPECT_THAT(pass(), ElementsAre("M3 p-g-1 end i-1")) << state;
  }
}

TEST_F(ReconcileTest, M3LeavesMachinesOfNodesThatAreWanted) {
  for (const auto* state :
       {"ALLOCATED+CLOUD+POWERED_DOWN", "MIXED+CLOUD+POWERED_DOWN", "IDLE+CLOUD+POWER_UP+POWERED_DOWN"}) {
    reset();
    node("p-g-1", state);
    machine("i-1", "p-g-1");
    EXPECT_THAT(passes(5), IsEmpty()) << state;
  }
}

TEST_F(ReconcileTest, M3TakesTheFirstSightWhereTheCreationIsNotTold) {
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN");
  machine("i-1", "p-g-1").created = {};
  EXPECT_THAT(passes(3), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("M3 p-g-1 end i-1"));
}

TEST_F(ReconcileTest, M4EndsAgainWhatASuspendDidNotEnd) {
  node("p-g-1", "IDLE+CLOUD+POWERING_DOWN");
  machine("i-1", "p-g-1", MachineState::running, "", seconds(10));
  EXPECT_THAT(pass(), IsEmpty());
  EXPECT_THAT(pass(), ElementsAre("M4 p-g-1 end i-1"));
  reset();
  policy.suspend_timeout = seconds(0);
  node("p-g-1", "DOWN%+CLOUD");
  machine("i-1", "p-g-1");
  EXPECT_THAT(pass(), IsEmpty()) << "SuspendProgram may be at it";
  EXPECT_THAT(pass(), ElementsAre("M4 p-g-1 end i-1"));
}

TEST_F(ReconcileTest, M5EndsMachinesThatSlurmDoesNotKnow) {
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN");
  machine("i-7", "p-g-7");
  machine("i-8", "p-g-8", MachineState::running, "", seconds(60));
  machine("i-9", "p-g-9", MachineState::stopping);
  EXPECT_THAT(pass(), ElementsAre("M5 p-g-7 warn", "M5 p-g-7 end i-7", "M5 p-g-8 warn"));
}

TEST_F(ReconcileTest, M5OnlyWarnsWhenSlurmKnowsNoNodeOfTheGroup) {
  machine("i-7", "p-g-7");
  for (int i = 0; i < 10; ++i) EXPECT_THAT(pass(), ElementsAre("M5 p-g-7 warn"));
}

TEST_F(ReconcileTest, M5WarnsOfANodeBeyondMaxNodesAndLeavesItsJob) {
  group.max_nodes = 5;
  node("p-g-5", "ALLOCATED+CLOUD", "", "10.0.0.5");
  machine("i-5", "p-g-5", MachineState::running, "10.0.0.5");
  EXPECT_THAT(pass(), ElementsAre("M5 p-g-5 warn"));
  again("IDLE+CLOUD+POWERED_DOWN");
  EXPECT_THAT(pass(), ElementsAre("M3 p-g-5 end i-5"));
}

// ---- cool-down and protection

TEST_F(ReconcileTest, C1ClosesWhatIsOffAndIdle) {
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN");
  node("p-g-2", "IDLE+CLOUD+POWERED_DOWN+PLANNED", "burst:old");
  node("p-g-3", "IDLE+CLOUD+POWER_UP+POWERED_DOWN");
  node("p-g-4", "ALLOCATED+CLOUD+POWERED_DOWN");
  node("p-g-5", "IDLE+CLOUD+DRAIN+POWERED_DOWN", "admin");
  node("p-g-6", "IDLE+CLOUD+POWERING_DOWN");
  node("p-g-7", "IDLE+CLOUD", "", "10.0.0.7");
  machine("i-7", "p-g-7", MachineState::running, "10.0.0.7");
  node("p-g-8", "IDLE+CLOUD+NOT_RESPONDING+POWERING_UP");
  node("p-g-9", "DOWN+CLOUD+POWERED_DOWN", "admin");
  cool_down();
  EXPECT_THAT(close_group(nodes, memory, now), testing::SizeIs(3));
  EXPECT_THAT(pass(), ElementsAre("C1 p-g-1 down burst:NoCapacity", "C1 p-g-2 down burst:NoCapacity",
                                  "C1 p-g-6 down burst:NoCapacity"));
  EXPECT_EQ(actions[0].reason, "burst:NoCapacity none left");
}

TEST_F(ReconcileTest, C1GivesNodesThatSlurmSetDownTheReasonToo) {
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached");
  node("p-g-2", "DOWN+CLOUD+POWERED_DOWN", "admin");
  node("p-g-3", "DOWN+CLOUD+DRAIN+POWERED_DOWN", "ResumeTimeout reached");
  node("p-g-4", "DOWN+CLOUD+POWERED_DOWN", "burst:Older one");
  cool_down();
  EXPECT_THAT(pass(), ElementsAre("C1 p-g-1 down burst:NoCapacity"));
}

TEST_F(ReconcileTest, CloseGroupDoesNothingWithoutARunningCoolDown) {
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN");
  EXPECT_THAT(close_group(nodes, memory, now), IsEmpty());
  cool_down();
  EXPECT_THAT(close_group(nodes, memory, memory.cool_down->until), IsEmpty());
  memory.cool_down->probing_since = now;
  EXPECT_THAT(close_group(nodes, memory, now), IsEmpty());
}

TEST_F(ReconcileTest, C2ReleasesOneNodeAsAProbeAndC3TheOthers) {
  for (int i = 0; i < 3; ++i) node("p-g-" + std::to_string(i), "DOWN+CLOUD+POWERED_DOWN", "burst:NoCapacity none left");
  node("p-g-3", "DOWN+CLOUD+POWERED_DOWN", "admin");
  cool_down();
  now += seconds(600);
  EXPECT_THAT(pass(), ElementsAre("C2 p-g-0 idle"));
  again("IDLE+CLOUD+POWERED_DOWN");
  EXPECT_THAT(pass(), IsEmpty()) << "the probe stays open, the others closed";
  EXPECT_THAT(pass(), ElementsAre("C3  warn", "N6 p-g-1 idle", "N6 p-g-2 idle"));
  EXPECT_FALSE(memory.cool_down);
  EXPECT_EQ(memory.last_length, seconds(600)) << "no success yet";
}

TEST_F(ReconcileTest, C2ChoosesANodeThatIsReallyFree) {
  node("p-g-0", "DOWN+CLOUD+POWERED_DOWN", "burst:NoCapacity");
  machine("i-0", "p-g-0", MachineState::stopping);
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached");
  node("p-g-2", "DOWN+CLOUD+POWERED_DOWN", "burst:NoCapacity");
  cool_down();
  now += seconds(600);
  EXPECT_THAT(pass(), ElementsAre("C2 p-g-2 idle"));
}

TEST_F(ReconcileTest, C2TakesANodeThatSlurmSetDownWhereThereIsNoOther) {
  node("p-g-0", "DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached");
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached");
  cool_down();
  now += seconds(600);
  EXPECT_THAT(pass(), ElementsAre("C2 p-g-0 idle")) << "one, not all of them";
}

TEST_F(ReconcileTest, ARefusedProbeClosesTheGroupForTwiceAsLong) {
  node("p-g-0", "DOWN+CLOUD+POWERED_DOWN", "burst:NoCapacity");
  cool_down();
  now += seconds(600);
  pass();
  cool_down();
  EXPECT_EQ(memory.cool_down->length, seconds(1200));
  again("IDLE+CLOUD+POWERED_DOWN");
  EXPECT_THAT(pass(), ElementsAre("C1 p-g-0 down burst:NoCapacity"));
}

TEST_F(ReconcileTest, ASuccessfulProbeOpensTheGroup) {
  node("p-g-0", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", "", "10.0.0.1");
  machine("i-0", "p-g-0", MachineState::starting, "10.0.0.1");
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "burst:NoCapacity");
  cool_down();
  now += seconds(600);
  memory.cool_down->probing_since = now;
  record_success(memory);
  EXPECT_THAT(pass(), ElementsAre("N6 p-g-1 idle"));
}

class BootstrapTest : public ReconcileTest {
 protected:
  /// A start with a machine that ends in ResumeTimeout.
  std::vector<std::string> fail_once() {
    machines.clear();
    again("ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
    nodes[0].address = "10.0.0.1";
    machine("i-1", "p-g-0", MachineState::running, "10.0.0.1");
    EXPECT_THAT(pass(), IsEmpty());
    machines.clear();
    again("DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached");
    return pass();
  }
  void register_once() {
    again("ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
    machine("i-1", "p-g-0", MachineState::running, "10.0.0.1");
    pass();
    again("ALLOCATED+CLOUD");
    pass();
    machines.clear();
  }
};

TEST_F(BootstrapTest, C4ClosesTheGroupAfterTheLimit) {
  policy.timing.bootstrap_failure_limit = 3;
  node("p-g-0", "IDLE+CLOUD+POWERED_DOWN");
  node("p-g-1", "IDLE+CLOUD+POWERED_DOWN");
  EXPECT_THAT(fail_once(), ElementsAre("N6 p-g-0 idle"));
  EXPECT_THAT(fail_once(), ElementsAre("N6 p-g-0 idle"));
  EXPECT_THAT(fail_once(),
              ElementsAre("C4 alarm", "C1 p-g-0 down burst:BootstrapFailing", "C1 p-g-1 down burst:BootstrapFailing"));
  EXPECT_THAT(actions[0].reason, HasSubstr("3 machines in a row never registered"));
  again("DOWN+CLOUD+POWERED_DOWN", "burst:BootstrapFailing");
  EXPECT_THAT(passes(5), ElementsAre("C1 p-g-1 down burst:BootstrapFailing")) << "once it is said, no alarm again";
}

TEST_F(BootstrapTest, N7HoldsNodesBackThatCouldExceedTheLimitUntilTheOthersAreDecided) {
  policy.timing.bootstrap_failure_limit = 4;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "p-g-" + std::to_string(i);
    node(name, "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", "", "10.0.0.1");
    machine("i-" + std::to_string(i), name, MachineState::running, "10.0.0.1");
  }
  EXPECT_THAT(pass(), IsEmpty());
  // Two have failed while two still boot: with them the limit may be reached.
  for (std::size_t i = 0; i < 2; ++i) {
    nodes[i].state = parse_node_state("DOWN+CLOUD+POWERED_DOWN");
    nodes[i].reason = "ResumeTimeout reached";
  }
  machines.erase(machines.begin(), machines.begin() + 2);
  EXPECT_THAT(passes(3), IsEmpty());
  EXPECT_EQ(memory.bootstrap_failures, 2);
  // A third fails, the fourth still boots: none may come back.
  nodes[2].state = parse_node_state("DOWN+CLOUD+POWERED_DOWN");
  nodes[2].reason = "ResumeTimeout reached";
  machines.erase(machines.begin());
  EXPECT_THAT(passes(2), IsEmpty());
  // The last one is cancelled, which is no failure: one may be tried.
  nodes[3].state = parse_node_state("IDLE+CLOUD+POWERED_DOWN");
  machines.clear();
  EXPECT_THAT(pass(), ElementsAre("N6 p-g-0 idle"));
}

TEST_F(BootstrapTest, AMachineThatRegistersFreesThoseThatWereHeldBack) {
  policy.timing.bootstrap_failure_limit = 2;
  for (const char* name : {"p-g-0", "p-g-1"}) {
    node(name, "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", "", "10.0.0.1");
    machine(std::string("i-") + name, name, MachineState::running, "10.0.0.1");
  }
  pass();
  nodes[0].state = parse_node_state("DOWN+CLOUD+POWERED_DOWN");
  nodes[0].reason = "ResumeTimeout reached";
  machines.erase(machines.begin());
  EXPECT_THAT(pass(), IsEmpty());
  nodes[1].state = parse_node_state("ALLOCATED+CLOUD");
  EXPECT_THAT(pass(), ElementsAre("N6 p-g-0 idle"));
}

TEST_F(BootstrapTest, ARegistrationSetsTheCountBack) {
  policy.timing.bootstrap_failure_limit = 2;
  node("p-g-0", "IDLE+CLOUD+POWERED_DOWN");
  fail_once();
  register_once();
  EXPECT_EQ(memory.bootstrap_failures, 0);
  EXPECT_THAT(fail_once(), ElementsAre("N6 p-g-0 idle"));
}

TEST_F(BootstrapTest, ZeroTurnsItOff) {
  policy.timing.bootstrap_failure_limit = 0;
  node("p-g-0", "IDLE+CLOUD+POWERED_DOWN");
  for (int i = 0; i < 30; ++i) EXPECT_THAT(fail_once(), ElementsAre("N6 p-g-0 idle"));
}

TEST_F(BootstrapTest, StartsWithoutAMachineDoNotCount) {
  policy.timing.bootstrap_failure_limit = 1;
  node("p-g-0", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  EXPECT_THAT(passes(3), ElementsAre("N4 p-g-0 power_down_force burst:NoMachine"));
  again("DOWN+CLOUD+POWERED_DOWN", "ResumeTimeout reached");
  EXPECT_THAT(pass(), ElementsAre("N6 p-g-0 idle"));
}

TEST_F(BootstrapTest, MachinesThatEndBeforeTheyRegisterCountOnce) {
  policy.timing.bootstrap_failure_limit = 2;
  node("p-g-0", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", "", "10.0.0.1");
  machine("i-1", "p-g-0", MachineState::running, "10.0.0.1");
  pass();
  machines.clear();
  EXPECT_THAT(passes(3), ElementsAre("N4 p-g-0 power_down_force burst:MachineGone"));
  EXPECT_EQ(memory.bootstrap_failures, 1);
  pass();
  EXPECT_EQ(memory.bootstrap_failures, 1);
}

TEST_F(BootstrapTest, AProbeThatRegistersOpensTheGroup) {
  policy.timing.bootstrap_failure_limit = 1;
  node("p-g-0", "IDLE+CLOUD+POWERED_DOWN");
  fail_once();
  ASSERT_TRUE(memory.cool_down);
  node("p-g-1", "DOWN+CLOUD+POWERED_DOWN", "burst:BootstrapFailing");
  now = memory.cool_down->until;
  again("DOWN+CLOUD+POWERED_DOWN", "burst:BootstrapFailing");
  EXPECT_THAT(pass(), ElementsAre("C2 p-g-0 idle"));
  again("ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP");
  machine("i-1", "p-g-0", MachineState::running, "10.0.0.1");
  for (int i = 0; i < 20; ++i) EXPECT_THAT(pass(), IsEmpty()) << "the probe still boots";
  again("ALLOCATED+CLOUD");
  EXPECT_THAT(pass(), ElementsAre("N6 p-g-1 idle"));
  EXPECT_EQ(memory.last_length, seconds(0));
}

TEST_F(BootstrapTest, AProbeThatFailsDoublesTheCoolDown) {
  policy.timing.bootstrap_failure_limit = 1;
  node("p-g-0", "IDLE+CLOUD+POWERED_DOWN");
  fail_once();
  now = memory.cool_down->until;
  again("DOWN+CLOUD+POWERED_DOWN", "burst:BootstrapFailing");
  pass();
  record_success(memory);
  EXPECT_THAT(fail_once(), ElementsAre("C4 alarm", "C1 p-g-0 down burst:BootstrapFailing"));
  EXPECT_EQ(memory.cool_down->length, seconds(1200));
}

TEST_F(BootstrapTest, ThreeInvalidRegistrationsInARowCloseTheGroup) {
  node("p-g-0", "IDLE+CLOUD+DRAIN+INVALID_REG", "Low CPUs", "10.0.0.1");
  machine("i-1", "p-g-0", MachineState::running, "10.0.0.1");
  EXPECT_THAT(pass(), ElementsAre("N10 p-g-0 power_down_force burst:InvalidRegistration"));
  EXPECT_THAT(pass(), ElementsAre("N10 p-g-0 power_down_force burst:InvalidRegistration"));
  EXPECT_THAT(pass(), ElementsAre("C4 alarm", "N10 p-g-0 power_down_force burst:InvalidRegistration"));
}

TEST_F(BootstrapTest, ACancelledStartIsNoFailure) {
  policy.timing.bootstrap_failure_limit = 1;
  node("p-g-0", "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", "", "10.0.0.1");
  machine("i-1", "p-g-0", MachineState::running, "10.0.0.1");
  pass();
  again("IDLE+CLOUD+POWERING_DOWN");
  pass();
  EXPECT_EQ(memory.bootstrap_failures, 0);
  EXPECT_THAT(memory.booting, IsEmpty());
}

// ---- all of it

TEST_F(ReconcileTest, ForgetsNodesAndMachinesThatLeft) {
  node("p-g-1", "IDLE+CLOUD+POWERING_DOWN");
  node("p-g-2", "ALLOCATED+CLOUD+POWERING_UP", "", "10.0.0.1");
  machine("i-2", "p-g-2", MachineState::running, "10.0.0.1").created = {};
  pass();
  EXPECT_EQ(memory.sightings.size() + memory.booting.size() + memory.machines_since.size(), 3U);
  nodes.clear();
  machines.clear();
  pass();
  EXPECT_EQ(memory, GroupMemory());
}

TEST_F(ReconcileTest, DecidesTenThousandNodesFast) {
  group.max_nodes = 10'000;
  const std::vector<std::string> states{"IDLE+CLOUD+POWERED_DOWN", "ALLOCATED+CLOUD", "ALLOCATED+CLOUD+POWERING_UP",
                                        "IDLE+CLOUD+POWERING_DOWN"};
  for (int i = 0; i < 10'000; ++i) {
    const std::string name = "p-g-" + std::to_string(i);
    node(name, states[static_cast<std::size_t>(i) % states.size()]);
    machine("i-" + std::to_string(i), name, MachineState::running, "10.0.0.1");
  }
  pass();
  const auto begin = std::chrono::steady_clock::now();
  const auto lines = pass();
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_FALSE(lines.empty());
  EXPECT_LT(took, std::chrono::seconds(1)) << "some 10 ms are normal; this bound only finds a quadratic step";
  RecordProperty("microseconds", static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> row_ids(const std::string& text, const std::string& pattern) {
  std::set<std::string> ids;
  const std::regex expression(pattern);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), expression); it != std::sregex_iterator(); ++it) {
    ids.insert((*it)[1]);
  }
  return ids;
}

TEST(ReconcileDocument, HasTheRowsOfTheCodeAndNoOthers) {
  const std::filesystem::path source = BURST_SOURCE_DIR;
  std::string code;
  for (const auto& entry : std::filesystem::directory_iterator(source / "src/core")) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("reconcile") || name.starts_with("expiry_reservations")) code += text_of(entry.path());
  }
  const auto in_document = row_ids(text_of(source / "docs/reconcile.md"), "\\| ([NMCE][0-9]+) \\|");
  EXPECT_EQ(row_ids(code, "\\b([NMCE][0-9]+)\\b"), in_document);
  EXPECT_EQ(in_document.size(), 20U + 7U + 4U + 2U);
}

}  // namespace
}  // namespace burst
