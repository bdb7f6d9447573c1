// SPDX-License-Identifier: Apache-2.0
// Which names are nodes of ours.
#include "burst/node_name.h"

#include <gtest/gtest.h>

namespace burst {
namespace {

TEST(NodeName, SplitsPartitionGroupAndId) {
  const auto parts = parse_node_name("aws-gpu-17");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->partition, "aws");
  EXPECT_EQ(parts->group, "gpu");
  EXPECT_EQ(parts->id, "17");
  EXPECT_EQ(parts->number, 17U);
}

TEST(NodeName, KeepsTheIdAsItIsWritten) {
  const auto parts = parse_node_name("A1-0z-007");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->id, "007");
  EXPECT_EQ(parts->number, 7U);
}

TEST(NodeName, TakesTheLargestId) {
  EXPECT_EQ(parse_node_name("a-b-4294967295")->number, 4294967295U);
  EXPECT_EQ(parse_node_name("a-b-0000000000000000000001")->number, 1U);
}

TEST(NodeName, RefusesEveryOtherForm) {
  for (const auto* name :
       {"", "-", "--", "a-b", "a-b-", "a--1", "-b-1", "a-b-c", "a-b-1x", "a-b-c-1", "a_b-c-1", "a-b.c-1", "a-b-1\n",
        "a-b- 1", "a-b-+1", "a-b--1", "\xc3\xa4-b-1", "a-b-4294967296", "a-b-99999999999999999999999"}) {
    EXPECT_FALSE(parse_node_name(name)) << name;
  }
}

}  // namespace
}  // namespace burst
