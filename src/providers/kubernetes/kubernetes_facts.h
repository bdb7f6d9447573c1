// SPDX-License-Identifier: Apache-2.0
// What a group's pod template says of its nodes.
#pragma once

#include "burst/provider.h"

namespace burst::kubernetes {

/// ProviderEntry::facts of a `kubernetes` group: CPUs, RealMemory and Gres of its template's requests, what contradicts
/// them, and what the template lacks. A template that can't be read is a fatal problem. In mode nodesetpowerstate only
/// whether the pods' names are the nodes'.
GroupFacts group_facts(const NodeGroup& group, const Config& config, const Files& files);

}  // namespace burst::kubernetes
