// SPDX-License-Identifier: Apache-2.0
// What Compute Engine holds of one node group, and which machines that makes.
#pragma once

#include <string>
#include <vector>

#include "burst/machine.h"
#include "burst/services.h"
#include "providers/gce/gce_api.h"
#include "providers/gce/gce_replies.h"
#include "providers/gce/gce_requests.h"
#include "providers/gce/gce_settings.h"

namespace burst::gce {

/// One node group and its way to the cloud.
struct GroupContext {
  GroupIdentity identity;
  GroupSettings settings;
  GceApi api;
  Clock& clock;
  Log& log;
  Random& random;

  bool is_flex() const { return settings.model == ProvisioningModel::flex_start; }
  std::string regional(const std::string& rest) const { return "regions/" + settings.region + "/" + rest; }
};

/// An instance group of ours, whose description says so, with its resize requests.
struct FlexGroup {
  InstanceGroup group;
  RequestDescription about;
  std::vector<ResizeRequest> requests;

  /// The names that a request asks for: its own, else those of the description; only nodes of the group.
  std::vector<NodeName> nodes_of(const ResizeRequest& request, const GroupIdentity& identity) const;
};

struct Inventory {
  std::vector<Instance> instances;
  std::vector<FlexGroup> groups;
};

/// The machines of the group, or only those of some launches. Throws Error.
std::vector<Instance> read_instances(const GroupContext& context, const std::vector<std::string>& launches = {});

/// Everything; instance groups of FLEX_START groups only. Throws Error: never a part as if it were all.
Inventory read_inventory(const GroupContext& context);

/// The resize requests of instance groups, in their order; of one that is gone: none. Throws Error.
std::vector<std::vector<ResizeRequest>> read_resize_requests(const GroupContext& context,
                                                             const std::vector<std::string>& groups);

MachineState state_of(const Instance& instance);
Machine to_machine(const Instance& instance, const GroupIdentity& identity);

/// As Provider::list() gives them. Machines that do not exist yet, or never will, have the id `GROUP/NODE`, those that
/// do `ZONE/NAME`; an instance group that holds none is `GROUP`.
std::vector<Machine> machines_of(const Inventory& inventory, const GroupIdentity& identity,
                                 const GroupSettings& settings);

/// Of an instance: its id as a machine.
std::string machine_id(const Instance& instance);

}  // namespace burst::gce
