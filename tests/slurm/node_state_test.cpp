// SPDX-License-Identifier: Apache-2.0
// Node states of every generation, and versions.
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "burst/slurm.h"

namespace burst {
namespace {

using enum NodeFlag;

NodeState state_of(NodeBase base, std::initializer_list<NodeFlag> flags) {
  NodeState state;
  state.base = base;
  for (const auto flag : flags) state.set(flag);
  return state;
}

struct Case {
  std::string text;
  NodeState state;
};

TEST(NodeState, ReadsWhatSlurmPrintsSince2108AndPrintsTheSame) {
  const auto idle = NodeBase::idle, down = NodeBase::down, allocated = NodeBase::allocated, mixed = NodeBase::mixed;
  const std::vector<Case> cases{
      {"IDLE+CLOUD+POWERED_DOWN", state_of(idle, {cloud, powered_down})},
      {"ALLOCATED+CLOUD+POWERED_DOWN", state_of(allocated, {cloud, powered_down})},
      {"MIXED+CLOUD+POWERED_DOWN", state_of(mixed, {cloud, powered_down})},
      {"ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP", state_of(allocated, {cloud, not_responding, powering_up})},
      {"IDLE+CLOUD+NOT_RESPONDING+POWERING_UP", state_of(idle, {cloud, not_responding, powering_up})},
      {"IDLE+CLOUD", state_of(idle, {cloud})},
      {"MIXED+CLOUD", state_of(mixed, {cloud})},
      {"ALLOCATED+CLOUD", state_of(allocated, {cloud})},
      {"IDLE+CLOUD+POWER_UP+POWERED_DOWN", state_of(idle, {cloud, power_up, powered_down})},
      {"ALLOCATED+CLOUD+POWER_DOWN", state_of(allocated, {cloud, power_down})},
      {"ALLOCATED+CLOUD+DRAIN+POWER_DOWN", state_of(allocated, {cloud, drain, power_down})},
      {"IDLE+CLOUD+POWERING_DOWN", state_of(idle, {cloud, powering_down})},
      {"DOWN+CLOUD+POWERED_DOWN", state_of(down, {cloud, powered_down})},
      {"DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING", state_of(down, {cloud, powered_down, not_responding})},
      {"DOWN+CLOUD+NOT_RESPONDING+POWERING_UP", state_of(down, {cloud, not_responding, powering_up})},
      {"DOWN+CLOUD+NOT_RESPONDING", state_of(down, {cloud, not_responding})},
      {"IDLE+CLOUD+DRAIN+INVALID_REG", state_of(idle, {cloud, drain, invalid_reg})},
      {"IDLE+CLOUD+POWERED_DOWN+NOT_RESPONDING", state_of(idle, {cloud, powered_down, not_responding})},
      {"IDLE+CLOUD+DRAIN+POWERED_DOWN", state_of(idle, {cloud, drain, powered_down})},
      {"IDLE+BLOCKED+CLOUD+COMPLETING+DRAIN+DYNAMIC_FUTURE+DYNAMIC_NORM+EXTERNAL+INVALID_REG+FAIL+MAINTENANCE+"
       "POWER_DOWN+POWER_UP+POWERED_DOWN+REBOOT_REQUESTED+REBOOT_ISSUED+RESERVED+RESUME+NOT_RESPONDING+PLANNED+"
       "POWERING_UP+POWERING_DOWN",
       state_of(idle,
                {blocked,       cloud,    completing,  drain,          dynamic_future, dynamic_norm, external,
                 invalid_reg,   fail,     maintenance, power_down,     power_up,       powered_down, reboot_requested,
                 reboot_issued, reserved, resume,      not_responding, planned,        powering_up,  powering_down})},
      {"FUTURE", state_of(NodeBase::future, {})},
      {"UNKNOWN+CLOUD", state_of(NodeBase::unknown, {cloud})},
  };
  for (const auto& [text, state] : cases) {
    EXPECT_EQ(parse_node_state(text), state) << text << " read as " << to_string(parse_node_state(text));
    EXPECT_EQ(to_string(state), text);
  }
}

TEST(NodeState, ReadsEarlierNamesSuffixesAndSinfosWords) {
  const auto idle = NodeBase::idle, down = NodeBase::down, allocated = NodeBase::allocated;
  const std::vector<Case> cases{
      {"DOWN*+CLOUD+POWER", state_of(down, {not_responding, cloud, powered_down})},
      {"DOWN+CLOUD+POWER", state_of(down, {cloud, powered_down})},
      {"DOWN*+CLOUD", state_of(down, {not_responding, cloud})},
      {"IDLE+CLOUD+POWER", state_of(idle, {cloud, powered_down})},
      {"IDLE#+CLOUD", state_of(idle, {powering_up, cloud})},
      {"ALLOCATED#+CLOUD", state_of(allocated, {powering_up, cloud})},
      {"IDLE*+CLOUD", state_of(idle, {not_responding, cloud})},
      {"IDLE+CLOUD+DRAIN+POWER", state_of(idle, {cloud, drain, powered_down})},
      {"IDLE+CLOUD+POWERING_DOWN", state_of(idle, {cloud, powering_down})},
      {"IDLE+CLOUD+COMPLETING+DRAIN", state_of(idle, {cloud, completing, drain})},
      {"MAINT+CLOUD", state_of(idle, {maintenance, cloud})},
      {"MAINT*", state_of(idle, {maintenance, not_responding})},
      {"RESERVED+CLOUD", state_of(idle, {reserved, cloud})},
      {"REBOOT^", state_of(idle, {reboot_requested, reboot_issued})},
      {"IDLE+DYNAMIC", state_of(idle, {dynamic_future})},
      {"idle+cloud+powered_down", state_of(idle, {cloud, powered_down})},
      {"idle~", state_of(idle, {powered_down})},
      {"alloc#", state_of(allocated, {powering_up})},
      {"mix-", state_of(NodeBase::mixed, {planned})},
      {"idle%", state_of(idle, {powering_down})},
      {"allocated!", state_of(allocated, {power_down})},
      {"allocated+", state_of(allocated, {})},
      {"drained~", state_of(idle, {drain, powered_down})},
      {"draining@", state_of(allocated, {drain, reboot_requested})},
      {"inval", state_of(idle, {invalid_reg})},
      {"idle$", state_of(idle, {maintenance})},
  };
  for (const auto& [text, state] : cases) {
    EXPECT_EQ(parse_node_state(text), state) << text << " read as " << to_string(parse_node_state(text));
  }
}

TEST(NodeState, KeepsWhatItKnowsBesideAnUnknownWord) {
  EXPECT_EQ(parse_node_state("IDLE+CLOUD+SHINY+POWERED_DOWN"),
            state_of(NodeBase::idle, {cloud, powered_down, unknown}));
  EXPECT_EQ(parse_node_state("IDLE+?"), state_of(NodeBase::idle, {unknown}));
  EXPECT_EQ(parse_node_state("ERROR"), state_of(NodeBase::unknown, {unknown}));
  EXPECT_EQ(parse_node_state("").base, NodeBase::unknown);
  EXPECT_EQ(to_string(state_of(NodeBase::idle, {unknown})), "IDLE+?");
}

TEST(SlurmVersion, IsFoundInEveryForm) {
  EXPECT_EQ(parse_slurm_version("slurm 22.05.8"), (SlurmVersion{22, 5, 8}));
  EXPECT_EQ(parse_slurm_version("22.05"), (SlurmVersion{22, 5, 0}));
  EXPECT_EQ(parse_slurm_version("slurm 23.11.4-1.2build5\n"), (SlurmVersion{23, 11, 4}));
  EXPECT_EQ(parse_slurm_version("slurm-wlm 21.08.5"), (SlurmVersion{21, 8, 5}));
  EXPECT_EQ(parse_slurm_version("slurm 25.11.0-0rc1"), (SlurmVersion{25, 11, 0}));
  EXPECT_EQ(parse_slurm_version("release 7 of slurm 24.05.1"), (SlurmVersion{24, 5, 1}));
  for (const auto* text : {"", "slurm", "22", "22.", "22.-5", ".5", "99999999999.1"}) {
    EXPECT_FALSE(parse_slurm_version(text)) << text;
  }
  EXPECT_LT((SlurmVersion{22, 4, 9}), (SlurmVersion{22, 5, 0}));
}

}  // namespace
}  // namespace burst
