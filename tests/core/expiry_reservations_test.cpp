// SPDX-License-Identifier: Apache-2.0
// Rows E1 and E2 of docs/reconcile.md.
#include "core/expiry_reservations.h"

#include "core/reconcile_fixture.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class ExpiryReservationsTest : public ReconcileTest {
 protected:
  ExpiryReservationsTest() {
    for (int i = 0; i < 5; ++i) node("p-g-" + std::to_string(i), "IDLE+CLOUD");
  }

  void runs_until(int id, std::chrono::sys_seconds time, MachineState state = MachineState::running) {
    machine("i-" + std::to_string(machines.size()), "p-g-" + std::to_string(id), state).expires = time;
  }

  /// Plans, and lets Slurm do it.
  std::vector<Action> plan() {
    auto planned = plan_expiry_reservations(GroupView{group, nodes, machines, launches}, existing, now);
    for (const auto& action : planned) {
      if (action.kind == ActionKind::reserve) existing.push_back(action.reservation);
      if (action.kind == ActionKind::unreserve) {
        std::erase_if(existing, [&](const SlurmReservation& one) { return one.name == action.reservation.name; });
      }
    }
    return planned;
  }

  const std::chrono::sys_seconds minute = std::chrono::ceil<std::chrono::minutes>(now + seconds(3600));
  std::vector<SlurmReservation> existing;
};

TEST_F(ExpiryReservationsTest, E1ReservesOnceForAllThatEndInTheSameMinute) {
  runs_until(3, minute + seconds(59));
  runs_until(1, minute);
  runs_until(2, minute + seconds(60), MachineState::starting);
  const auto planned = plan();
  ASSERT_THAT(planned, SizeIs(2));
  EXPECT_EQ(planned[0].row, "E1");
  EXPECT_EQ(planned[0].kind, ActionKind::reserve);
  EXPECT_THAT(planned[0].reservation.name, StartsWith("burst-expiry-p-g-"));
  EXPECT_THAT(planned[0].reservation.nodes, ElementsAre("p-g-1", "p-g-3"));
  EXPECT_EQ(planned[0].reservation.start, minute);
  EXPECT_EQ(planned[0].reservation.end, minute + seconds(600));
  EXPECT_THAT(planned[1].reservation.nodes, ElementsAre("p-g-2"));
  EXPECT_THAT(plan(), IsEmpty()) << "they are there now";
}

TEST_F(ExpiryReservationsTest, E1LeavesOutMachinesThatDoNotRunExpireOrBelongToAKnownNode) {
  runs_until(1, minute, MachineState::queued);
  runs_until(2, minute, MachineState::failed);
  runs_until(3, minute, MachineState::stopping);
  runs_until(77, minute);
  machine("i-9", "p-g-4");
  machine("i-10", "").expires = minute;
  EXPECT_THAT(plan(), IsEmpty());
}

TEST_F(ExpiryReservationsTest, E2DropsTheReservationOfMachinesThatAreGone) {
  runs_until(1, minute);
  plan();
  machines.clear();
  const auto planned = plan();
  ASSERT_THAT(planned, SizeIs(1));
  EXPECT_EQ(planned[0].row, "E2");
  EXPECT_EQ(planned[0].kind, ActionKind::unreserve);
  EXPECT_THAT(existing, IsEmpty());
}

TEST_F(ExpiryReservationsTest, E2DropsWhatWasReplacedAfterwards) {
  runs_until(1, minute);
  runs_until(2, minute);
  plan();
  machines.pop_back();
  auto planned = plan();
  ASSERT_THAT(planned, SizeIs(2));
  EXPECT_EQ(planned[0].kind, ActionKind::reserve) << "without a gap";
  EXPECT_THAT(planned[0].reservation.nodes, ElementsAre("p-g-1"));
  EXPECT_EQ(planned[1].kind, ActionKind::unreserve);
  EXPECT_NE(planned[0].reservation.name, planned[1].reservation.name);

  machines[0].expires = minute + seconds(600);
  planned = plan();
  ASSERT_THAT(planned, SizeIs(2));
  EXPECT_EQ(planned[0].reservation.start, minute + seconds(600));
  EXPECT_EQ(existing, std::vector{planned[0].reservation});
}

TEST_F(ExpiryReservationsTest, StaysUntilTheMachineHasReallyEnded) {
  runs_until(1, minute);
  plan();
  now = minute + seconds(300);
  EXPECT_THAT(plan(), IsEmpty());
  now = minute + seconds(600);
  existing.clear();  // Slurm drops what is over
  EXPECT_THAT(plan(), IsEmpty()) << "no new one for what is over";
}

TEST_F(ExpiryReservationsTest, E1BeginsNowWhereItIsLate) {
  runs_until(1, minute + seconds(30));
  now = minute + seconds(10);
  const auto planned = plan();
  ASSERT_THAT(planned, SizeIs(1));
  EXPECT_EQ(planned[0].reservation.start, now);
  EXPECT_EQ(planned[0].reservation.end, minute + seconds(600));
  now += seconds(60);
  EXPECT_THAT(plan(), IsEmpty());
}

TEST_F(ExpiryReservationsTest, TouchesOnlyItsOwn) {
  existing = {{"burst-expiry-p-other-1-0", {"p-other-1"}, minute, minute},
              {"burst-expiry-p-g2-1-0", {"p-g-1"}, minute, minute},
              {"maintenance", {"p-g-1"}, minute, minute},
              {"burst-expiry-", {"p-g-1"}, minute, minute}};
  EXPECT_THAT(plan(), IsEmpty());
}

TEST_F(ExpiryReservationsTest, OurMaintenanceIsNotLeftAlone) {
  const std::vector<SlurmReservation> ours{{"burst-expiry-p-g-1-0", {"p-g-0"}, now, now + seconds(600)},
                                           {"burst-expiry-p-g-1-1", {"p-g-2"}, now + seconds(1), now + seconds(600)}};
  nodes.clear();
  for (int i = 0; i < 3; ++i) node("p-g-" + std::to_string(i), "IDLE+CLOUD+MAINTENANCE+RESERVED");
  ignore_our_maintenance(nodes, ours, now);
  EXPECT_EQ(to_string(nodes[0].state), "IDLE+CLOUD");
  EXPECT_EQ(to_string(nodes[1].state), "IDLE+CLOUD+MAINTENANCE+RESERVED");
  EXPECT_EQ(to_string(nodes[2].state), "IDLE+CLOUD+MAINTENANCE+RESERVED") << "ours has not begun";
}

}  // namespace
}  // namespace burst
