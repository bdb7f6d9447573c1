// SPDX-License-Identifier: Apache-2.0
// Settings that a test turns: those of EC2, under the key `ec2`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "event_loop.h"

namespace cloudsim::ec2 {

struct CapacityRule {
  std::string type = "*";       ///< instance type
  std::string where = "*";      ///< subnet or availability zone
  std::string lifecycle = "*";  ///< spot, on-demand
  std::int64_t available = 0;   ///< machines that can still be launched; launches take, terminations give back
};

struct LongTermKey {
  std::string access_key_id, secret_access_key, arn;
};

struct TemplateSeed {
  std::string id, name;
  std::map<std::string, std::string> data;  ///< names as in LaunchTemplateData.*
};

struct SubnetSeed {
  std::string id;
  std::string zone;  ///< a letter: in every region; else a full name: in its region
  std::string cidr;
};

struct Ec2Knobs {
  Millis visible{0};  ///< until describe and tag calls find a new instance
  Millis address{0};  ///< until it has a private address
  std::int64_t fleet_extra = 0;
  std::optional<std::int64_t> vcpu_quota, spot_quota;
  std::vector<CapacityRule> capacity;
  bool metadata_tags = true;  ///< false: off, whatever the launch template says
  bool verify_signatures = true;
  std::string account = "123456789012";
  std::string role = "cloudsim-role";
  Millis credential_lifetime{3'600'000};
  std::string container_authorization;  ///< the header that the container endpoint asks for
  std::vector<LongTermKey> keys;
  std::vector<TemplateSeed> templates;
  std::vector<SubnetSeed> subnets;
  std::string first_address = "127.10.0.1";

  Ec2Knobs();
  /// Sets one key. Throws std::invalid_argument or nlohmann::json::exception.
  void set(const std::string& key, const nlohmann::json& value);
  void set_capacity(const nlohmann::json& rule);  ///< adds or replaces one
};

}  // namespace cloudsim::ec2
