// SPDX-License-Identifier: Apache-2.0
// Settings that a test turns: those of EC2.
#include "ec2/ec2_knobs.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <unordered_map>

#include <nlohmann/json.hpp>

namespace cloudsim::ec2 {

namespace {

Millis millis(const nlohmann::json& value) { return Millis{value.get<std::int64_t>()}; }

std::optional<std::int64_t> optional_count(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::nullopt : std::optional(found->get<std::int64_t>());
}

void set_keys(Ec2Knobs& knobs, const nlohmann::json& list) {
  knobs.keys.clear();
  for (const auto& key : list) {
    knobs.keys.push_back({key.at("access_key_id"), key.at("secret_access_key"),
                          key.value("arn", "arn:aws:iam::" + knobs.account + ":user/cloudsim")});
  }
}

void add_templates(Ec2Knobs& knobs, const nlohmann::json& list) {
  for (const auto& seed : list) {
    knobs.templates.push_back(
        {seed.at("id"), seed.at("name"), seed.value("data", std::map<std::string, std::string>{})});
  }
}

void add_subnets(Ec2Knobs& knobs, const nlohmann::json& list) {
  for (const auto& seed : list) {
    knobs.subnets.push_back({seed.at("id"), seed.at("zone"), seed.value("cidr", "10.0.128.0/20")});
  }
}

}  // namespace

Ec2Knobs::Ec2Knobs() {
  keys = {{"AKIACLOUDSIM00000001", "cloudsim-secret-key", "arn:aws:iam::" + account + ":user/cloudsim"}};
  templates = {{"lt-0123456789abcdef0",
                "template-name",
                {{"ImageId", "ami-0123456789abcdef0"},
                 {"InstanceType", "t3.micro"},
                 {"MetadataOptions.InstanceMetadataTags", "enabled"}}}};
  subnets = {{"subnet-11111111", "a", "10.0.0.0/20"}, {"subnet-22222222", "b", "10.0.16.0/20"}};
}

void Ec2Knobs::set(const std::string& key, const nlohmann::json& value) {
  static const std::unordered_map<std::string, std::function<void(Ec2Knobs&, const nlohmann::json&)>> kSetters{
      {"visible_ms", [](auto& k, const auto& v) { k.visible = millis(v); }},
      {"address_ms", [](auto& k, const auto& v) { k.address = millis(v); }},
      {"fleet_extra", [](auto& k, const auto& v) { k.fleet_extra = v.template get<std::int64_t>(); }},
      {"quota",
       [](auto& k, const auto& v) {
         k.vcpu_quota = optional_count(v, "vcpus");
         k.spot_quota = optional_count(v, "spot_instances");
       }},
      {"capacity",
       [](auto& k, const auto& v) {
         k.capacity.clear();
         for (const auto& rule : v) {
           k.set_capacity(rule);
         }
       }},
      {"instance_metadata_tags", [](auto& k, const auto& v) { k.metadata_tags = v.template get<bool>(); }},
      {"verify_signatures", [](auto& k, const auto& v) { k.verify_signatures = v.template get<bool>(); }},
      {"account", [](auto& k, const auto& v) { k.account = v.template get<std::string>(); }},
      {"role", [](auto& k, const auto& v) { k.role = v.template get<std::string>(); }},
      {"credential_seconds", [](auto& k, const auto& v) { k.credential_lifetime = 1000 * millis(v); }},
      {"container_authorization",
       [](auto& k, const auto& v) { k.container_authorization = v.template get<std::string>(); }},
      {"credentials", [](auto& k, const auto& v) { set_keys(k, v); }},
      {"launch_templates", [](auto& k, const auto& v) { add_templates(k, v); }},
      {"subnets", [](auto& k, const auto& v) { add_subnets(k, v); }},
      {"first_address", [](auto& k, const auto& v) { k.first_address = v.template get<std::string>(); }},
  };
  const auto found = kSetters.find(key);
  if (found == kSetters.end()) {
    throw std::invalid_argument("unknown knob \"ec2." + key + "\"");
  }
  found->second(*this, value);
}

void Ec2Knobs::set_capacity(const nlohmann::json& rule) {
  CapacityRule wanted{rule.value("type", "*"), rule.value("where", "*"), rule.value("lifecycle", "*"),
                      rule.at("available").get<std::int64_t>()};
  const auto same = std::find_if(capacity.begin(), capacity.end(), [&](const auto& known) {
    return known.type == wanted.type && known.where == wanted.where && known.lifecycle == wanted.lifecycle;
  });
  if (same == capacity.end()) {
    capacity.push_back(std::move(wanted));
  } else {
    *same = std::move(wanted);
  }
}

}  // namespace cloudsim::ec2
