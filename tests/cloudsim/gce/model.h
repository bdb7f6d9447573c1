// SPDX-License-Identifier: Apache-2.0
// What exists in the simulated Compute Engine: machines, operations, templates.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "gce/failure.h"

namespace cloudsim::gce {

enum class InstanceState { provisioning, staging, running, stopping, terminated };
std::string_view name_of(InstanceState state);  ///< as Google spells it
bool is_live(InstanceState state);              ///< not stopping, not stopped

/// Where a machine is and what it is called.
struct Place {
  std::string project, zone, name;
  std::string resource() const { return "projects/" + project + "/zones/" + zone + "/instances/" + name; }
};

struct Instance {
  Place place;
  std::uint64_t id = 0;
  std::uint64_t sequence = 0;  ///< the order of launches
  std::string machine;         ///< its name at the machine boot
  std::string type, address;
  bool spot = false;
  bool holds_capacity = true;
  bool boots = true;  ///< runs the boot command once it is running
  bool frozen = false;
  InstanceState state = InstanceState::provisioning;
  nlohmann::json properties;  ///< InstanceProperties, overrides merged in
  std::string group;          ///< key of the MIG that it belongs to; empty: none
  std::chrono::system_clock::time_point launched{};
  std::optional<std::chrono::system_clock::time_point> ends;  ///< its maximum run duration is over then
  std::chrono::steady_clock::time_point visible_from{}, address_from{};
  std::vector<std::function<void()>> when_gone;
};

enum class OperationState { pending, running, done };

struct Operation {
  std::string project, location;  ///< location: "zones/Z", "regions/R" or "global"
  std::string name, type, target, user, group_id, description;
  std::uint64_t id = 0, target_id = 0;
  OperationState state = OperationState::pending;
  std::vector<Failure> errors;
  nlohmann::json bulk_insert;  ///< instancesBulkInsertOperationMetadata; null: none
  std::chrono::system_clock::time_point inserted{}, started{}, ended{};
  std::vector<std::function<void()>> when_done;
};

struct Template {
  std::string name, region;  ///< region: empty for a global one
  std::uint64_t id = 0;
  std::string description;
  nlohmann::json properties;
  std::chrono::system_clock::time_point created{};
};

}  // namespace cloudsim::gce
