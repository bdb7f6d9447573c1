// SPDX-License-Identifier: Apache-2.0
// Amounts as Kubernetes writes them.
#include "kubernetes/quantity.h"

#include <gtest/gtest.h>

namespace cloudsim::kubernetes {
namespace {

TEST(Quantity, IsReadWithEverySuffix) {
  EXPECT_EQ(parse_quantity("1"), 1000);
  EXPECT_EQ(parse_quantity("500m"), 500);
  EXPECT_EQ(parse_quantity("0.5"), 500);
  EXPECT_EQ(parse_quantity("2Ki"), 2048 * 1000);
  EXPECT_EQ(parse_quantity("1e3"), 1'000'000);
  EXPECT_EQ(parse_quantity("3M"), 3'000'000'000);
  EXPECT_EQ(parse_quantity("100n"), 1) << "rounded up";
}

TEST(Quantity, IsNotReadFromOtherText) {
  for (const char* const text : {"", "four", "1 Gi", "1GiB", "Gi", "--1"}) {
    EXPECT_EQ(parse_quantity(text), std::nullopt) << text;
  }
}

TEST(Quantity, IsWrittenInItsLargestWholeUnit) {
  EXPECT_EQ(format_quantity(1500, false), "1500m");
  EXPECT_EQ(format_quantity(4000, false), "4");
  EXPECT_EQ(format_quantity(2'000'000, false), "2k");
  EXPECT_EQ(format_quantity(3LL * 1024 * 1024 * 1024 * 1000, true), "3Gi");
  EXPECT_EQ(format_quantity(0, true), "0");
}

}  // namespace
}  // namespace cloudsim::kubernetes
