// SPDX-License-Identifier: Apache-2.0
// Names, links and times as Compute Engine writes them.
#include "gce/names.h"

#include <gtest/gtest.h>

namespace cloudsim::gce {
namespace {

TEST(Names, LinksOfAnyHostAreTheSameResource) {
  const std::string resource = "projects/p/zones/z/instances/n";
  EXPECT_EQ(without_host("https://www.googleapis.com/compute/v1/" + resource), resource);
  EXPECT_EQ(without_host("http://127.0.0.1:80/compute/v1/" + resource), resource);
  EXPECT_EQ(without_host(resource), resource);
  EXPECT_EQ(without_host("zones/z"), "zones/z");
  EXPECT_EQ(without_host(link_to(resource)), resource);
}

TEST(Names, SegmentsAreFoundByTheWordBefore) {
  EXPECT_EQ(segment_after("zones/z/instances/n", "zones"), "z");
  EXPECT_EQ(segment_after("https://h/compute/v1/projects/p/zones/z/instances/n", "instances"), "n");
  EXPECT_EQ(segment_after("n", "instances"), "");
  EXPECT_EQ(region_of_zone("us-central1-a"), "us-central1");
}

TEST(Names, OfResourcesHaveGoogleSForm) {
  EXPECT_TRUE(is_resource_name("n-10"));
  EXPECT_TRUE(is_resource_name(std::string(63, 'a')));
  for (const auto& name :
       {std::string(), std::string(64, 'a'), std::string("1n"), std::string("n-"), std::string("N")}) {
    EXPECT_FALSE(is_resource_name(name)) << name;
  }
  EXPECT_TRUE(is_uuid("123e4567-e89b-42d3-a456-426614174000"));
  EXPECT_FALSE(is_uuid("00000000-0000-0000-0000-000000000000"));
  EXPECT_FALSE(is_uuid("123e4567e89b42d3a456426614174000"));
}

TEST(Timestamps, ComeBackAsTheyWere) {
  const auto when = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'769'861'106'789));
  EXPECT_EQ(timestamp(when), "2026-01-31T04:05:06.789-08:00");
  EXPECT_EQ(parse_timestamp(timestamp(when)), when);
  EXPECT_EQ(parse_timestamp("2026-01-31T12:05:06.789Z"), when);
  EXPECT_EQ(parse_timestamp("2026-01-31"), std::nullopt);
}

}  // namespace
}  // namespace cloudsim::gce
