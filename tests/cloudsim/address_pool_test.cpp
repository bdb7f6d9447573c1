// SPDX-License-Identifier: Apache-2.0
// The private addresses that machines get.
#include "address_pool.h"

#include <set>

#include <gtest/gtest.h>

namespace cloudsim {
namespace {

TEST(AddressPool, LeavesOutTheFirstAndLastOfEachNetwork) {
  AddressPool pool;
  EXPECT_EQ(pool.take("127.10.0.253"), "127.10.0.253");
  EXPECT_EQ(pool.take("127.10.0.253"), "127.10.0.254");
  EXPECT_EQ(pool.take("127.10.0.253"), "127.10.1.1");
}

TEST(AddressPool, GivesFreshOnesFirstAndThenThoseGivenBack) {
  AddressPool pool;
  const auto first = pool.take("127.10.0.1");
  pool.give_back(first);
  std::set<std::string> taken;
  auto next = pool.take("127.10.0.1");
  while (next != first) {
    ASSERT_TRUE(taken.insert(next).second) << next;
    next = pool.take("127.10.0.1");
  }
  EXPECT_GT(taken.size(), 60'000U);
  pool.reset();
  EXPECT_EQ(pool.take("127.10.0.1"), "127.10.0.1");
}

}  // namespace
}  // namespace cloudsim
