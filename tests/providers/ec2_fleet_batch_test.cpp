// SPDX-License-Identifier: Apache-2.0
// What becomes of EC2's machines when all-or-nothing launches come short.
#include "providers/ec2/ec2_fleet_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burst::ec2 {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class ShareMachines : public testing::Test {
 protected:
  FleetBatch& batch(std::size_t launch, std::vector<NodeName> nodes, std::vector<std::string> ids, bool whole = true) {
    FleetBatch& made = batches.emplace_back();
    made.launch = launch;
    made.nodes = std::move(nodes);
    made.instance_ids = std::move(ids);
    made.all_or_nothing = whole;
    if (is_short(made)) made.errors = {{"InsufficientInstanceCapacity", "none"}};
    return made;
  }
  void share() { moves = share_machines(batches, surplus); }

  std::vector<FleetBatch> batches;
  std::vector<std::string> surplus;
  std::vector<Move> moves;
};

TEST_F(ShareMachines, LeavesWholeLaunchesAndShortBestEffortOnesAlone) {
  batch(0, {"a", "b"}, {"i-1", "i-2"});
  batch(1, {"c", "d"}, {"i-3"}, false);
  share();
  EXPECT_THAT(batches[0].instance_ids, ElementsAre("i-1", "i-2"));
  EXPECT_THAT(batches[0].made_by, ElementsAre(0U, 0U));
  EXPECT_THAT(batches[1].instance_ids, ElementsAre("i-3"));
  EXPECT_THAT(moves, IsEmpty());
  EXPECT_THAT(surplus, IsEmpty());
}

TEST_F(ShareMachines, GivesOneLaunchNothingBackButAll) {
  batch(0, {"a", "b", "c"}, {"i-1", "i-2"});
  share();
  EXPECT_THAT(batches[0].instance_ids, IsEmpty());
  EXPECT_THAT(surplus, ElementsAre("i-1", "i-2"));
}

TEST_F(ShareMachines, MakesTheNextLaunchWholeAndThenServesSingleNodes) {
  batch(0, {"a", "b", "c", "d"}, {"i-1", "i-2", "i-3"});
  batch(1, {"e", "f"}, {"i-4"});
  batch(2, {"g", "h"}, {"i-5"}, false);
  share();
  EXPECT_THAT(batches[0].instance_ids, ElementsAre("i-1", "i-2", "i-3", "i-4")) << "together there are four";
  EXPECT_THAT(batches[1].instance_ids, IsEmpty());
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves[0].made_by, 1U);
  EXPECT_EQ(moves[0].instance_id, "i-4");
  EXPECT_EQ(moves[0].node, "d");
  EXPECT_THAT(surplus, IsEmpty());
}

TEST_F(ShareMachines, SkipsALaunchThatIsTooBigAndEndsWhatNobodyLacks) {
  batch(0, {"a", "b", "c", "d", "e"}, {"i-1", "i-2"});
  batch(1, {"f", "g"}, {"i-3"});
  batch(2, {"h", "i"}, {"i-4"}, false);
  share();
  EXPECT_THAT(batches[0].instance_ids, IsEmpty());
  EXPECT_THAT(batches[1].instance_ids, ElementsAre("i-3", "i-1")) << "its own stays where it was recorded";
  EXPECT_THAT(batches[2].instance_ids, ElementsAre("i-4", "i-2"));
  EXPECT_THAT(batches[2].made_by, ElementsAre(2U, 0U));
  EXPECT_THAT(moves, SizeIs(2));
  EXPECT_THAT(surplus, IsEmpty());
}

TEST_F(ShareMachines, KeepsLaunchesOfSeveralFleetsWhole) {
  batch(0, {"a", "b"}, {"i-1", "i-2"});
  batch(0, {"c", "d"}, {"i-3"});
  share();
  EXPECT_THAT(batches[0].instance_ids, IsEmpty());
  EXPECT_THAT(batches[1].instance_ids, IsEmpty());
  EXPECT_THAT(surplus, ElementsAre("i-1", "i-2", "i-3"));
  ASSERT_THAT(batches[0].errors, SizeIs(1)) << "the whole fleet's nodes bear the other's reason";
}

}  // namespace
}  // namespace burst::ec2
