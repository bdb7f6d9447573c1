// SPDX-License-Identifier: Apache-2.0
#include "providers/ec2/ec2_settings.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace burst::ec2 {
namespace {

using Json = nlohmann::ordered_json;

Json good() {
  return Json::parse(R"({"Region": "us-east-1", "PurchasingOption": "spot", "SpotOptions": {},
    "LaunchTemplateSpecification": {"LaunchTemplateName": "t", "Version": "$Latest"},
    "LaunchTemplateOverrides": [{"InstanceType": "c5.xlarge"}], "SubnetIds": ["subnet-1"]})");
}

TEST(Ec2Settings, AcceptsThePythonPluginsGroup) { EXPECT_TRUE(settings_keys().check(good()).empty()); }

struct Case {
  const char* patch;  ///< JSON merge patch on the good group
  const char* problem;
  bool fatal;
};

class Ec2SettingsProblems : public testing::TestWithParam<Case> {};

TEST_P(Ec2SettingsProblems, AreNamedByPointerExpectedAndFound) {
  Json group = good();
  group.merge_patch(Json::parse(GetParam().patch));
  const auto problems = settings_keys().check(group);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].message, GetParam().problem);
  EXPECT_EQ(problems[0].fatal, GetParam().fatal);
}

INSTANTIATE_TEST_SUITE_P(
    All, Ec2SettingsProblems,
    testing::Values(
        Case{R"({"Region": null})", "/Region: missing, it is required for an aws node group", true},
        Case{R"({"Region": "us east"})",
             "/Region: expected the name of an AWS region such as \"us-east-1\", found \"us east\"", true},
        Case{R"({"Region": 5})", "/Region: expected the name of an AWS region such as \"us-east-1\", found 5", true},
        Case{R"({"PurchasingOption": "cheap"})",
             "/PurchasingOption: expected \"spot\" or \"on-demand\", found \"cheap\"", true},
        Case{R"({"LaunchTemplateSpecification": {"LaunchTemplateId": "lt-1"}})",
             "/LaunchTemplateSpecification: expected either LaunchTemplateName or LaunchTemplateId, found "
             "{\"LaunchTemplateName\":\"t\",\"Version\":\"$Latest\",\"LaunchTemplat...",
             true},
        Case{R"({"LaunchTemplateOverrides": {}})", "/LaunchTemplateOverrides: expected an array of objects, found {}",
             true},
        Case{R"({"LaunchTemplateOverrides": ["c5.large"]})",
             "/LaunchTemplateOverrides/0: expected an object, found \"c5.large\"", true},
        Case{R"({"LaunchTemplateOverrides": [{"SubnetId": "subnet-1"}]})",
             "/LaunchTemplateOverrides/0/SubnetId: replaced by each of SubnetIds", false},
        Case{R"({"LaunchTemplateOverrides": [{"WeightedCapacity": 2}]})",
             "/LaunchTemplateOverrides/0/WeightedCapacity: a machine is one node; 1 is used", false},
        Case{R"({"SubnetIds": ["subnet-1", "subnet-1"]})", "/SubnetIds/1: \"subnet-1\" stands there twice", true},
        Case{R"({"SubnetIds": [1]})", "/SubnetIds/0: expected a string, found 1", true},
        Case{R"({"SpotOptions": []})", "/SpotOptions: expected an object, found []", true},
        Case{R"({"SpotOptions": {"InstanceInterruptionBehavior": "stop"}})",
             "/SpotOptions/InstanceInterruptionBehavior: a Slurm node can't be stopped or hibernated; \"terminate\" is "
             "used",
             false},
        Case{R"({"ProfileName": 1})", "/ProfileName: expected a string, found 1", true}));

TEST(Ec2Settings, AGroupsTagsWinOverMachineTagsAndNameIsLeftOut) {
  Config config;
  config.machine_tags = {{"Team", "all"}, {"Cost", "1"}, {"Name", "x"}};
  Json json = good();
  json["Tags"] = Json::parse(R"([{"Key": "Team", "Value": "gpu"}, {"Key": "Name", "Value": "mine"}])");
  NodeGroup group;
  group.settings = std::make_shared<const Json>(json);
  EXPECT_EQ(parse_settings(config, group).tags, (Tags{{"Cost", "1"}, {"Team", "gpu"}}));
}

}  // namespace
}  // namespace burst::ec2
