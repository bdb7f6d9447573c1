// SPDX-License-Identifier: Apache-2.0
// What resume, suspend and change_state share.
#include "programs/suite.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/node_name.h"

namespace burst {

GroupedNodes group_nodes(std::span<const NodeName> nodes, const Config& config, Log& log) {
  GroupedNodes grouped;
  std::unordered_map<const NodeGroup*, std::size_t> index;
  std::unordered_set<std::string_view> seen;
  for (const auto& node : nodes) {
    if (!seen.insert(node).second) continue;
    const NodeGroup* group = config.find_group(node);
    const auto parts = parse_node_name(node);
    if (group == nullptr || !parts) {
      log.error(parts ? fmt::format("Skipping partition={} nodegroup={}: not in partitions.json (node {})",
                                    parts->partition, parts->group, node)
                      : fmt::format("Skipping node {}: its name is not PARTITION-NODEGROUP-ID", node));
      grouped.complete = false;
    } else if (parts->number >= static_cast<std::uint32_t>(group->max_nodes)) {
      log.error(fmt::format("Skipping node {}: beyond MaxNodes={} of its node group", node, group->max_nodes));
      grouped.complete = false;
    } else if (group->node(static_cast<int>(parts->number)) != node) {
      log.error(fmt::format("Skipping node {}: Slurm calls it {}", node, group->node(static_cast<int>(parts->number))));
      grouped.complete = false;
    } else {
      const auto [entry, is_new] = index.try_emplace(group, grouped.groups.size());
      if (is_new) grouped.groups.push_back({group, {}});
      grouped.groups[entry->second].nodes.push_back(node);
    }
  }
  return grouped;
}

void run_side_by_side(std::size_t count, const std::function<void(std::size_t)>& work, std::size_t threads) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(count, threads); ++i) others.emplace_back(loop);
  loop();
}

std::optional<Fault> fault_of(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return Fault{error.code(), error.what()};
  } catch (const std::exception& error) {
    return Fault{"InternalError", error.what()};
  }
}

std::optional<Fault> fault_of(const NodeGroup& group, Log& log, const std::function<void()>& work) {
  auto fault = fault_of(work);
  if (fault) log.error(fmt::format("{}: {}: {}", group.key(), fault->code, fault->message));
  return fault;
}

bool finish_naming(const NodeGroup& group, Provider& provider, Log& log) {
  bool complete = true;
  const auto fault = fault_of(group, log, [&] {
    for (const auto& failed : provider.finish()) {
      log.error(fmt::format("Failed to tag node {} {} - {}: {}", failed.node, failed.machine.id, failed.code,
                            failed.message));
      complete = false;
    }
  });
  return !fault && complete;
}

}  // namespace burst
