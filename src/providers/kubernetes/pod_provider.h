// SPDX-License-Identifier: Apache-2.0
// Node groups whose machines are pods, each made and deleted by us.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/kube_access.h"
#include "burst/provider.h"
#include "providers/kubernetes/pod_inventory.h"
#include "providers/kubernetes/pod_template.h"
#include "providers/launch_claims.h"

namespace burst::kubernetes {

/// A pod is called as its node, so that there are never two. The journal only says which nodes a running start() works
/// for (LaunchClaims): a launch holds no lock while it waits for names and addresses.
class PodProvider : public Provider {
 public:
  PodProvider(const ProviderContext& context, const NodeGroup& group, std::shared_ptr<auth::KubeAccess> access);

  bool claim(std::span<const Launch> launches) override;
  /// Reads the pod template: Error{"InvalidPodTemplate"}.
  std::vector<NodeOutcome> start(std::span<const Launch> launches, const StartedSink& started) override;
  /// A pod that is being deleted already is `ready`; one that should have been gone for long is `pending` with the code
  /// `PodTerminating`: its machine does not answer, and forcing its end could leave two slurmd of one name.
  std::vector<NodeOutcome> stop(std::span<const NodeName> nodes) override;
  std::vector<NodeOutcome> stop_machines(std::span<const Machine> machines) override;
  std::vector<Machine> list() override;

 private:
  struct Leaving {
    NodeName node;
    std::optional<std::chrono::sys_seconds> due;  ///< when it should be gone; nothing: it was deleted a moment ago
  };

  Files& files_;
  GroupContext context_;
  LaunchClaims claims_;
  std::optional<PodTemplate> template_;
  std::map<std::string, Leaving> leaving_;  ///< by machine id: pods that end, as far as this object has seen

  std::vector<Machine> machines_of(const std::vector<Pod>& pods);
  std::vector<NodeOutcome> end(std::span<const Machine> machines);
  NodeOutcome ending(const Machine& machine) const;
};

}  // namespace burst::kubernetes
