// SPDX-License-Identifier: Apache-2.0
// The keys of an `aws` node group, checked and read.
#include "providers/ec2/ec2_settings.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace burst::ec2 {
namespace {

using Json = nlohmann::ordered_json;
using Problems = std::vector<ConfigProblem>;

std::string found(const Json& value) {
  constexpr std::size_t longest = 60;
  std::string text = value.dump();
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

void expect(Problems& problems, bool holds, const std::string& pointer, std::string_view expected, const Json& value) {
  if (!holds) problems.push_back({true, fmt::format("{}: expected {}, found {}", pointer, expected, found(value))});
}

/// The member, or null when it is absent; an absent required one is a problem.
const Json* member(const Json& group, const std::string& key, bool required, Problems& problems) {
  const auto value = group.find(key);
  if (value != group.end()) return &*value;
  if (required) problems.push_back({true, fmt::format("/{}: missing, it is required for an aws node group", key)});
  return nullptr;
}

void check_region(const Json& group, Problems& problems) {
  const Json* region = member(group, "Region", true, problems);
  if (region == nullptr) return;
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  const bool good =
      region->is_string() && !region->get_ref<const std::string&>().empty() &&
      std::all_of(region->get_ref<const std::string&>().begin(), region->get_ref<const std::string&>().end(), fits);
  expect(problems, good, "/Region", R"(the name of an AWS region such as "us-east-1")", *region);
}

void check_purchasing(const Json& group, Problems& problems) {
  const Json* option = member(group, "PurchasingOption", true, problems);
  if (option == nullptr) return;
  expect(problems, *option == "spot" || *option == "on-demand", "/PurchasingOption", R"("spot" or "on-demand")",
         *option);
  const auto interruption = nlohmann::json_pointer<std::string>("/SpotOptions/InstanceInterruptionBehavior");
  if (group.contains(interruption) && group.at(interruption) != "terminate") {
    problems.push_back({false,
                        "/SpotOptions/InstanceInterruptionBehavior: a Slurm node can't be stopped or hibernated; "
                        "\"terminate\" is used"});
  }
}

void check_overrides(const Json& group, Problems& problems) {
  const Json* overrides = member(group, "LaunchTemplateOverrides", true, problems);
  if (overrides == nullptr) return;
  expect(problems, overrides->is_array(), "/LaunchTemplateOverrides", "an array of objects", *overrides);
  if (!overrides->is_array()) return;
  const bool has_subnets = group.contains("SubnetIds") && !group["SubnetIds"].empty();
  for (std::size_t i = 0; i < overrides->size(); ++i) {
    const Json& item = (*overrides)[i];
    const std::string pointer = fmt::format("/LaunchTemplateOverrides/{}", i);
    expect(problems, item.is_object(), pointer, "an object", item);
    if (!item.is_object()) continue;
    if (has_subnets && item.contains("SubnetId"))
      problems.push_back({false, pointer + "/SubnetId: replaced by each of SubnetIds"});
    if (item.contains("WeightedCapacity") && item["WeightedCapacity"] != 1)
      problems.push_back({false, pointer + "/WeightedCapacity: a machine is one node; 1 is used"});
  }
}

void check_subnets(const Json& group, Problems& problems) {
  const Json* subnets = member(group, "SubnetIds", true, problems);
  if (subnets == nullptr) return;
  expect(problems, subnets->is_array(), "/SubnetIds", "an array of strings", *subnets);
  if (!subnets->is_array()) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < subnets->size(); ++i) {
    const Json& subnet = (*subnets)[i];
    const std::string pointer = fmt::format("/SubnetIds/{}", i);
    expect(problems, subnet.is_string(), pointer, "a string", subnet);
    if (subnet.is_string() && !seen.insert(subnet.get<std::string>()).second)
      problems.push_back({true, fmt::format("{}: {} stands there twice", pointer, found(subnet))});
  }
}

void check_launch_template(const Json& group, Problems& problems) {
  const Json* specification = member(group, "LaunchTemplateSpecification", true, problems);
  if (specification == nullptr) return;
  expect(problems, specification->is_object(), "/LaunchTemplateSpecification", "an object", *specification);
  if (!specification->is_object()) return;
  const bool by_name = specification->contains("LaunchTemplateName");
  const bool by_id = specification->contains("LaunchTemplateId");
  expect(problems, by_name != by_id, "/LaunchTemplateSpecification", "either LaunchTemplateName or LaunchTemplateId",
         *specification);
}

Problems check_settings(const Json& group) {
  Problems problems;
  check_region(group, problems);
  check_purchasing(group, problems);
  check_launch_template(group, problems);
  check_overrides(group, problems);
  check_subnets(group, problems);
  for (const char* key : {"OnDemandOptions", "SpotOptions"}) {
    if (const Json* options = member(group, key, false, problems))
      expect(problems, options->is_object(), std::string("/") + key, "an object", *options);
  }
  if (const Json* profile = member(group, "ProfileName", false, problems))
    expect(problems, profile->is_string(), "/ProfileName", "a string", *profile);
  return problems;
}

void set_tag(Tags& tags, const std::string& key, const std::string& value) {
  if (key == "Name") return;  // bears the node's name; suspend depends on it
  const auto same = std::find_if(tags.begin(), tags.end(), [&](const auto& tag) { return tag.first == key; });
  if (same == tags.end()) {
    tags.emplace_back(key, value);
  } else {
    same->second = value;
  }
}

}  // namespace

GroupSettings parse_settings(const Config& config, const NodeGroup& group) {
  const Json& json = *group.settings;
  GroupSettings settings;
  settings.json = group.settings;
  settings.region = json.value("Region", "");
  settings.profile = json.value("ProfileName", "");
  settings.spot = json.value("PurchasingOption", "") == "spot";
  settings.subnets = json.value("SubnetIds", std::vector<std::string>{});
  for (const auto& [key, value] : config.machine_tags) set_tag(settings.tags, key, value);
  if (const auto tags = json.find("Tags"); tags != json.end()) {
    for (const auto& tag : *tags) set_tag(settings.tags, tag.value("Key", ""), tag.value("Value", ""));
  }
  return settings;
}

ProviderKeys settings_keys() {
  return {"aws",
          {"Region", "ProfileName", "PurchasingOption", "OnDemandOptions", "SpotOptions", "LaunchTemplateSpecification",
           "LaunchTemplateOverrides", "SubnetIds"},
          &check_settings};
}

}  // namespace burst::ec2
