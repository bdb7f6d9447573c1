// SPDX-License-Identifier: Apache-2.0
// Gres in every form that slurm.conf knows, and the gres.conf made from it.
#include "core/gres.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burst {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// gres.conf of one group of three nodes.
std::string gres_of(const std::string& value, const std::string& key = "Gres") {
  NodeGroup group;
  group.partition = "p";
  group.name = "g";
  group.max_nodes = 3;
  group.slurm_specifications = {{"CPUs", "4"}, {key, value}};
  Config config;
  config.partitions.push_back({"p", {group}, {}});
  return gres_conf_text(config);
}

TEST(GresConfText, WritesEveryFormOfGpus) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"gpu", "Name=gpu File=/dev/nvidia0"},
      {"gpu:1", "Name=gpu File=/dev/nvidia0"},
      {"gpu:4", "Name=gpu File=/dev/nvidia[0-3]"},
      {"GPU:4", "Name=gpu File=/dev/nvidia[0-3]"},
      {"gpu:a100", "Name=gpu Type=a100 File=/dev/nvidia0"},
      {"gpu:a100:8", "Name=gpu Type=a100 File=/dev/nvidia[0-7]"},
      {"gpu:a100:8(S:0-1)", "Name=gpu Type=a100 File=/dev/nvidia[0-7]"},
      {"gpu:4(S:0,1)", "Name=gpu File=/dev/nvidia[0-3]"},
      {"gpu:a100:no_consume:2", "Name=gpu Type=a100 File=/dev/nvidia[0-1]"},
      {"gpu:1g.5gb:2", "Name=gpu Type=1g.5gb File=/dev/nvidia[0-1]"},
      {"gpu:1g.5gb", "Name=gpu Type=1g.5gb File=/dev/nvidia0"},
      {"\"gpu:4\"", "Name=gpu File=/dev/nvidia[0-3]"}};
  for (const auto& [value, line] : table) EXPECT_EQ(gres_of(value), "NodeName=p-g-[0-2] " + line + "\n") << value;
}

TEST(GresConfText, NumbersDevicesOnOverTheTypesOfANode) {
  EXPECT_EQ(gres_of("gpu:a100:2(S:0,1),gpu:v100:1,gpu:t4:2"),
            "NodeName=p-g-[0-2] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"
            "NodeName=p-g-[0-2] Name=gpu Type=v100 File=/dev/nvidia2\n"
            "NodeName=p-g-[0-2] Name=gpu Type=t4 File=/dev/nvidia[3-4]\n");
}

TEST(GresConfText, CountsOtherResources) {
  EXPECT_EQ(gres_of("bandwidth:lustre:4G,license,shard:8,craynetwork:0"),
            "NodeName=p-g-[0-2] Name=bandwidth Type=lustre Count=4G\n"
            "NodeName=p-g-[0-2] Name=license Count=1\n"
            "NodeName=p-g-[0-2] Name=shard Count=8\n");
}

TEST(GresConfText, WritesNothingForACountOfNone) {
  EXPECT_EQ(gres_of("gpu:0"), "");
  EXPECT_EQ(gres_of("gpu:a100:0"), "");
  EXPECT_EQ(gres_of(""), "");
}

TEST(GresConfText, TakesTheOptionsNameWithoutCase) {
  EXPECT_EQ(gres_of("gpu:2", "GRES"), "NodeName=p-g-[0-2] Name=gpu File=/dev/nvidia[0-1]\n");
  EXPECT_EQ(gres_of("gpu:2", "GresTypes"), "");
}

TEST(ParseGres, LeavesOutAndReportsWhatIsMalformed) {
  for (const char* value : {"4", ":", "gpu:", "gpu::2", "gpu:a:b:2", "gpu:4(S:0", "gpu=4", "(S:0)", ",", "gpu:x:y:z"}) {
    std::vector<std::string> malformed;
    EXPECT_THAT(parse_gres(value, malformed), IsEmpty()) << value;
    EXPECT_FALSE(malformed.empty()) << value;
  }
  std::vector<std::string> malformed;
  EXPECT_EQ(parse_gres("gpu:2,4,shard", malformed).size(), 2U);
  EXPECT_THAT(malformed, ElementsAre("4"));
}

TEST(ParseGres, ReadsSuffixesOfCountsAndRefusesOverflow) {
  std::vector<std::string> malformed;
  EXPECT_EQ(parse_gres("a:4k", malformed)[0].count, 4096U);
  EXPECT_EQ(parse_gres("a:2P", malformed)[0].count, 2ULL << 50);
  EXPECT_THAT(malformed, IsEmpty());
  EXPECT_EQ(parse_gres("a:99999999999999999999", malformed)[0].type, "99999999999999999999");
  EXPECT_EQ(parse_gres("a:99999999P", malformed)[0].count, 1U);
}

}  // namespace
}  // namespace burst
