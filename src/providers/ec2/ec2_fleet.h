// SPDX-License-Identifier: Apache-2.0
// What a launch asks EC2 Fleet for, and which tags its machines bear.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "burst/config.h"
#include "providers/ec2/ec2_query.h"
#include "providers/ec2/ec2_replies.h"
#include "providers/ec2/ec2_settings.h"

namespace burst::ec2 {

// Tags of every machine, from the moment that it exists. EC2 lets no blank and no `/` into a key that the instance
// metadata shows.
inline constexpr std::string_view kClusterTag = "slurm-burst:cluster";
inline constexpr std::string_view kPartitionTag = "slurm-burst:partition";
inline constexpr std::string_view kGroupTag = "slurm-burst:node-group";
inline constexpr std::string_view kLaunchTag = "slurm-burst:launch";

/// CreateFleet takes up to 10,000, DescribeInstances gives 1000 a page: one fleet, one page.
inline constexpr std::size_t kMachinesPerFleet = 1000;

struct FleetRequest {
  std::string client_token;
  std::size_t count = 0;
  bool all_or_nothing = false;
  Tags tags;  ///< in TagSpecifications of the launch itself
};

/// CreateFleet of type instant: everything of OnDemandOptions, SpotOptions, LaunchTemplateSpecification and
/// LaunchTemplateOverrides is passed through; overrides times subnets. All-or-nothing is asked of EC2 itself where it
/// can promise it (one pool: MinTargetCapacity needs a single type and zone).
Parameters create_fleet_parameters(const GroupSettings& settings, const FleetRequest& request);

/// The tags of the launch: cluster, partition, node group, launch id, and those of the user's that do not depend on
/// the node.
Tags launch_tags(const GroupSettings& settings, const NodeGroup& group, const std::string& cluster,
                 const std::string& launch_id);

/// The node's own: `Name`, then the user's with {node_name}, {ip_address}, {hostname}. Without an address those that
/// need one are left out.
Tags node_tags(const GroupSettings& settings, const NodeName& node, const Machine& machine);

Parameters create_tags_parameters(const std::string& instance_id, const Tags& tags);

/// The error that best says why a fleet came short: capacity before quota before the rest; FleetShort when EC2 gave
/// none. Other codes stand in its message.
FleetError main_error(std::span<const FleetError> errors);

Machine to_machine(const Instance& instance);

}  // namespace burst::ec2
