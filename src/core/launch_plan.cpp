// SPDX-License-Identifier: Apache-2.0
// Which launches a node group's nodes are started by.
#include "core/launch_plan.h"

#include <algorithm>
#include <unordered_set>

namespace burst {
namespace {

Launch launch_of(std::vector<NodeName> nodes, bool all_or_nothing) {
  Launch launch;
  launch.nodes = std::move(nodes);
  launch.all_or_nothing = all_or_nothing;
  return launch;
}

/// The first job that has all of them.
std::optional<JobId> job_of(std::span<const NodeName> nodes, std::span<const ResumeJob> jobs) {
  for (const auto& job : jobs) {
    const std::unordered_set<std::string_view> its(job.nodes.begin(), job.nodes.end());
    if (std::all_of(nodes.begin(), nodes.end(), [&](const NodeName& node) { return its.contains(node); }))
      return job.id;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Launch> plan_launches(std::span<const NodeName> nodes, LaunchStrategy strategy,
                                  const std::optional<std::vector<ResumeJob>>& jobs, bool by_job) {
  if (nodes.empty()) return {};
  const bool all_or_nothing = strategy == LaunchStrategy::all_or_nothing;
  if (!jobs) return {launch_of({nodes.begin(), nodes.end()}, all_or_nothing)};

  std::vector<Launch> launches;
  std::unordered_set<std::string_view> left(nodes.begin(), nodes.end());
  for (const auto& job : *jobs) {
    const auto is_ours = [&](const NodeName& node) { return left.contains(node); };
    const auto count = std::count_if(job.nodes.begin(), job.nodes.end(), is_ours);
    if (by_job ? count == 0 : !all_or_nothing || count < 2) continue;
    Launch launch = launch_of({}, all_or_nothing && count > 1);
    launch.job = job.id;
    for (const auto& node : job.nodes) {
      if (left.erase(node) != 0) launch.nodes.push_back(node);
    }
    launches.push_back(std::move(launch));
  }
  Launch rest;
  for (const auto& node : nodes) {
    if (left.erase(node) != 0) rest.nodes.push_back(node);
  }
  if (rest.nodes.empty()) return launches;
  rest.job = job_of(rest.nodes, *jobs);
  launches.push_back(std::move(rest));
  return launches;
}

}  // namespace burst
