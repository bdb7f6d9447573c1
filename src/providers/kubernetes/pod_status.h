// SPDX-License-Identifier: Apache-2.0
// A pod as the API server shows it, and which machine that makes.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/machine.h"
#include "providers/kubernetes/kubernetes_settings.h"
#include "providers/kubernetes/pod_labels.h"

namespace burst::kubernetes {

/// What we read of a pod. Fields that are missing or of a wrong type are empty: a server may send anything.
struct Pod {
  std::string name, uid, launch, template_hash;
  std::optional<JobId> job;
  bool ours = false;                   ///< its labels name this cluster, partition and group, and us as the manager
  std::string phase, reason, message;  ///< of status: `Failed`, `Evicted`, ...
  std::string address, machine_name;   ///< status.podIP; spec.nodeName
  std::chrono::sys_seconds created{};
  std::optional<std::chrono::sys_seconds> deleted;    ///< metadata.deletionTimestamp: it ends
  std::optional<std::chrono::sys_seconds> scheduled;  ///< since when it has a machine
  std::string unschedulable;  ///< the scheduler's words on why it has none; empty when it has or nothing was said yet
  std::optional<std::chrono::sys_seconds> expires;  ///< startTime + activeDeadlineSeconds
  /// Of the first container that is in trouble: waiting reason and message, restarts, the last end's message.
  std::string trouble, trouble_message, last_end;
  int restarts = 0;
};

Pod parse_pod(const nlohmann::json& pod, const GroupIdentity& identity);

struct PodList {
  std::vector<Pod> pods;
  std::string resource_version, continue_token;
};

/// A page of a list. Throws Error{"InvalidReply"} for what is no PodList.
PodList parse_pod_list(std::string_view body, const GroupIdentity& identity);

/// As Provider::list() gives it; the id is `NAME/UID`. queued: it waits for a machine, `detail` says why; failed: see
/// pod_failure().
Machine machine_of(const Pod& pod, const GroupSettings& settings, std::chrono::sys_seconds now);

/// Whether the pod will not come (again) by itself, and why: Failed or Succeeded, unschedulable for longer than
/// UnschedulableTimeout, an image that can't be pulled, a container that crashes again and again.
std::optional<MachineFailure> pod_failure(const Pod& pod, const GroupSettings& settings, std::chrono::sys_seconds now);

/// The name and the UID of a machine's id.
struct PodId {
  std::string name, uid;
};
std::optional<PodId> pod_id(const std::string& machine_id);

}  // namespace burst::kubernetes
