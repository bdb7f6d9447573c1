// SPDX-License-Identifier: Apache-2.0
// What the programs share: nodes by group, work side by side, faults of one group.
#include "programs/suite.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "programs/programs_fixture.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class GroupNodesTest : public ProgramsTest {
 protected:
  GroupedNodes group(const std::vector<NodeName>& nodes) { return group_nodes(nodes, config, world.log); }
};

TEST_F(GroupNodesTest, PutsNodesWithTheirGroupsInTheOrderOfTheHostlist) {
  const auto grouped = group({"aws-gpu-1", "aws-node-0", "aws-gpu-0"});
  EXPECT_TRUE(grouped.complete);
  ASSERT_THAT(grouped.groups, SizeIs(2));
  EXPECT_EQ(grouped.groups[0].group->key(), "aws-gpu");
  EXPECT_THAT(grouped.groups[0].nodes, ElementsAre("aws-gpu-1", "aws-gpu-0"));
  EXPECT_THAT(grouped.groups[1].nodes, ElementsAre("aws-node-0"));
  EXPECT_THAT(world.log.lines, IsEmpty());
}

TEST_F(GroupNodesTest, TakesTheLastIdAndNotTheOneBehindIt) {
  EXPECT_TRUE(group({"aws-node-9"}).complete);
  const auto grouped = group({"aws-node-10"});
  EXPECT_FALSE(grouped.complete);
  EXPECT_THAT(grouped.groups, IsEmpty());
}

TEST_F(GroupNodesTest, LeavesOutWhatIsNoNodeOfTheConfiguration) {
  for (const auto* name : {"aws", "aws-node", "aws-node-x", "aws-other-1", "other-node-1", "aws-node-01",
                           "aws-node-4294967296", "aws-node--1"}) {
    const auto grouped = group({name});
    EXPECT_FALSE(grouped.complete) << name;
    EXPECT_THAT(grouped.groups, IsEmpty()) << name;
    EXPECT_EQ(lines(LogLevel::error, name), 1U) << name;
    world.log.lines.clear();
  }
}

TEST(RunSideBySide, DoesEachIndexOnce) {
  for (const std::size_t threads : {1U, 3U, 16U, 100U}) {
    std::array<std::atomic<int>, 40> done{};
    run_side_by_side(
        done.size(), [&](std::size_t i) { ++done.at(i); }, threads);
    for (const auto& count : done) EXPECT_EQ(count, 1) << threads;
  }
}

TEST(RunSideBySide, DoesNothingForNone) {
  run_side_by_side(0, [](std::size_t) { FAIL(); });
}

TEST(RunSideBySide, RunsASingleOneInTheCallersThread) {
  std::thread::id id;
  run_side_by_side(1, [&](std::size_t) { id = std::this_thread::get_id(); });
  EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(RunSideBySide, RunsNoMoreAtOnceThanItMay) {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;
  int most = 0;
  int met = 0;
  run_side_by_side(
      6,
      [&](std::size_t) {
        std::unique_lock lock(mutex);
        most = std::max(most, ++running);
        changed.notify_all();
        if (changed.wait_for(lock, std::chrono::seconds{10}, [&] { return most == 3; })) ++met;
        --running;
      },
      3);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(met, 6);
}

class FaultOf : public ProgramsTest {
 protected:
  const NodeGroup& group = config.partitions[0].groups[0];
};

TEST_F(FaultOf, IsNothingWhenTheWorkIsDone) {
  EXPECT_FALSE(fault_of(group, world.log, [] {}));
  EXPECT_THAT(world.log.lines, IsEmpty());
}

TEST_F(FaultOf, NamesTheGroupAndTheCode) {
  const auto fault = fault_of(group, world.log, [] { throw Error("AuthFailure", "no such key"); });
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, "AuthFailure");
  EXPECT_EQ(fault->message, "no such key");
  EXPECT_EQ(lines(LogLevel::error, "aws-node: AuthFailure: no such key"), 1U);
}

TEST_F(FaultOf, TakesWhatIsNoErrorOfOursAsAnInternalOne) {
  const auto fault = fault_of(group, world.log, [] { throw std::out_of_range("map::at"); });
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, "InternalError");
  EXPECT_EQ(lines(LogLevel::error, "map::at"), 1U);
}

}  // namespace
}  // namespace burst
