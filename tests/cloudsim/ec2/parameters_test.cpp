// SPDX-License-Identifier: Apache-2.0
// Parameters: known names, lists, filters, tags, pages.
#include "ec2/parameters.h"

#include <gtest/gtest.h>

namespace cloudsim::ec2 {
namespace {

/// The code of the error that `call` throws, or "".
template <typename Call>
std::string code_of(Call call) {
  try {
    call();
    return "";
  } catch (const ApiError& error) {
    return error.code();
  }
}

TEST(CheckNames, KnowsTheWireNamesAndRefusesTheOnesOfTheModel) {
  const auto check = [](const std::string& name) {
    return code_of([&] { check_names("CreateFleet", {{"Action", "CreateFleet"}, {name, ""}}); });
  };
  EXPECT_EQ(check("LaunchTemplateConfigs.12.Overrides.3.SubnetId"), "");
  EXPECT_EQ(check("TagSpecification.1.Tag.2.Key"), "");
  EXPECT_EQ(check("LaunchTemplateConfigs.1.Overrides.1.InstanceRequirements.CpuManufacturer.1"), "");
  EXPECT_EQ(check("TagSpecifications.1.Tags.2.Key"), "UnknownParameter");
  EXPECT_EQ(check("LaunchTemplateConfigs.1.Overrides.1.InstanceRequirements.CpuManufacturers.1"), "UnknownParameter");
  EXPECT_EQ(check("LaunchTemplateConfigs.Overrides.1.SubnetId"), "UnknownParameter");
  EXPECT_EQ(code_of([] { check_names("CreateFleets", {}); }), "InvalidAction");
}

TEST(MatchesWildcard, FollowsEc2) {
  EXPECT_TRUE(matches_wildcard("node-*", "node-"));
  EXPECT_TRUE(matches_wildcard("*-1", "node-1-1"));
  EXPECT_TRUE(matches_wildcard("n?d*", "nodes"));
  EXPECT_TRUE(matches_wildcard("*", ""));
  EXPECT_TRUE(matches_wildcard("a*b*c", "axxbyybc"));
  EXPECT_FALSE(matches_wildcard("node-*", "nodes"));
  EXPECT_FALSE(matches_wildcard("?", ""));
  EXPECT_FALSE(matches_wildcard("a*b", "axbx"));
}

TEST(ParseTags, RefusesWhatEc2Refuses) {
  const auto parse = [](const CallParameters& given) { return code_of([&] { parse_tags(Parameters(given)); }); };
  EXPECT_EQ(parse({{"Tag.1.Key", "a"}, {"Tag.1.Value", "1"}, {"Tag.2.Key", "b"}}), "");
  EXPECT_EQ(parse({{"Tag.1.Key", "a"}, {"Tag.2.Key", "a"}}), "InvalidParameterValue");
  EXPECT_EQ(parse({{"Tag.1.Key", "aws:a"}}), "InvalidParameterValue");
  EXPECT_EQ(parse({{"Tag.1.Key", std::string(129, 'a')}}), "InvalidParameterValue");
  EXPECT_EQ(parse({{"Tag.1.Value", "a"}}), "MissingParameter");
}

TEST(Parameters, ReadsListsAndStructuresUpToAGap) {
  const CallParameters given{{"Id.1", "a"}, {"Id.2", "b"}, {"Id.4", "d"}, {"F.1.Name", "x"}, {"F.2.Value.1", "y"}};
  const Parameters parameters(given);
  EXPECT_EQ(parameters.list("Id"), (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(parameters.structures("F").size(), 2U);
  EXPECT_EQ(parameters.structures("F")[1].list("Value"), (std::vector<std::string>{"y"}));
  EXPECT_EQ(code_of([&] { static_cast<void>(parameters.boolean("Id.1")); }), "InvalidParameterValue");
  EXPECT_EQ(code_of([&] { static_cast<void>(parameters.integer("Id.1", 0, 9)); }), "InvalidParameterValue");
}

TEST(ParsePage, UnderstandsItsOwnTokens) {
  const CallParameters given{{"MaxResults", "5"}, {"NextToken", page_token(77)}};
  const auto page = parse_page(Parameters(given), "InstanceId");
  EXPECT_EQ(page.limit, 5U);
  EXPECT_EQ(page.after, 77U);
  const CallParameters wrong{{"NextToken", "77"}};
  EXPECT_EQ(code_of([&] { static_cast<void>(parse_page(Parameters(wrong), "InstanceId")); }), "InvalidNextToken");
}

}  // namespace
}  // namespace cloudsim::ec2
