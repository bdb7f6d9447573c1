// SPDX-License-Identifier: Apache-2.0
// What exists in the simulated EC2.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ec2/parameters.h"
#include "token_bucket.h"

namespace cloudsim::ec2 {

enum class InstanceState { pending = 0, running = 16, shutting_down = 32, terminated = 48 };
std::string_view name_of(InstanceState state);  ///< as EC2 spells it
bool is_live(InstanceState state);              ///< pending or running

struct Instance {
  std::string id;
  std::uint64_t sequence = 0;  ///< the order of launches
  std::string region, zone, subnet_id, type, image_id, address, hostname;
  std::string reservation_id, fleet_id, client_token, template_id, template_version, placement_group, role;
  bool spot = false;
  bool boots = true;  ///< runs the boot command once it is running
  bool metadata_tags = false;
  bool termination_protected = false;
  bool frozen = false;
  InstanceState state = InstanceState::pending;
  std::string reason_code, reason_message;
  std::chrono::system_clock::time_point launched{};
  std::chrono::system_clock::time_point visible_from{};
  std::chrono::steady_clock::time_point address_from{};
  Tags tags;
};

struct LaunchTemplate {
  std::string id, name;
  CallParameters data;  ///< LaunchTemplateData.*, without that prefix
  Tags tags;
  std::chrono::system_clock::time_point created{};
};

struct Subnet {
  std::string id, zone, cidr;
  Tags tags;
};

/// The result that a repeated client token gets again.
struct RememberedCall {
  CallParameters parameters;
  std::string body;
};

struct Region {
  std::string name;
  std::map<std::uint64_t, std::unique_ptr<Instance>> instances;  ///< in the order of their launches
  std::unordered_map<std::string, Instance*> by_id;
  std::vector<LaunchTemplate> templates;
  std::vector<Subnet> subnets;
  std::map<std::string, RememberedCall> remembered;  ///< ACTION/TOKEN
  std::map<std::string, TokenBucket> buckets;
};

}  // namespace cloudsim::ec2
