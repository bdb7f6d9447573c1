// SPDX-License-Identifier: Apache-2.0
// Machines that stand for claimed nodes.
#include "providers/launch_claims.h"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace burst {
namespace {

TEST(ClaimedMachines, StandInForNodesWithoutAMachineThatLivesOrWaits) {
  const auto machine = [](const char* id, std::optional<NodeName> node, MachineState state) {
    Machine made;
    made.id = made.launch = id;
    made.node = std::move(node);
    made.state = state;
    return made;
  };
  std::vector<Machine> machines{
      machine("z/p-g-0", "p-g-0", MachineState::running), machine("z/p-g-1", "p-g-1", MachineState::stopping),
      machine("m/p-g-2", "p-g-2", MachineState::failed), machine("m/p-g-3", "p-g-3", MachineState::queued),
      machine("empty", std::nullopt, MachineState::queued)};
  const std::vector<Claim> claims{
      {"claim_7_x", std::chrono::sys_seconds{std::chrono::seconds{7}}, {"p-g-0", "p-g-1", "p-g-2", "p-g-3", "p-g-4"}}};
  add_claimed_machines(claims, machines);
  std::vector<std::string> added;
  for (const auto& made : machines)
    if (is_claim_id(made.id)) added.push_back(*made.node);
  EXPECT_EQ(added, (std::vector<std::string>{"p-g-1", "p-g-2", "p-g-4"}));
  EXPECT_EQ(machines[4].launch, "claim_7_x");
  EXPECT_EQ(machines[3].launch, "m/p-g-3");
  machines.resize(5);
  machines[4].launch = "empty";
  add_claimed_machines({}, machines);
  EXPECT_EQ(machines.size(), 5U);
  EXPECT_EQ(machines[4].launch, "empty");
}

}  // namespace
}  // namespace burst
