// SPDX-License-Identifier: Apache-2.0
// Settings that a test turns: those of Compute Engine, under the key `gce`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "event_loop.h"

namespace cloudsim::gce {

struct CapacityRule {
  std::string type = "*";      ///< machine type
  std::string where = "*";     ///< zone or region
  std::string model = "*";     ///< STANDARD, SPOT, RESERVATION_BOUND, FLEX_START
  std::int64_t available = 0;  ///< machines that can still be made; launches take, ends give back
  std::string code = "ZONE_RESOURCE_POOL_EXHAUSTED";
};

struct TemplateSeed {
  std::string name, region;  ///< region: empty for a global one
  nlohmann::json properties;
};

struct GceKnobs {
  Millis visible{0};                          ///< until lists show a new machine
  Millis address{0};                          ///< until it has networkIP
  Millis operation{0};                        ///< from a mutating call to its operation's end
  Millis wait{120'000};                       ///< the longest that a wait call waits
  std::optional<Millis> accepted{Millis{0}};  ///< how long a resize request is queued; nothing: until a test says
  Millis retry{1'000};                        ///< between attempts of a queued resize request to get its machines
  double run_duration_scale = 1;              ///< of maximum run durations, so that a test need not wait
  bool insert_operations = true;         ///< false: a bulkInsert that fails as a whole tells nothing of its machines
  bool service_agent_permission = true;  ///< false: a MIG may not create machines
  bool refuse_delete_of_active_mig = false;  ///< else the deletion waits for the active resize request
  std::optional<std::int64_t> vm_quota;      ///< machines in a region
  std::set<std::string> unreachable;         ///< zones
  std::vector<CapacityRule> capacity;
  std::vector<std::string> projects{"cloudsim-project"};  ///< none: any
  std::string project_number = "123456789012";
  std::string user = "cloudsim@cloudsim-project.iam.gserviceaccount.com";
  std::map<std::string, std::vector<std::string>> regions;  ///< region -> letters of its zones
  std::vector<TemplateSeed> templates;
  std::string first_address = "127.20.0.1";

  GceKnobs();
  /// Sets one key. Throws std::invalid_argument or nlohmann::json::exception.
  void set(const std::string& key, const nlohmann::json& value);
  void set_capacity(const nlohmann::json& rule);  ///< adds or replaces one
};

}  // namespace cloudsim::gce
