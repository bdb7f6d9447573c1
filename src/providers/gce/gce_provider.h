// SPDX-License-Identifier: Apache-2.0
// Node groups whose machines are Compute Engine instances.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "auth/google_token.h"
#include "burst/provider.h"
#include "providers/gce/gce_inventory.h"
#include "providers/launch_claims.h"

namespace burst::gce {

/// Machines are called as their nodes from the first request on: nothing is named later. The journal only says which
/// nodes a running start() works for (LaunchClaims), as Google's operations may last longer than others can wait for
/// the lock. Instance groups that a killed launch left are found by their descriptions.
class GceProvider : public Provider {
 public:
  GceProvider(const ProviderContext& context, const NodeGroup& group, std::shared_ptr<auth::GoogleTokenSource> tokens);

  LaunchNeeds launch_needs() const override;
  bool claim(std::span<const Launch> launches) override;
  std::vector<NodeOutcome> start(std::span<const Launch> launches, const StartedSink& started) override;
  std::vector<NodeOutcome> stop(std::span<const NodeName> nodes) override;
  std::vector<NodeOutcome> stop_machines(std::span<const Machine> machines) override;
  std::vector<Machine> list() override;

 private:
  GroupContext context_;
  LaunchClaims claims_;
  /// Instances that end, as far as this object has seen: id -> node. Their names are taken until they are gone.
  std::map<std::string, NodeName> leaving_;

  std::vector<NodeOutcome> end(std::span<const Machine> machines, const Inventory& inventory);
  std::vector<NodeOutcome> start_all(std::span<const Launch> launches, const StartedSink& started);
  std::vector<NodeOutcome> launch(std::span<const Launch> launches, const StartedSink& started);
  void await_leaving(const std::vector<Launch>& launches);
  void note_leaving(const std::vector<Machine>& machines);
};

}  // namespace burst::gce
