// SPDX-License-Identifier: Apache-2.0
// Node groups that soperator runs: a node's number in an object of its makes its pod come and go.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "auth/kube_access.h"
#include "burst/provider.h"
#include "burst/random.h"
#include "providers/kubernetes/node_set_launch.h"
#include "providers/launch_claims.h"

namespace burst::kubernetes {

/// The group's node N is pod NODESET-N, there for as long as N is among activeNodes of NodeSetPowerState NODESET; the
/// pods themselves are the operator's. Numbers from MaxNodes on are not the group's: they stay as they are and are not
/// told. A launch is known by its claim while it runs, so that no lock is held while pods are awaited; the object
/// itself needs none, as each write names the version that it was made from.
class NodeSetProvider : public Provider {
 public:
  NodeSetProvider(const ProviderContext& context, const NodeGroup& group, std::shared_ptr<auth::KubeAccess> access);

  bool claim(std::span<const Launch> launches) override;
  std::vector<NodeOutcome> start(std::span<const Launch> launches, const StartedSink& started) override;
  /// A node that is not active is `ready`: its pod is the operator's to end.
  std::vector<NodeOutcome> stop(std::span<const NodeName> nodes) override;
  std::vector<NodeOutcome> stop_machines(std::span<const Machine> machines) override;
  /// A pod of a node that is not active is `stopping`, an active node without a pod `queued`. Where there is no
  /// NodeSetPowerState, nothing is known to be unwanted: pods are what they are.
  std::vector<Machine> list() override;

 private:
  NodeSetGroup group_;
  LaunchClaims claims_;
  Random& random_;

  struct Doomed;
  std::vector<NodeOutcome> end(std::vector<Doomed>& doomed) const;
  void add_last_words(std::vector<Machine>& machines) const;
};

}  // namespace burst::kubernetes
