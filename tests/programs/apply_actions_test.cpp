// SPDX-License-Identifier: Apache-2.0
// Decisions as lines, and how they are carried out.
#include <map>

#include "programs/programs_fixture.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

Action make_action(std::string row, ActionKind kind, NodeName node) {
  Action action;
  action.row = std::move(row);
  action.kind = kind;
  action.node = std::move(node);
  return action;
}

Action set_state(const NodeName& node, StateChange change, std::string reason = "") {
  Action action = make_action("N4", ActionKind::set_state, node);
  action.change = change;
  action.reason = std::move(reason);
  return action;
}

Action end_machine(const NodeName& node, std::string id) {
  Action action = make_action("M3", ActionKind::end_machine, node);
  action.machine_id = std::move(id);
  return action;
}

Action comment_jobs(const NodeName& node, std::string reason) {
  Action action = make_action("N3", ActionKind::comment_jobs, node);
  action.reason = std::move(reason);
  return action;
}

TEST(DescribeAction, SaysWhatBecomesOfANodesAddress) {
  Action action = make_action("N2", ActionKind::set_address, "aws-node-1");
  action.address = "10.0.0.1";
  action.hostname = "ip-10-0-0-1";
  EXPECT_EQ(describe_action(action), "N2 aws-node-1: update NodeAddr to 10.0.0.1, NodeHostName to ip-10-0-0-1");
}

TEST(DescribeAction, SaysWhatBecomesOfANodesState) {
  EXPECT_EQ(describe_action(set_state("aws-node-1", StateChange::idle)), "N4 aws-node-1: set to IDLE");
  EXPECT_EQ(describe_action(set_state("aws-node-1", StateChange::power_down_force, "burst:X y")),
            "N4 aws-node-1: set to POWER_DOWN_FORCE, reason \"burst:X y\"");
}

TEST(DescribeAction, NamesEveryStateAsScontrolSpellsIt) {
  const std::map<StateChange, std::string> names = {{StateChange::down, "DOWN"},
                                                    {StateChange::idle, "IDLE"},
                                                    {StateChange::resume, "RESUME"},
                                                    {StateChange::undrain, "UNDRAIN"},
                                                    {StateChange::power_up, "POWER_UP"},
                                                    {StateChange::power_down, "POWER_DOWN"},
                                                    {StateChange::power_down_force, "POWER_DOWN_FORCE"}};
  for (const auto& [change, name] : names) EXPECT_EQ(describe_action(set_state("n", change)), "N4 n: set to " + name);
}

TEST(DescribeAction, NamesTheMachineThatEnds) {
  EXPECT_EQ(describe_action(end_machine("aws-node-1", "i-1")), "M3 aws-node-1: end machine i-1");
  EXPECT_EQ(describe_action(end_machine("", "i-1")), "M3 (no node): end machine i-1");
}

TEST(DescribeAction, SaysWhichNodesJobsGetAComment) {
  EXPECT_EQ(describe_action(comment_jobs("aws-node-1", "queued")), "N3 aws-node-1: comment on its jobs: queued");
}

TEST(DescribeAction, SaysWhichNodesAreReservedFromWhen) {
  Action action = make_action("E1", ActionKind::reserve, "");
  action.reservation = {"burst-expiry-aws-node-1", {"aws-node-1", "aws-node-2"}, {}, {}};
  action.reservation.start = std::chrono::sys_seconds{std::chrono::seconds{1'900'000'000}};
  action.reason = "why";
  EXPECT_EQ(describe_action(action),
            "E1 aws-node-[1-2]: create reservation burst-expiry-aws-node-1 from 2030-03-17T17:46:40Z, reason \"why\"");
  action.row = "E2";
  action.kind = ActionKind::unreserve;
  EXPECT_EQ(describe_action(action), "E2 aws-node-[1-2]: delete reservation burst-expiry-aws-node-1, reason \"why\"");
}

TEST(DescribeAction, SaysWhichNodeAndMachineAWarningIsAbout) {
  Action action = make_action("M5", ActionKind::warn, "aws-node-77");
  action.machine_id = "i-1";
  action.reason = "Slurm does not know its node";
  EXPECT_EQ(describe_action(action), "M5 aws-node-77 i-1: Slurm does not know its node");
  action.machine_id.clear();
  EXPECT_EQ(describe_action(action), "M5 aws-node-77: Slurm does not know its node");
}

TEST(DescribeAction, SaysAnAlarmThatIsAboutNoNode) {
  Action action = make_action("C4", ActionKind::alarm, "");
  action.reason = "10 machines never registered";
  EXPECT_EQ(describe_action(action), "C4 10 machines never registered");
}

class ApplyActions : public ProgramsTest {
 protected:
  ApplyActions() { add_nodes("aws-node-[0-3]", "IDLE+CLOUD+POWERED_DOWN"); }
  std::unique_ptr<Provider> provider = cloud.provider(config.partitions[0].groups[0]);

  bool apply(const std::vector<Action>& actions) { return apply_actions(actions, *provider, suite).complete; }

  SlurmJob job(JobId id, std::vector<NodeName> nodes, std::string job_state = "CONFIGURING") {
    SlurmJob made;
    made.id = id;
    made.state = std::move(job_state);
    made.nodes = std::move(nodes);
    return made;
  }
};

TEST_F(ApplyActions, DoesNothingForNoActions) {
  EXPECT_TRUE(apply({}));
  EXPECT_EQ(slurm.updates() + slurm.reads + slurm.job_reads, 0);
  EXPECT_TRUE(node_cloud.untouched());
}

TEST_F(ApplyActions, MakesOneCallForEachChangeAndReason) {
  EXPECT_TRUE(
      apply({set_state("aws-node-0", StateChange::down, "burst:A a"), set_state("aws-node-1", StateChange::idle),
             set_state("aws-node-2", StateChange::down, "burst:A a"),
             set_state("aws-node-3", StateChange::down, "burst:B b")}));
  ASSERT_THAT(slurm.state_calls, SizeIs(3));
  EXPECT_THAT(slurm.state_calls[0].nodes, ElementsAre("aws-node-0", "aws-node-2"));
  EXPECT_THAT(slurm.state_calls[1].nodes, ElementsAre("aws-node-3"));
  EXPECT_THAT(slurm.state_calls[2].nodes, ElementsAre("aws-node-1"));
}

TEST_F(ApplyActions, EndsAllMachinesInOneCall) {
  const auto first = cloud.add_machine(kNode, "aws-node-0", std::chrono::seconds{9}).id;
  const auto second = cloud.add_machine(kNode, std::nullopt, std::chrono::seconds{9}).id;
  EXPECT_TRUE(apply({end_machine("aws-node-0", first), end_machine("", second)}));
  EXPECT_EQ(node_cloud.stops, 1);
  EXPECT_THAT(node_cloud.ended, ElementsAre(first, second));
}

TEST_F(ApplyActions, OnlyLogsWarningsAndAlarms) {
  Action warning = make_action("M5", ActionKind::warn, "aws-node-77");
  warning.reason = "not known";
  Action alarm = make_action("C4", ActionKind::alarm, "");
  alarm.reason = "no machine registers";
  EXPECT_TRUE(apply({warning, alarm}));
  EXPECT_EQ(lines(LogLevel::warning, "M5 aws-node-77: not known"), 1U);
  EXPECT_EQ(lines(LogLevel::critical, "C4 no machine registers"), 1U);
  EXPECT_EQ(slurm.updates(), 0);
}

TEST_F(ApplyActions, CommentsOnTheJobsThatWaitForTheNode) {
  slurm.queue = {job(1, {"aws-node-0", "aws-node-1"}), job(2, {"aws-node-2"}), job(3, {"aws-node-1"}, "RUNNING"),
                 job(4, {"aws-node-1"}), job(5, {"aws-node-1"}, "COMPLETING")};
  slurm.queue[3].comment = "queued: no capacity";
  EXPECT_TRUE(apply({comment_jobs("aws-node-1", "queued:\nno capacity")}));
  EXPECT_THAT(slurm.comments, ElementsAre(Pair(1U, "queued: no capacity")))
      << "job 2 has another node, 3 and 5 wait for nothing, 4 has the comment already";
}

TEST_F(ApplyActions, CommentsOnTheOtherJobsWhenOneIsGone) {
  slurm.queue = {job(1, {"aws-node-0"}), job(2, {"aws-node-0"})};
  slurm.fail_set_job_comment = "Invalid job id specified";
  EXPECT_FALSE(apply({comment_jobs("aws-node-0", "queued")}));
  EXPECT_THAT(slurm.comments, SizeIs(2));
}

TEST_F(ApplyActions, SetsALongCommentOnlyOnce) {
  slurm.queue = {job(1, {"aws-node-0"})};
  const Action action = comment_jobs("aws-node-0", std::string(400, 'x'));
  EXPECT_TRUE(apply({action}));
  EXPECT_TRUE(apply({action}));
  EXPECT_THAT(slurm.comments, SizeIs(1));
}

TEST_F(ApplyActions, LogsACommentOnlyWhenItIsNew) {
  slurm.queue = {job(1, {"aws-node-0"})};
  for (int pass = 0; pass < 3; ++pass) EXPECT_TRUE(apply({comment_jobs("aws-node-0", "queued")}));
  EXPECT_EQ(lines(LogLevel::info, "queued"), 1U);
  EXPECT_EQ(lines(LogLevel::info, "Set comment of job 1: queued"), 1U);
}

TEST_F(ApplyActions, TakesAMachineThatEndsWhenItComesAsEnded) {
  const auto machine = cloud.add_machine(kNode, "aws-node-0", std::chrono::seconds{9}).id;
  node_cloud.end_later = {machine};
  EXPECT_TRUE(apply({end_machine("aws-node-0", machine)}));
  EXPECT_EQ(lines(LogLevel::info, "ends as soon as it can: its request serves other nodes too"), 1U);
  EXPECT_EQ(lines(LogLevel::error, ""), 0U);
}

TEST_F(ApplyActions, KeepsWhatIsLeftOfAFailedMachineUntilSlurmKnowsWhyItFailed) {
  const auto machine = cloud.add_machine(kNode, "aws-node-0", std::chrono::seconds{9}).id;
  const auto other = cloud.add_machine(kNode, "aws-node-1", std::chrono::seconds{9}).id;
  const std::vector<Action> actions{set_state("aws-node-0", StateChange::power_down_force, "burst:STOCKOUT none"),
                                    end_machine("aws-node-0", machine), end_machine("aws-node-1", other)};
  slurm.fail_set_state = "no states";
  EXPECT_FALSE(apply(actions));
  EXPECT_THAT(node_cloud.ended, ElementsAre(other));
  slurm.fail_set_state.reset();
  std::size_t told = 0;
  node_cloud.before_stop = [&] { told = slurm.told(StateChange::power_down_force).size(); };
  EXPECT_TRUE(apply({actions[0], actions[1]}));
  EXPECT_EQ(told, 1U) << "the node first";
  EXPECT_THAT(node_cloud.ended, ElementsAre(other, machine));
}

TEST_F(ApplyActions, CreatesAndDeletesReservationsInTheirOrder) {
  const auto start = now() + std::chrono::seconds{3600};
  Action drop = make_action("E2", ActionKind::unreserve, "");
  drop.reservation = {"burst-expiry-aws-node-1", {"aws-node-1"}, start, start};
  Action create = make_action("E1", ActionKind::reserve, "");
  create.reservation = {"burst-expiry-aws-node-2", {"aws-node-1", "aws-node-2"}, start, start};
  slurm.reserved = {drop.reservation};
  EXPECT_TRUE(apply({create, drop}));
  EXPECT_THAT(slurm.reservation_calls, ElementsAre("create burst-expiry-aws-node-2", "delete burst-expiry-aws-node-1"));
  EXPECT_EQ(slurm.reserved, std::vector{create.reservation});
  slurm.fail_reserve = "Access/permission denied";
  EXPECT_FALSE(apply({drop, create}));
  EXPECT_THAT(slurm.reservation_calls, SizeIs(4)) << "the other all the same";
}

TEST_F(ApplyActions, GoesOnAfterEachFailure) {
  const auto machine = cloud.add_machine(kNode, "aws-node-0", std::chrono::seconds{9}).id;
  Action address = make_action("N2", ActionKind::set_address, "aws-node-1");
  address.address = "10.0.0.9";
  slurm.fail_set_addresses = "no addresses";
  slurm.fail_set_state = "no states";
  slurm.fail_jobs = "no jobs";
  EXPECT_FALSE(apply({address, set_state("aws-node-2", StateChange::idle),
                      set_state("aws-node-3", StateChange::down, "burst:A a"), end_machine("aws-node-0", machine),
                      comment_jobs("aws-node-0", "queued")}));
  EXPECT_THAT(node_cloud.ended, ElementsAre(machine));
  EXPECT_THAT(slurm.state_calls, SizeIs(2));
  EXPECT_EQ(lines(LogLevel::error, "no addresses"), 1U);
  EXPECT_EQ(lines(LogLevel::error, "no states"), 2U);
  EXPECT_EQ(lines(LogLevel::error, "no jobs"), 1U);
}

TEST_F(ApplyActions, IsNotCompleteWhenTheCloudFailsAsAWhole) {
  node_cloud.fails_whole("AuthFailure");
  EXPECT_FALSE(apply({end_machine("aws-node-0", "i-9"), set_state("aws-node-2", StateChange::idle)}));
  EXPECT_THAT(slurm.state_calls, SizeIs(1));
  EXPECT_THAT(node_cloud.ended, IsEmpty());
}

}  // namespace
}  // namespace burst
