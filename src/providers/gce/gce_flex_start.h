// SPDX-License-Identifier: Apache-2.0
// Asking for machines that Google gives when it has them: an instance group and a resize request a launch.
#pragma once

#include <span>
#include <vector>

#include "burst/machine.h"
#include "providers/gce/gce_inventory.h"

namespace burst::gce {

/// As Provider::start(), for FLEX_START. Nodes whose request was accepted are `pending`; of one that was refused no
/// instance group is left.
std::vector<NodeOutcome> start_by_resize_requests(const GroupContext& context, std::span<const Launch> launches);

}  // namespace burst::gce
