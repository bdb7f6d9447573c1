// SPDX-License-Identifier: Apache-2.0
// The keys of an `aws` node group.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/config.h"

namespace burst::ec2 {

using Tags = std::vector<std::pair<std::string, std::string>>;

/// One node group's EC2 side. JSON members are passed to CreateFleet as they are; see docs/providers/ec2.md.
struct GroupSettings {
  std::string region, profile;
  bool spot = false;                                   ///< PurchasingOption
  std::shared_ptr<const nlohmann::ordered_json> json;  ///< the whole group, for the members passed through
  std::vector<std::string> subnets;
  Tags tags;  ///< the configuration's MachineTags, then the group's own; a group's tag wins; `Name` is left out
};

/// Of a group that check_settings() found nothing fatal in.
GroupSettings parse_settings(const Config& config, const NodeGroup& group);

/// The keys that an `aws` group may have besides the common ones, and their check.
ProviderKeys settings_keys();

}  // namespace burst::ec2
