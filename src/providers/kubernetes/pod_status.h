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

/// The first container that is in trouble: one that waits for a reason of its own, else one that has failed, else one
/// that has ended. Initial containers count too and come first.
struct ContainerTrouble {
  std::string container;
  std::string reason, message;  ///< why it waits: `ImagePullBackOff`; empty when it does not wait
  std::string last_end;         ///< `exit code 1: its termination message`; empty when it has never ended
  int restarts = 0;
};

/// What we read of a pod. Fields that are missing or of a wrong type are empty: a server may send anything. Texts that
/// are shown to people are one safe line.
struct Pod {
  std::string name, uid, launch, template_hash;
  std::optional<JobId> job;
  bool ours = false;    ///< its labels name this cluster, partition and group, and us as the manager
  std::string phase;    ///< Pending, Running, Succeeded, Failed
  std::string reason;   ///< of status: `Evicted`; else the reason of its condition DisruptionTarget; a single word
  std::string message;  ///< to `reason`
  std::string address, machine_name;  ///< status.podIP; spec.nodeName
  std::chrono::sys_seconds created{};
  std::optional<std::chrono::sys_seconds> deleted;    ///< metadata.deletionTimestamp: it ends
  std::optional<std::chrono::sys_seconds> scheduled;  ///< since when it has a machine
  std::string unschedulable;  ///< the scheduler's words on why it has none; empty when it has or nothing was said yet
  std::optional<std::chrono::sys_seconds> expires;  ///< startTime + activeDeadlineSeconds
  ContainerTrouble trouble;
  /// Whether slurmd's container (called so, else the first) runs: another one's trouble is then none of the node's.
  bool slurmd_runs = false;
};

/// Throws nothing.
Pod parse_pod(const nlohmann::json& pod, const GroupIdentity& identity);

/// The reply to a GET or POST of a pod, or its metadata where no more was asked for. Throws Error{"InvalidReply"} for
/// what is no pod with name and UID.
Pod parse_pod_reply(std::string_view body, const GroupIdentity& identity);

struct PodList {
  std::vector<Pod> pods;
  std::string resource_version, continue_token;
};

/// A page of a list, of whole pods or of their metadata. Throws Error{"InvalidReply"} for what is no PodList, and for a
/// pod without name or UID: never a shorter list for a broken one. Holds one pod's document at a time, without what is
/// not read.
PodList parse_pod_list(std::string_view body, const GroupIdentity& identity);

/// As Provider::list() gives it, called as its pod; the id is `NAME/UID`. queued: it waits for a machine, `detail` says
/// why; failed: see pod_failure().
Machine machine_of(const Pod& pod, const GroupSettings& settings, std::chrono::sys_seconds now);

/// The name and the UID of a machine's id.
struct PodId {
  std::string name, uid;
};
std::string machine_id(const PodId& pod);  ///< `NAME/UID`
std::optional<PodId> pod_id(const std::string& id);

}  // namespace burst::kubernetes
