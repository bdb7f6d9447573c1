// SPDX-License-Identifier: Apache-2.0
// The slurm.conf fragment that declares the cloud nodes and their partitions.
#include "core/slurm_conf_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace burst {

namespace {

constexpr std::string_view kSuspendExcNodes = "SuspendExcNodes";
constexpr std::string_view kControllerParameters = "SlurmctldParameters";
constexpr std::string_view kRegisteredAddresses = "cloud_reg_addrs";

/// ` KEY=VALUE` each. An empty value is quoted: Slurm's parser skips blanks behind `=` and would take the next option
/// for the value (parse_config.c).
std::string options_text(const SlurmOptions& options) {
  std::string text;
  for (const auto& [key, value] : options) text += fmt::format(" {}={}", key, value.empty() ? "\"\"" : value);
  return text;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (same_option(list.substr(0, comma), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

std::string globals_text(const Config& config, std::string controller_parameters) {
  std::string text;
  auto excluded = static_nodes(config);
  for (const auto& [key, value] : config.slurm_conf) {
    if (!controller_parameters.empty() && same_option(key, kControllerParameters)) {
      text += fmt::format("{}={}\n", key, controller_parameters);
      controller_parameters.clear();
      continue;
    }
    text += fmt::format("{}={}", key, value);
    if (!excluded.empty() && same_option(key, kSuspendExcNodes)) {
      text += fmt::format("{}{}", value.empty() ? "" : ",", excluded);
      excluded.clear();
    }
    text += '\n';
  }
  if (!excluded.empty()) text += fmt::format("{}={}\n", kSuspendExcNodes, excluded);
  if (!controller_parameters.empty()) text += fmt::format("{}={}\n", kControllerParameters, controller_parameters);
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
  if (!nodes.empty() && find_option(partition.options, "Nodes") == nullptr) line += " Nodes=" + nodes;
  if (find_option(partition.options, "MaxTime") == nullptr) line += " MaxTime=INFINITE";
  if (find_option(partition.options, "State") == nullptr) line += " State=UP";
  return line + options_text(partition.slurm_options()) + "\n";
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

bool machines_queue(const NodeGroup& group) { return find_option(group.partition_needs, "ResumeTimeout") != nullptr; }

std::string wanted_controller_parameters(const Config& config, const std::optional<SlurmVersion>& version,
                                         const SlurmOptions* installed) {
  constexpr SlurmVersion first{20, 11, 0}, needless{23, 11, 0};
  const auto groups = config.groups();
  if (std::none_of(groups.begin(), groups.end(), [](const auto* group) { return machines_queue(*group); })) return "";
  if (version && (*version < first || *version >= needless)) return "";
  const auto* value = find_option(config.slurm_conf, kControllerParameters);
  if (value == nullptr && installed != nullptr) value = find_option(*installed, kControllerParameters);
  if (value == nullptr || value->empty()) return std::string(kRegisteredAddresses);
  return has_word(*value, kRegisteredAddresses) ? "" : fmt::format("{},{}", *value, kRegisteredAddresses);
}

std::string slurm_conf_text(const Config& config, const std::string& controller_parameters) {
  auto text = globals_text(config, controller_parameters) + "\n";
  for (const auto& partition : config.partitions) {
    for (const auto& group : partition.groups) text += node_line(group);
    text += partition_line(partition) + "\n";
  }
  return text;
}

}  // namespace burst
