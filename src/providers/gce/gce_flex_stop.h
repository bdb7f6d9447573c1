// SPDX-License-Identifier: Apache-2.0
// Ending flex-start machines: queued, running or left over, with their instance groups.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "burst/machine.h"
#include "providers/gce/gce_inventory.h"

namespace burst::gce {

/// What has to be done to one instance group so that some of its machines end.
struct GroupEnding {
  const FlexGroup* flex = nullptr;
  bool whole = false;                  ///< nothing would live on: it goes, its active requests are cancelled before
  std::vector<std::string> instances;  ///< else: ids of the instances that go
  std::vector<std::string> stuck;      ///< ids of machines of a request that serves others too: they stay
};

struct EndingPlan {
  std::vector<GroupEnding> groups;
  std::vector<std::string> instances;  ///< ids of instances whose instance group is gone: deleted by themselves
};

/// For machines by their ids, as machines_of() gives them; unknown ids are left out: they are gone.
EndingPlan plan_endings(const Inventory& inventory, const std::set<std::string>& ids, const GroupIdentity& identity);

/// Carries a plan out. The machines that could not be ended, by id: stuck ones have the code `SharedRequest`.
std::map<std::string, ApiError> end_flex_machines(const GroupContext& context, const Inventory& inventory,
                                                  const std::set<std::string>& ids);

/// Ends whole instance groups: cancels active requests, deletes. Waits for nothing but the cancelling. The failed ones,
/// by name.
std::map<std::string, ApiError> end_instance_groups(const GroupContext& context,
                                                    const std::vector<const FlexGroup*>& groups);

}  // namespace burst::gce
