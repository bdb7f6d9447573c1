// SPDX-License-Identifier: Apache-2.0
// The one table of what a pod's status words mean: whether it will ever be a node.
#pragma once

#include <chrono>
#include <optional>

#include "burst/machine.h"
#include "providers/kubernetes/kubernetes_settings.h"
#include "providers/kubernetes/pod_status.h"

namespace burst::kubernetes {

/// Whether the pod will not come (again) by itself, and why: Failed or Succeeded, unschedulable for longer than
/// UnschedulableTimeout, an image that can't be pulled, a container that crashes again and again. A pod that is being
/// deleted has not failed.
std::optional<MachineFailure> pod_failure(const Pod& pod, const GroupSettings& settings, std::chrono::sys_seconds now);

}  // namespace burst::kubernetes
