// SPDX-License-Identifier: Apache-2.0
// The slurm.conf fragment that declares the cloud nodes and their partitions.
#include "core/slurm_conf_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace burst {

namespace {

constexpr std::string_view kSuspendExcNodes = "SuspendExcNodes";

/// ` KEY=VALUE` each. An empty value is quoted: Slurm's parser skips blanks behind `=` and would take the next option
/// for the value (parse_config.c).
std::string options_text(const SlurmOptions& options) {
  std::string text;
  for (const auto& [key, value] : options) text += fmt::format(" {}={}", key, value.empty() ? "\"\"" : value);
  return text;
}

std::string globals_text(const Config& config) {
  std::string text;
  auto excluded = static_nodes(config);
  for (const auto& [key, value] : config.slurm_conf) {
    text += fmt::format("{}={}", key, value);
    if (!excluded.empty() && same_option(key, kSuspendExcNodes)) {
      text += fmt::format("{}{}", value.empty() ? "" : ",", excluded);
      excluded.clear();
    }
    text += '\n';
  }
  if (!excluded.empty()) text += fmt::format("{}={}\n", kSuspendExcNodes, excluded);
  return text;
}

std::string node_line(const NodeGroup& group) {
  auto line = "NodeName=" + group.node_range();
  if (find_option(group.slurm_specifications, "State") == nullptr) line += " State=CLOUD";
  return line + options_text(group.slurm_specifications) + "\n";
}

std::string partition_line(const Partition& partition) {
  std::string nodes;
  for (const auto& group : partition.groups) nodes += (nodes.empty() ? "" : ",") + group.node_range();
  auto line = "PartitionName=" + partition.name;
  if (!nodes.empty()) line += " Nodes=" + nodes;
  if (find_option(partition.options, "MaxTime") == nullptr) line += " MaxTime=INFINITE";
  if (find_option(partition.options, "State") == nullptr) line += " State=UP";
  return line + options_text(partition.options) + "\n";
}

}  // namespace

std::string static_nodes(const Config& config) {
  std::string nodes;
  for (const auto* group : config.groups()) {
    if (group->min_nodes < 1) continue;
    if (!nodes.empty()) nodes += ',';
    nodes += group->min_nodes == 1 ? group->node(0) : fmt::format("{}-[0-{}]", group->key(), group->min_nodes - 1);
  }
  return nodes;
}

std::string slurm_conf_text(const Config& config) {
  auto text = globals_text(config) + "\n";
  for (const auto& partition : config.partitions) {
    for (const auto& group : partition.groups) text += node_line(group);
    text += partition_line(partition) + "\n";
  }
  return text;
}

}  // namespace burst
