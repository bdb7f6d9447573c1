// SPDX-License-Identifier: Apache-2.0
// EC2's XML replies, read.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "providers/ec2/ec2_settings.h"

namespace burst::ec2 {

struct Instance {
  std::string id, state;  ///< state: pending, running, shutting-down, terminated, stopping, stopped
  std::string address;    ///< private IPv4, else IPv6; may be empty just after the launch
  std::string private_dns, type, zone, state_reason;
  std::chrono::sys_seconds launched{};
  Tags tags;

  std::string tag(std::string_view key) const;  ///< empty when it is not there
};

struct DescribeReply {
  std::vector<Instance> instances;
  std::string next_token;
};

struct FleetError {
  std::string code, message;
};

struct FleetReply {
  std::string fleet_id, request_id;
  std::vector<std::string> instance_ids;
  std::vector<FleetError> errors;
};

struct ErrorReply {
  std::string code, message, request_id;
};

// Each throws Error{"InvalidReply"} for a text that is not the reply: never an empty result for a broken one.
DescribeReply parse_describe_instances(std::string_view xml);
FleetReply parse_create_fleet(std::string_view xml);

/// The error of a reply; nothing when the text holds none.
std::optional<ErrorReply> parse_error(std::string_view xml);

/// Whether a 200 reply is whole: it closes the element of its action.
bool is_whole(std::string_view xml, std::string_view action);

}  // namespace burst::ec2
