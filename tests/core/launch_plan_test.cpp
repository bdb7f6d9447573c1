// SPDX-License-Identifier: Apache-2.0
// Which launches start a node group's nodes.
#include "core/launch_plan.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burst {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

ResumeJob job(JobId id, std::vector<NodeName> nodes) {
  ResumeJob made;
  made.id = id;
  made.nodes = std::move(nodes);
  return made;
}

std::vector<Launch> plan(const std::vector<NodeName>& nodes, const std::vector<ResumeJob>& jobs,
                         LaunchStrategy strategy = LaunchStrategy::all_or_nothing) {
  return plan_launches(nodes, strategy, jobs);
}

/// How often each node is launched.
std::map<NodeName, int> counts(const std::vector<Launch>& launches) {
  std::map<NodeName, int> all;
  for (const auto& launch : launches) {
    for (const auto& node : launch.nodes) ++all[node];
  }
  return all;
}

TEST(LaunchPlan, IsEmptyWithoutNodes) {
  EXPECT_THAT(plan({}, {job(1, {"a", "b"})}), IsEmpty());
  EXPECT_THAT(plan({}, {job(1, {"a", "b"})}, LaunchStrategy::best_effort), IsEmpty());
}

TEST(LaunchPlan, IsOneLaunchForBestEffortWhateverTheJobs) {
  const auto launches = plan({"a", "b", "c"}, {job(1, {"a", "b"})}, LaunchStrategy::best_effort);
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_THAT(launches[0].nodes, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(launches[0].job);
  EXPECT_FALSE(launches[0].all_or_nothing);
}

TEST(LaunchPlan, GivesEachJobOfSeveralNodesALaunchInTheOrderOfTheJobs) {
  const auto launches = plan({"a", "b", "c", "d"}, {job(9, {"c", "d"}), job(3, {"a", "b"})});
  ASSERT_THAT(launches, SizeIs(2));
  EXPECT_EQ(launches[0].job, 9U);
  EXPECT_THAT(launches[0].nodes, ElementsAre("c", "d"));
  EXPECT_TRUE(launches[0].all_or_nothing);
  EXPECT_EQ(launches[1].job, 3U);
  EXPECT_TRUE(launches[1].all_or_nothing);
}

TEST(LaunchPlan, PutsNodesOfSingleNodeJobsAndOfNoneInOneBestEffortLaunch) {
  const auto launches = plan({"a", "b", "c", "d", "e"}, {job(1, {"e"}), job(2, {"b", "c"}), job(3, {"a"})});
  ASSERT_THAT(launches, SizeIs(2));
  EXPECT_THAT(launches[0].nodes, ElementsAre("b", "c"));
  EXPECT_THAT(launches[1].nodes, ElementsAre("a", "d", "e"));
  EXPECT_FALSE(launches[1].job);
  EXPECT_FALSE(launches[1].all_or_nothing);
}

TEST(LaunchPlan, GivesASharedNodeToTheFirstOfItsJobs) {
  const auto launches = plan({"a", "b", "c", "d"}, {job(1, {"a", "b"}), job(2, {"b", "c", "d"})});
  ASSERT_THAT(launches, SizeIs(2));
  EXPECT_THAT(launches[0].nodes, ElementsAre("a", "b"));
  EXPECT_THAT(launches[1].nodes, ElementsAre("c", "d"));
}

TEST(LaunchPlan, LeavesOutAJobsNodesThatAreNotToBeStarted) {
  const auto launches = plan({"a", "b"}, {job(1, {"a", "b", "other-group-1"}), job(2, {"x", "y"})});
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_THAT(launches[0].nodes, ElementsAre("a", "b"));
}

TEST(LaunchPlan, IsOneAllOrNothingLaunchWhereTheJobsAreNotKnown) {
  const std::vector<NodeName> nodes{"a", "b", "c"};
  const auto launches = plan_launches(nodes, LaunchStrategy::all_or_nothing, std::nullopt);
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_THAT(launches[0].nodes, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(launches[0].all_or_nothing);
}

TEST(LaunchPlan, TakesAJobWithOneNodeHereAsASingleNodeJob) {
  const auto launches = plan({"a", "b"}, {job(1, {"a", "other-group-1"})});
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_FALSE(launches[0].all_or_nothing);
}

TEST(LaunchPlan, NamesTheJobOfALaunchThatHasButOne) {
  EXPECT_EQ(plan({"a", "b"}, {job(1, {"a"}), job(2, {"a", "b", "c"})}, LaunchStrategy::best_effort).at(0).job, 2U);
  EXPECT_EQ(plan({"a"}, {job(4, {"a"})}).at(0).job, 4U);
  EXPECT_FALSE(plan({"a", "b"}, {job(4, {"a"})}).at(0).job);
}

TEST(LaunchPlan, ByJobGivesEachJobItsLaunchWhateverTheStrategy) {
  const std::vector<NodeName> nodes{"a", "b", "c", "d", "e"};
  const std::optional jobs{std::vector{job(8, {"e"}), job(9, {"b", "c", "e"}), job(10, {"e"})}};
  for (const auto strategy : {LaunchStrategy::best_effort, LaunchStrategy::all_or_nothing}) {
    const auto launches = plan_launches(nodes, strategy, jobs, true);
    ASSERT_THAT(launches, SizeIs(3));
    EXPECT_EQ(launches[0].job, 8U);
    EXPECT_THAT(launches[0].nodes, ElementsAre("e")) << "shared: it goes with the first";
    EXPECT_FALSE(launches[0].all_or_nothing);
    EXPECT_EQ(launches[1].job, 9U);
    EXPECT_THAT(launches[1].nodes, ElementsAre("b", "c"));
    EXPECT_EQ(launches[1].all_or_nothing, strategy == LaunchStrategy::all_or_nothing);
    EXPECT_FALSE(launches[2].job) << "asked for by hand";
    EXPECT_THAT(launches[2].nodes, ElementsAre("a", "d"));
  }
}

TEST(LaunchPlan, ByJobWithoutTheJobsIsOneLaunch) {
  const std::vector<NodeName> nodes{"a", "b"};
  const auto launches = plan_launches(nodes, LaunchStrategy::best_effort, std::nullopt, true);
  ASSERT_THAT(launches, SizeIs(1));
  EXPECT_FALSE(launches[0].job);
  EXPECT_FALSE(launches[0].all_or_nothing);
}

TEST(LaunchPlan, HasEveryNodeInExactlyOneLaunch) {
  const std::vector<NodeName> nodes{"a", "b", "c", "d", "e", "f"};
  const std::optional jobs{
      std::vector{job(1, {"a", "b", "c"}), job(2, {"c", "d"}), job(3, {"a", "b"}), job(4, {"f"}), job(5, {"e", "e"})}};
  for (const bool by_job : {false, true}) {
    const auto all = counts(plan_launches(nodes, LaunchStrategy::all_or_nothing, jobs, by_job));
    EXPECT_THAT(all, SizeIs(nodes.size()));
    EXPECT_THAT(all, Each(Pair(testing::_, 1)));
  }
}

}  // namespace
}  // namespace burst
