// SPDX-License-Identifier: Apache-2.0
// Which launches a node group's nodes are started by.
#include "core/launch_plan.h"

#include <unordered_set>

namespace burst {

std::vector<Launch> plan_launches(std::span<const NodeName> nodes, LaunchStrategy strategy,
                                  std::span<const ResumeJob> jobs) {
  if (nodes.empty()) return {};
  if (strategy == LaunchStrategy::best_effort) return {Launch{{nodes.begin(), nodes.end()}, std::nullopt, false}};

  std::vector<Launch> launches;
  std::unordered_set<std::string_view> left(nodes.begin(), nodes.end());
  for (const auto& job : jobs) {
    if (job.nodes.size() < 2) continue;
    Launch launch{{}, job.id, true};
    for (const auto& node : job.nodes) {
      if (left.erase(node) != 0) launch.nodes.push_back(node);
    }
    if (!launch.nodes.empty()) launches.push_back(std::move(launch));
  }
  Launch rest;
  for (const auto& node : nodes) {
    if (left.erase(node) != 0) rest.nodes.push_back(node);
  }
  if (!rest.nodes.empty()) launches.push_back(std::move(rest));
  return launches;
}

}  // namespace burst
