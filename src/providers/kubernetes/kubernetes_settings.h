// SPDX-License-Identifier: Apache-2.0
// The keys of a `kubernetes` node group.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "auth/kube_access.h"
#include "burst/config.h"

namespace burst::kubernetes {

/// pod: a pod a node, made and deleted by us. node_set_power_state: the nodes' numbers in an object of soperator's,
/// whose operator makes the pods.
enum class Mode { pod, node_set_power_state };

/// Beyond a pod's grace: the kubelet's own work, and the pod's removal from the API.
inline constexpr std::chrono::seconds kRemoval{30};

using Labels = std::map<std::string, std::string>;

/// One node group's Kubernetes side; see docs/providers/kubernetes.md.
struct GroupSettings {
  auth::KubeAccessSettings access;  ///< Kubeconfig, Context, HttpProxy, EKS, GKE
  std::string name_space;           ///< Namespace; empty: the context's, or the pod's that we run in
  Mode mode = Mode::pod;
  std::string pod_template;                         ///< PodTemplate: a path, absolute; empty in mode nodesetpowerstate
  std::string node_set;                             ///< NodeSet: of mode nodesetpowerstate; PARTITION-GROUP when absent
  Labels labels;                                    ///< MachineTags, then the group's Labels; a group's label wins
  Labels annotations;                               ///< Annotations
  std::chrono::seconds grace_period{30};            ///< GracePeriodSeconds: from SIGTERM to SIGKILL
  std::chrono::seconds unschedulable_timeout{600};  ///< UnschedulableTimeout: how long a pod may wait for a machine
  std::chrono::seconds boot_timeout{300};           ///< BootTimeout: from its machine to its slurmd's registration
  std::chrono::seconds address_wait{10};            ///< AddressWait: how long resume waits for pods' addresses
  int pods_in_flight = 64;                          ///< PodsInFlight: requests at once
};

/// Of a group that check_settings() found nothing fatal in. A relative PodTemplate is beside partitions.json.
GroupSettings parse_settings(const Config& config, const NodeGroup& group);

/// The keys that a `kubernetes` group may have besides the common ones, and their check.
ProviderKeys settings_keys();

}  // namespace burst::kubernetes
