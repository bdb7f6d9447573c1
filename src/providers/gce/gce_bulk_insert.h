// SPDX-License-Identifier: Apache-2.0
// Starting machines at once: one bulkInsert a launch.
#pragma once

#include <span>
#include <vector>

#include "burst/provider.h"
#include "providers/gce/gce_inventory.h"

namespace burst::gce {

/// As Provider::start(), for every provisioning model but FLEX_START.
std::vector<NodeOutcome> start_by_bulk_insert(const GroupContext& context, std::span<const Launch> launches,
                                              const StartedSink& started);

/// Deletes instances, all side by side; the failed ones with their errors, by machine id. One that is gone is done.
std::map<std::string, ApiError> delete_instances(const GroupContext& context, const std::vector<std::string>& ids);

}  // namespace burst::gce
