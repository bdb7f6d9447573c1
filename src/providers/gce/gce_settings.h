// SPDX-License-Identifier: Apache-2.0
// The keys of a `gce` node group.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/config.h"

namespace burst::gce {

enum class ProvisioningModel { standard, spot, reservation_bound, flex_start };

/// Label keys and values, as Compute Engine takes them: [a-z0-9_-], at most 63, keys begin with a letter.
using Labels = std::map<std::string, std::string>;

/// One node group's Compute Engine side; see docs/providers/gce.md.
struct GroupSettings {
  std::string project, region;
  std::vector<std::string> zones;  ///< names; empty: Google's choice within the region
  std::string instance_template;   ///< `projects/P/global/instanceTemplates/NAME` or `.../regions/R/...`
  ProvisioningModel model = ProvisioningModel::standard;
  std::chrono::seconds flex_max_duration{604'800};  ///< FlexStartMaxDuration, not below the 600 s of a resize request
  bool flex_use_job_duration = false;               ///< FlexStartUseJobDuration
  std::chrono::seconds boot_timeout{1'800};         ///< BootTimeout: from a flex machine's creation to its registration
  std::shared_ptr<const nlohmann::ordered_json> instance_properties;  ///< InstanceProperties; `{}` when absent
  std::string reservation;      ///< Reservation: name, or `projects/P/reservations/NAME`; empty: none
  std::string resource_policy;  ///< Placement: `projects/P/regions/R/resourcePolicies/NAME`; empty: none
  Labels labels;                ///< MachineTags, then the group's Labels; a group's label wins
  std::string credentials_file, impersonate_service_account;
};

/// A text as a label's value: lower case, other characters than [a-z0-9_-] become '-'; what was changed or cut bears a
/// short hash of the whole at its end, so that two different texts never give one value.
std::string label_value(const std::string& text);

/// Of a group that check_settings() found nothing fatal in.
GroupSettings parse_settings(const Config& config, const NodeGroup& group);

/// The keys that a `gce` group may have besides the common ones, and their check.
ProviderKeys settings_keys();

}  // namespace burst::gce
