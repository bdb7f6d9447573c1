// SPDX-License-Identifier: Apache-2.0
// Which launches a node group's nodes are started by.
#include "core/launch_plan.h"

#include <algorithm>
#include <unordered_set>

namespace burst {

std::vector<Launch> plan_launches(std::span<const NodeName> nodes, LaunchStrategy strategy,
                                  const std::optional<std::vector<ResumeJob>>& jobs) {
  if (nodes.empty()) return {};
  if (strategy == LaunchStrategy::best_effort || !jobs)
    return {Launch{{nodes.begin(), nodes.end()}, std::nullopt, strategy == LaunchStrategy::all_or_nothing}};

  std::vector<Launch> launches;
  std::unordered_set<std::string_view> left(nodes.begin(), nodes.end());
  for (const auto& job : *jobs) {
    const auto is_ours = [&](const NodeName& node) { return left.contains(node); };
    if (std::count_if(job.nodes.begin(), job.nodes.end(), is_ours) < 2) continue;
    Launch launch{{}, job.id, true};
    for (const auto& node : job.nodes) {
      if (left.erase(node) != 0) launch.nodes.push_back(node);
    }
    launches.push_back(std::move(launch));
  }
  Launch rest;
  for (const auto& node : nodes) {
    if (left.erase(node) != 0) rest.nodes.push_back(node);
  }
  if (!rest.nodes.empty()) launches.push_back(std::move(rest));
  return launches;
}

}  // namespace burst
