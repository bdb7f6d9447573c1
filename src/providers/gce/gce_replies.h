// SPDX-License-Identifier: Apache-2.0
// Compute Engine's JSON replies, read.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "providers/gce/gce_errors.h"
#include "providers/gce/gce_settings.h"

namespace burst::gce {

struct Instance {
  std::string name, zone, status;  ///< status: PROVISIONING, STAGING, RUNNING, STOPPING, TERMINATED ...
  std::string address;             ///< of its first interface; empty until Google has given it one
  std::string hostname;            ///< its own, where it has one, else the name
  std::string type;
  Labels labels;
  std::chrono::sys_seconds created{};
  std::optional<std::chrono::sys_seconds> expires;

  std::string label(std::string_view key) const;  ///< empty when it is not there
};

struct Operation {
  std::string name, zone;  ///< zone: empty for a region's
  std::string group_id;    ///< operationGroupId, of a bulk insert and its parts
  std::string target;      ///< the last part of targetLink
  bool done = false;
  std::vector<ApiError> errors;
  std::vector<std::string> zones;      ///< of a bulk insert: where it tried
  std::optional<std::size_t> created;  ///< of a bulk insert: how many machines there are, where it says so
};

/// A regional managed instance group.
struct InstanceGroup {
  std::string name, description;
  std::chrono::sys_seconds created{};
  std::size_t target_size = 0;  ///< how many machines it has or is making; those of an active request may be among them
};

struct ResizeRequest {
  std::string name, state;            ///< state: CREATING, ACCEPTED, SUCCEEDED, FAILED, CANCELLED
  std::vector<std::string> nodes;     ///< the names that it asks for
  std::optional<ApiError> error;      ///< why it failed
  std::optional<ApiError> last_word;  ///< of its last attempt: why it still waits

  bool is_active() const { return state == "CREATING" || state == "ACCEPTED"; }
};

template <typename Item>
struct Page {
  std::vector<Item> items;
  std::string next_token;
};

// Each throws Error{"InvalidReply"} for a text that is not the reply, and Error{"Unreachable"} for a list that says
// that it is not whole: never an empty result for a broken one.

/// Of instances.aggregatedList. Zones of other regions than `region` may be out of reach: none of ours is there.
Page<Instance> parse_instances(std::string_view json, std::string_view region);
Page<Operation> parse_operations(std::string_view json);
Page<InstanceGroup> parse_instance_groups(std::string_view json);
Page<ResizeRequest> parse_resize_requests(std::string_view json);
/// Of listManagedInstances: those that exist, with what it tells of them: neither address nor labels.
Page<Instance> parse_managed_instances(std::string_view json);
InstanceGroup parse_instance_group(std::string_view json);
Operation parse_operation(std::string_view json);

/// The error of a reply with HTTP status >= 400; nothing when the text holds none.
std::optional<ApiError> parse_error(std::string_view json);

/// Whether a 200 reply is whole: a JSON object and nothing else.
bool is_whole(std::string_view json);

}  // namespace burst::gce
