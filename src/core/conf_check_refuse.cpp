// SPDX-License-Identifier: Apache-2.0
// The rules R: what slurmctld or slurmd refuses, or what turns power saving off.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/hostlist.h"
#include "core/conf_check_rules.h"
#include "core/gres.h"
#include "core/slurm_conf_text.h"

namespace burst {

namespace {

/// R1: the programs must be as slurmctld wants them (power_save.c, _valid_prog); otherwise power saving is off.
void programs(const CheckSubject& subject, Messages& messages) {
  for (const char* name : {"ResumeProgram", "SuspendProgram", "ResumeFailProgram"}) {
    const auto* value = find_option(subject.config.slurm_conf, name);
    if (value == nullptr) continue;
    const bool actions = subject.at_least(26, 5);  // 26.05 takes arguments, and names of PowerActions
    if (actions && value->find('/') == std::string::npos) continue;
    const auto blank = value->find(' ');
    if (blank != std::string::npos && !actions) {
      messages.push_back(fmt::format("{}={}: arguments are not allowed before Slurm 26.05", name, *value));
      continue;
    }
    const auto path = value->substr(0, blank);
    if (path.empty() || path[0] != '/') {
      messages.push_back(fmt::format("{}={}: not an absolute path", name, *value));
      continue;
    }
    const auto found = subject.host.programs.find(path);
    if (found == subject.host.programs.end()) continue;
    if (!found->second.exists) {
      messages.push_back(fmt::format("{}={}: no such file on this machine", name, path));
    } else if (!found->second.executable) {
      messages.push_back(fmt::format("{}={}: not executable", name, path));
    } else if (found->second.writable_by_others) {
      messages.push_back(fmt::format("{}={}: writable by group or others", name, path));
    }
  }
}

/// R2: names that Slurm keeps for itself, and more nodes than it can hold.
void names(const CheckSubject& subject, Messages& messages) {
  constexpr long long most_nodes = 65'536;  // MAX_SLURM_NODES
  long long nodes = 0;
  for (const auto& partition : subject.config.partitions) {
    if (same_option(partition.name, "DEFAULT") || same_option(partition.name, "ALL")) {
      messages.push_back(fmt::format("partition {}: a name that Slurm keeps for itself", partition.name));
    }
    for (const auto& group : partition.groups) nodes += group.max_nodes;
  }
  if (nodes > most_nodes) {
    messages.push_back(fmt::format("{} nodes in all node groups, Slurm holds {} at most", nodes, most_nodes));
  }
}

/// R3: Gres that gres.conf can't be written from, and AutoDetect, with which slurmctld ends at cloud nodes
/// (<= 23.11.3).
void gres(const CheckSubject& subject, Messages& messages) {
  bool any = false;
  for (const auto* group : subject.config.groups()) {
    std::vector<std::string> malformed;
    any = !group_gres(*group, malformed).empty() || any;
    for (const auto& item : malformed) {
      messages.push_back(fmt::format("{}: Gres \"{}\" is not name[:type][:count]", group->key(), item));
    }
  }
  if (!any || !subject.host.gres_conf) return;
  std::string_view text = *subject.host.gres_conf;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('#'));
    constexpr std::string_view auto_detect = "AutoDetect=";
    if (!same_option(line.substr(0, auto_detect.size()), auto_detect)) continue;
    const auto value = line.substr(auto_detect.size());
    if (!same_option(value.substr(0, value.find_first_of(" \t\r")), "off")) {
      messages.push_back(fmt::format("gres.conf: \"{}\" can't be used with cloud nodes", line));
    }
  }
}

/// R4: rates and intervals beyond which Slurm turns power saving off.
void rates(const CheckSubject& subject, Messages& messages) {
  constexpr long long most_rate = 60'000, most_interval = 60;
  for (const char* name : {"ResumeRate", "SuspendRate"}) {
    const auto* value = find_option(subject.config.slurm_conf, name);
    if (value == nullptr) continue;
    const auto rate = slurm_number(*value);
    if (!rate || *rate < 0 || *rate > most_rate) {
      messages.push_back(fmt::format("{}={}: expected a number from 0 to {}", name, *value, most_rate));
    }
  }
  for (const char* name : {"power_save_interval", "power_save_min_interval"}) {
    const auto value = subject.controller_parameter(name);
    if (!value) continue;
    const auto interval = slurm_number(*value);
    if (!interval || *interval < 0 || *interval > most_interval) {
      messages.push_back(
          fmt::format("SlurmctldParameters={}={}: expected a number from 0 to {}", name, *value, most_interval));
    }
  }
}

void timeouts_of(const CheckSubject& subject, const SlurmOptions& options, const std::string& where,
                 Messages& messages) {
  constexpr long long most_timeout = 65'533;
  for (const char* name : {"ResumeTimeout", "SuspendTimeout"}) {
    const auto* value = find_option(options, name);
    if (value == nullptr) continue;
    const auto seconds = slurm_number(*value);
    if (seconds == kNoLimit && subject.at_least(25, 5) && same_option(name, "ResumeTimeout")) continue;
    if (!seconds || *seconds < 1 || *seconds > most_timeout) {
      messages.push_back(fmt::format("{}{}={}: expected seconds from 1 to {}", where, name, *value, most_timeout));
    }
  }
  const auto* value = find_option(options, "SuspendTime");
  if (value != nullptr && !slurm_number(*value)) {  // Slurm would read "10m" as 10 and any other text as 0
    messages.push_back(fmt::format("{}SuspendTime={}: expected seconds or INFINITE", where, *value));
  }
}

/// R5: times that Slurm misreads.
void timeouts(const CheckSubject& subject, Messages& messages) {
  timeouts_of(subject, subject.config.slurm_conf, "", messages);
  for (const auto& partition : subject.config.partitions) {
    timeouts_of(subject, partition.slurm_options(), fmt::format("partition {}: ", partition.name), messages);
  }
}

/// R6: addresses that stand in the configuration must be as many as the nodes; cloud nodes are better without.
void addresses(const CheckSubject& subject, Messages& messages) {
  for (const auto* group : subject.config.groups()) {
    for (const char* name : {"NodeAddr", "NodeHostname", "BcastAddr"}) {
      const auto* value = find_option(group->slurm_specifications, name);
      if (value == nullptr) continue;
      std::size_t count = 0;
      try {
        count = expand_hostlist(*value).size();
      } catch (const Error& error) {
        messages.push_back(fmt::format("{}: {}={}: {}", group->key(), name, *value, error.what()));
        continue;
      }
      if (count != static_cast<std::size_t>(group->max_nodes)) {
        messages.push_back(
            fmt::format("{}: {}={}: {} names for {} nodes", group->key(), name, *value, count, group->max_nodes));
      }
    }
  }
}

/// An option that only some releases know: an unknown one is a parse error, which ends every daemon.
struct OptionSince {
  enum class Line { global, node, partition } line;
  const char* name;
  SlurmVersion since;
};
using Line = OptionSince::Line;
constexpr auto kOptionsSince = std::to_array<OptionSince>({{Line::global, "SuspendExcStates", {23, 2, 0}},
                                                           {Line::global, "PowerAction", {26, 5, 0}},
                                                           {Line::global, "MaxNodeCount", {22, 5, 0}},
                                                           {Line::node, "Topology", {25, 5, 0}},
                                                           {Line::node, "SuspendTime", {26, 5, 0}},
                                                           {Line::partition, "PowerDownOnIdle", {23, 2, 0}},
                                                           {Line::partition, "SuspendTime", {21, 8, 0}},
                                                           {Line::partition, "SuspendTimeout", {21, 8, 0}},
                                                           {Line::partition, "ResumeTimeout", {21, 8, 0}}});

void unknown_options_of(const CheckSubject& subject, const SlurmOptions& options, Line line, const std::string& where,
                        Messages& messages) {
  for (const auto& row : kOptionsSince) {
    if (row.line != line || find_option(options, row.name) == nullptr || subject.version >= row.since) continue;
    messages.push_back(fmt::format("{}{}: known since Slurm {}.{:02} only, this is {}.{:02}", where, row.name,
                                   row.since.major, row.since.minor, subject.version.major, subject.version.minor));
  }
}

/// R7: options that the release does not know.
void unknown_options(const CheckSubject& subject, Messages& messages) {
  unknown_options_of(subject, subject.config.slurm_conf, Line::global, "", messages);
  for (const auto& partition : subject.config.partitions) {
    unknown_options_of(subject, partition.slurm_options(), Line::partition,
                       fmt::format("partition {}: ", partition.name), messages);
    for (const auto& group : partition.groups) {
      unknown_options_of(subject, group.slurm_specifications, Line::node, group.key() + ": ", messages);
    }
  }
}

}  // namespace

std::span<const CheckRule> refusing_rules() {
  static constexpr auto kRules = std::to_array<CheckRule>({{"R1", true, programs},
                                                           {"R2", true, names},
                                                           {"R3", true, gres},
                                                           {"R4", true, rates},
                                                           {"R5", true, timeouts},
                                                           {"R6", true, addresses},
                                                           {"R7", true, unknown_options}});
  return kRules;
}

}  // namespace burst
