// SPDX-License-Identifier: Apache-2.0
#include "providers/ec2/ec2_fleet.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace burst::ec2 {
namespace {

GroupSettings settings(const char* json, Tags tags = {}) {
  NodeGroup group;
  group.settings = std::make_shared<const nlohmann::ordered_json>(nlohmann::ordered_json::parse(json));
  GroupSettings result = parse_settings(Config{}, group);
  result.tags = std::move(tags);
  return result;
}

std::string value(const Parameters& parameters, std::string_view name) {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == name; });
  return found == parameters.end() ? "(absent)" : found->second;
}

constexpr const char* kGroup = R"({"Region": "us-east-1", "PurchasingOption": "on-demand",
  "OnDemandOptions": {"AllocationStrategy": "lowest-price",
                      "CapacityReservationOptions": {"UsageStrategy": "use-capacity-reservations-first"}},
  "LaunchTemplateSpecification": {"LaunchTemplateName": "t", "Version": "$Latest"},
  "LaunchTemplateOverrides": [{"InstanceType": "c5.xlarge", "Placement": {"GroupName": "g"}}, {"InstanceType": "c4.xlarge"}],
  "SubnetIds": ["subnet-1", "subnet-2"]})";

TEST(Ec2Fleet, PassesEveryOptionThrough) {
  const auto p = create_fleet_parameters(settings(kGroup), {"token", 8, false, {{"k", "v"}}});
  EXPECT_EQ(value(p, "Type"), "instant");
  EXPECT_EQ(value(p, "ClientToken"), "token");
  EXPECT_EQ(value(p, "TargetCapacitySpecification.TotalTargetCapacity"), "8");
  EXPECT_EQ(value(p, "TargetCapacitySpecification.DefaultTargetCapacityType"), "on-demand");
  EXPECT_EQ(value(p, "OnDemandOptions.AllocationStrategy"), "lowest-price");
  EXPECT_EQ(value(p, "OnDemandOptions.CapacityReservationOptions.UsageStrategy"), "use-capacity-reservations-first");
  EXPECT_EQ(value(p, "LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName"), "t");
  EXPECT_EQ(value(p, "LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version"), "$Latest");
  EXPECT_EQ(value(p, "LaunchTemplateConfigs.1.Overrides.1.Placement.GroupName"), "g");
  EXPECT_EQ(value(p, "TagSpecification.1.ResourceType"), "instance");
  EXPECT_EQ(value(p, "TagSpecification.1.Tag.1.Key"), "k");
}

TEST(Ec2Fleet, MultipliesOverridesWithSubnets) {
  const auto p = create_fleet_parameters(settings(kGroup), {"t", 1, false, {}});
  const std::vector<std::pair<std::string, std::string>> expected{
      {"c5.xlarge", "subnet-1"}, {"c5.xlarge", "subnet-2"}, {"c4.xlarge", "subnet-1"}, {"c4.xlarge", "subnet-2"}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string prefix = "LaunchTemplateConfigs.1.Overrides." + std::to_string(i + 1);
    EXPECT_EQ(value(p, prefix + ".InstanceType"), expected[i].first);
    EXPECT_EQ(value(p, prefix + ".SubnetId"), expected[i].second);
    EXPECT_EQ(value(p, prefix + ".WeightedCapacity"), "1");
  }
  EXPECT_EQ(value(p, "LaunchTemplateConfigs.1.Overrides.5.SubnetId"), "(absent)");
}

TEST(Ec2Fleet, SubnetsWithoutOverridesAndOverridesWithoutSubnetsAreBothKept) {
  const auto subnets = create_fleet_parameters(
      settings(R"({"PurchasingOption": "spot", "LaunchTemplateOverrides": [], "SubnetIds": ["subnet-1"]})"),
      {"t", 1, false, {}});
  EXPECT_EQ(value(subnets, "LaunchTemplateConfigs.1.Overrides.1.SubnetId"), "subnet-1");
  const auto overrides = create_fleet_parameters(settings(R"({"PurchasingOption": "spot", "SubnetIds": [],
                   "LaunchTemplateOverrides": [{"InstanceType": "a", "SubnetId": "subnet-9"}]})"),
                                                 {"t", 1, false, {}});
  EXPECT_EQ(value(overrides, "LaunchTemplateConfigs.1.Overrides.1.SubnetId"), "subnet-9");
}

TEST(Ec2Fleet, SpotInstancesAreAlwaysTerminatedWhenInterrupted) {
  const auto p = create_fleet_parameters(
      settings(R"({"PurchasingOption": "spot", "SpotOptions": {"AllocationStrategy": "price-capacity-optimized",
                   "InstanceInterruptionBehavior": "stop"}, "LaunchTemplateOverrides": [], "SubnetIds": []})"),
      {"t", 1, false, {}});
  EXPECT_EQ(value(p, "SpotOptions.InstanceInterruptionBehavior"), "terminate");
  EXPECT_EQ(value(p, "SpotOptions.AllocationStrategy"), "price-capacity-optimized");
  EXPECT_EQ(value(p, "TargetCapacitySpecification.DefaultTargetCapacityType"), "spot");
}

TEST(Ec2Fleet, AsksEc2ForAllOrNothingOnlyWhereItCanPromiseIt) {
  const char* one_pool = R"({"PurchasingOption": "on-demand", "LaunchTemplateOverrides": [{"InstanceType": "a"}],
                            "SubnetIds": ["subnet-1"]})";
  const auto p = create_fleet_parameters(settings(one_pool), {"t", 4, true, {}});
  EXPECT_EQ(value(p, "OnDemandOptions.MinTargetCapacity"), "4");
  EXPECT_EQ(value(p, "OnDemandOptions.SingleInstanceType"), "true");
  const auto many = create_fleet_parameters(settings(kGroup), {"t", 4, true, {}});
  EXPECT_EQ(value(many, "OnDemandOptions.MinTargetCapacity"), "(absent)");
  const auto best = create_fleet_parameters(settings(one_pool), {"t", 4, false, {}});
  EXPECT_EQ(value(best, "OnDemandOptions.MinTargetCapacity"), "(absent)");
}

TEST(Ec2Fleet, LaunchTagsBearTheClusterAndTheTagsThatDoNotDependOnTheNode) {
  NodeGroup group;
  group.partition = "aws";
  group.name = "gpu";
  const auto tags = launch_tags(settings("{}", {{"Team", "x"}, {"Host", "{hostname}"}}), group, "prod", "sb-1");
  EXPECT_EQ(tags, (Tags{{"slurm-burst:cluster", "prod"},
                        {"slurm-burst:partition", "aws"},
                        {"slurm-burst:node-group", "gpu"},
                        {"slurm-burst:launch", "sb-1"},
                        {"Team", "x"}}));
}

TEST(Ec2Fleet, EachNodeGetsItsOwnValuesInTags) {
  // The Python plugin's fault R12: from the second node on, tags carried the first node's values.
  const auto group = settings("{}", {{"A", "{node_name}/{ip_address}"}, {"B", "h={hostname}"}, {"C", "same"}});
  Machine first;
  first.address = "10.0.0.1";
  first.hostname = "ip-10-0-0-1";
  Machine second;
  second.address = "10.0.0.2";
  second.hostname = "ip-10-0-0-2";
  EXPECT_EQ(node_tags(group, "aws-n-0", first),
            (Tags{{"Name", "aws-n-0"}, {"A", "aws-n-0/10.0.0.1"}, {"B", "h=ip-10-0-0-1"}}));
  EXPECT_EQ(node_tags(group, "aws-n-1", second),
            (Tags{{"Name", "aws-n-1"}, {"A", "aws-n-1/10.0.0.2"}, {"B", "h=ip-10-0-0-2"}}));
}

TEST(Ec2Fleet, WithoutAnAddressOnlyTagsThatNeedOneAreLeftOut) {
  const auto group = settings("{}", {{"A", "{ip_address}"}, {"B", "{node_name}"}});
  EXPECT_EQ(node_tags(group, "aws-n-0", Machine{}), (Tags{{"Name", "aws-n-0"}, {"B", "aws-n-0"}}));
}

TEST(Ec2Fleet, HostNamesComeFromEc2AndAreGuessedOnlyWithoutOne) {
  Instance instance;
  instance.address = "10.0.0.7";
  EXPECT_EQ(to_machine(instance).hostname, "ip-10-0-0-7");
  instance.private_dns = "i-0123.ec2.internal";
  EXPECT_EQ(to_machine(instance).hostname, "i-0123");
  instance.private_dns.clear();
  instance.address = "2001:db8::1";
  EXPECT_EQ(to_machine(instance).hostname, "");
}

TEST(Ec2Fleet, TheMainErrorIsTheOneThatAnotherGroupCanHelp) {
  const std::vector<FleetError> errors{{"InvalidSubnetID.NotFound", "a"},
                                       {"VcpuLimitExceeded", "b"},
                                       {"InsufficientInstanceCapacity", "c"},
                                       {"VcpuLimitExceeded", "b"}};
  const auto main = main_error(errors);
  EXPECT_EQ(main.code, "InsufficientInstanceCapacity");
  EXPECT_EQ(main.message, "c (also: InvalidSubnetID.NotFound, VcpuLimitExceeded)");
  EXPECT_EQ(main_error({}).code, "FleetShort");
}

}  // namespace
}  // namespace burst::ec2
