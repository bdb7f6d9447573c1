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

namespace burst::gce {

/// Machines are called as their nodes from the first request on: nothing is named later, no journal is kept. Instance
/// groups that a killed launch left are found by their descriptions; none is seen half made by others, as start()
/// returns only when each has its request or is being deleted, and the group's lock is held until then.
class GceProvider : public Provider {
 public:
  GceProvider(const ProviderContext& context, const NodeGroup& group, std::shared_ptr<auth::GoogleTokenSource> tokens);

  LaunchNeeds launch_needs() const override;
  std::vector<NodeOutcome> start(std::span<const Launch> launches, const StartedSink& started) override;
  std::vector<NodeOutcome> stop(std::span<const NodeName> nodes) override;
  std::vector<NodeOutcome> stop_machines(std::span<const Machine> machines) override;
  std::vector<Machine> list() override;

 private:
  GroupContext context_;
  /// Instances that end, as far as this object has seen: id -> node. Their names are taken until they are gone.
  std::map<std::string, NodeName> leaving_;

  std::vector<NodeOutcome> end(std::span<const Machine> machines, const Inventory& inventory);
  std::vector<NodeOutcome> launch(std::span<const Launch> launches, const StartedSink& started);
  void await_leaving(const std::vector<Launch>& launches);
  void note_leaving(const std::vector<Machine>& machines);
};

}  // namespace burst::gce
