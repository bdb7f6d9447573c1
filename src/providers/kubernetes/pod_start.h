// SPDX-License-Identifier: Apache-2.0
// Starting machines: a POST a pod, then a short wait for their addresses.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "burst/provider.h"
#include "providers/kubernetes/pod_inventory.h"
#include "providers/kubernetes/pod_template.h"

namespace burst::kubernetes {

/// Node -> UID of the pod that has its name and is being deleted.
using LeavingPods = std::map<NodeName, std::string>;

/// As Provider::start(). A pod is safe to ask for again, as its name is the node's. A name that is taken: by a pod of
/// ours that lives and is of the same launch or template, it is the node's; by another of ours, that one is ended and
/// replaced; by one that is being deleted (`leaving` are known to be), it is waited for, for a while; by anybody
/// else's, `NameConflict`. Pods that turn out to be hopeless during the wait are deleted and their nodes refused.
std::vector<NodeOutcome> start_pods(const GroupContext& context, const PodTemplate& pod_template,
                                    std::span<const Launch> launches, const LeavingPods& leaving,
                                    const StartedSink& started);

}  // namespace burst::kubernetes
