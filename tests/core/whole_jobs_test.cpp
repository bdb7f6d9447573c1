// SPDX-License-Identifier: Apache-2.0
// The jobs of one resume as wholes.
#include "core/whole_jobs.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/launch_plan.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

ResumeJob job(JobId id, std::vector<NodeName> nodes, std::optional<std::int64_t> priority = std::nullopt) {
  ResumeJob made;
  made.id = id;
  made.nodes = std::move(nodes);
  made.priority = priority;
  return made;
}

SlurmJob component(JobId id, JobId leader) {
  SlurmJob made;
  made.id = id;
  made.het_job = leader;
  return made;
}

std::vector<JobId> ids(const std::vector<ResumeJob>& jobs) {
  std::vector<JobId> all;
  for (const auto& one : jobs) all.push_back(one.id);
  return all;
}

TEST(JobsOfCall, KeepsTheFilesOrderWhereNoPriorityIsTold) {
  EXPECT_THAT(ids(jobs_of_call({job(9, {"a"}), job(3, {"b"})}, {}).each), ElementsAre(9U, 3U));
}

TEST(JobsOfCall, TakesJobsOfHigherPriorityFirst) {
  const auto jobs = jobs_of_call({job(1, {"a"}, 10), job(2, {"b"}, 4294901757), job(3, {"c"}, 10)}, {});
  EXPECT_THAT(ids(jobs.each), ElementsAre(2U, 1U, 3U));
  EXPECT_THAT(ids(jobs.whole), ElementsAre(2U, 1U, 3U));
}

TEST(JobsOfCall, JoinsTheComponentsOfAHeterogeneousJob) {
  const std::vector queue{component(5, 5), component(6, 5), component(7, 0), component(8, 8), component(9, 8)};
  const auto jobs =
      jobs_of_call({job(5, {"a"}), job(7, {"x"}), job(6, {"b", "c"}), job(9, {"y"}), job(10, {"z"})}, queue);
  EXPECT_THAT(ids(jobs.each), ElementsAre(5U, 7U, 6U, 9U, 10U));
  ASSERT_THAT(ids(jobs.whole), ElementsAre(5U, 7U, 9U, 10U));
  EXPECT_THAT(jobs.whole[0].nodes, ElementsAre("a", "b", "c"));
  EXPECT_THAT(jobs.whole[2].nodes, ElementsAre("y")) << "the other component is not in this call";
}

TEST(WaitingJobs, AreThoseWhoseNodesOfThisCallBoot) {
  SlurmJob boots, runs, elsewhere;
  boots.id = 1;
  boots.state = "CONFIGURING";
  boots.nodes = {"a", "b", "up"};
  runs = elsewhere = boots;
  runs.id = 2;
  runs.state = "RUNNING";
  elsewhere.id = 3;
  elsewhere.nodes = {"x"};
  const std::vector queue{boots, runs, elsewhere};
  const auto jobs = waiting_jobs(queue, std::vector<NodeName>{"a", "b", "c"});
  ASSERT_THAT(ids(jobs), ElementsAre(1U));
  EXPECT_THAT(jobs[0].nodes, ElementsAre("a", "b"));
  EXPECT_THAT(jobs[0].allocated, SizeIs(3));
}

/// A call on a cloud with a fixed number of machines: launches run side by side first, then one by one.
class SecondTriesTest : public testing::Test {
 protected:
  void first(const std::vector<NodeName>& nodes, std::vector<ResumeJob> call, const std::set<NodeName>& served,
             bool hands_over = false) {
    jobs = std::move(call);
    const auto launches = plan_launches(nodes, LaunchStrategy::all_or_nothing, jobs);
    tries.emplace(launches, outcomes_of(nodes, served), jobs, hands_over);
  }
  std::vector<NodeOutcome> outcomes_of(const std::vector<NodeName>& nodes, const std::set<NodeName>& served) const {
    std::vector<NodeOutcome> outcomes;
    for (const auto& node : nodes) {
      NodeOutcome outcome;
      outcome.node = node;
      outcome.outcome = served.contains(node) ? Outcome::ready : rejected.contains(node) ? Outcome::rejected : want;
      outcomes.push_back(outcome);
    }
    return outcomes;
  }
  /// What is tried next, which then gets machines or not.
  std::vector<NodeName> next(bool succeeds) {
    auto launch = tries->next();
    if (!launch) return {};
    last = *launch;
    const std::set<NodeName> all(launch->nodes.begin(), launch->nodes.end());
    tries->tried(*launch, outcomes_of(launch->nodes, succeeds ? all : std::set<NodeName>{}));
    return launch->nodes;
  }

  std::vector<ResumeJob> jobs;
  std::optional<SecondTries> tries;
  std::set<NodeName> rejected;
  Outcome want = Outcome::no_capacity;
  Launch last;
};

TEST_F(SecondTriesTest, AreNoneWhereAllCame) {
  first({"a", "b", "c"}, {job(1, {"a", "b"}), job(2, {"c"})}, {"a", "b", "c"});
  EXPECT_THAT(next(true), IsEmpty());
}

TEST_F(SecondTriesTest, AreNoneWhereNothingWasGivenBack) {
  first({"a", "b", "c"}, {job(1, {"a", "b"}), job(2, {"c"})}, {"a", "b"});
  EXPECT_THAT(next(true), IsEmpty()) << "only a single-node job came short";
}

TEST_F(SecondTriesTest, OfferWhatTheFirstJobGaveBackToTheNextJobsAndThenToSingleNodes) {
  want = Outcome::over_quota;
  first({"a", "b", "c", "d", "e", "f", "g"},
        {job(1, {"a", "b", "c"}), job(2, {"d", "e"}), job(3, {"f"}), job(4, {"g"})}, {"g"});
  EXPECT_THAT(next(true), ElementsAre("d", "e"));
  EXPECT_EQ(last.job, 2U);
  EXPECT_TRUE(last.all_or_nothing);
  EXPECT_THAT(next(false), ElementsAre("f"));
  EXPECT_FALSE(last.all_or_nothing);
  EXPECT_THAT(next(false), IsEmpty());
}

TEST_F(SecondTriesTest, LeaveOutWhatIsNoSmallerThanWhatFailedByItself) {
  first({"a", "b", "c", "d", "e", "f", "g", "h", "i"},
        {job(1, {"a", "b"}), job(2, {"c", "d", "e"}), job(3, {"f", "g"}), job(4, {"h", "i"})}, {});
  EXPECT_THAT(next(false), ElementsAre("c", "d", "e"));
  EXPECT_THAT(next(false), ElementsAre("f", "g"));
  EXPECT_THAT(next(false), IsEmpty());
}

TEST_F(SecondTriesTest, LeaveOutJobsThatWereRefusedForAnotherReason) {
  rejected = {"c", "d"};
  first({"a", "b", "c", "d"}, {job(1, {"a", "b"}), job(2, {"c", "d"})}, {});
  EXPECT_THAT(next(true), IsEmpty());
}

TEST_F(SecondTriesTest, AreNoneWhereTheProviderHandsOverByItself) {
  first({"a", "b", "c", "d", "e"}, {job(1, {"a", "b"}), job(2, {"c", "d"}), job(3, {"e"})}, {}, true);
  EXPECT_THAT(next(true), IsEmpty());
}

TEST_F(SecondTriesTest, ANodeSharedWithAJobThatCameShortIsTriedForTheOther) {
  for (const bool hands_over : {false, true}) {
    // c came: it is job 2's and lacks b only, which was asked for with job 1.
    first({"a", "b", "c"}, {job(1, {"a", "b"}), job(2, {"b", "c"})}, {"c"}, hands_over);
    EXPECT_THAT(next(true), ElementsAre("b"));
    EXPECT_EQ(last.job, 2U);
    EXPECT_THAT(next(true), IsEmpty());
  }
}

TEST_F(SecondTriesTest, DoNotAskForASingleNodeWhoseJobLacksAnother) {
  first({"a", "b", "c"}, {job(1, {"a", "b"}), job(2, {"b", "c"})}, {});
  EXPECT_THAT(next(false), ElementsAre("b", "c"));
  EXPECT_THAT(next(false), IsEmpty());
}

std::vector<NodeName> in_vain(const std::vector<ResumeJob>& jobs, const std::vector<NodeFate>& fates) {
  return nodes_in_vain(jobs, fates);
}

TEST(NodesInVain, AreThoseWhoseJobLacksAnother) {
  EXPECT_THAT(in_vain({job(1, {"a", "b"}), job(2, {"c"})}, {{"a", true, true}, {"b", false, true}, {"c", true, true}}),
              ElementsAre("a"));
}

TEST(NodesInVain, AreNotThoseThatAWholeJobSharesOrThatWerePoweredUpByHand) {
  EXPECT_THAT(in_vain({job(1, {"a", "b", "c"}), job(2, {"a"})},
                      {{"a", true, true}, {"b", true, true}, {"c", false, true}, {"hand", true, true}}),
              ElementsAre("b"));
}

TEST(NodesInVain, AreOnlyNodesOfAllOrNothingGroups) {
  EXPECT_THAT(in_vain({job(1, {"a", "b", "c"})}, {{"a", true, false}, {"b", true, true}, {"c", false, false}}),
              ElementsAre("b"));
}

TEST(NodesInVain, AreNoneOfNodesThatThisCallIsNotAbout) {
  EXPECT_THAT(in_vain({job(1, {"a", "other"})}, {{"a", true, true}}), IsEmpty());
}

}  // namespace
}  // namespace burst
