// SPDX-License-Identifier: Apache-2.0
// Loading config.json and partitions.json: every key read, every problem of both files reported.
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/config.h"
#include "burst/error.h"
#include "core/config_keys.h"
#include "core/config_place.h"
#include "core/json_document.h"

namespace burst {

namespace {

using Json = nlohmann::ordered_json;

constexpr long long kMaxGroupNodes = 65'536;   // Slurm expands no longer range (hostlist.c, MAX_RANGE)
constexpr long long kMaxSeconds = 31'536'000;  // a year
constexpr long long kMaxCount = std::numeric_limits<int>::max();
constexpr auto kLogLevels = std::to_array<std::pair<std::string_view, LogLevel>>({{"CRITICAL", LogLevel::critical},
                                                                                  {"ERROR", LogLevel::error},
                                                                                  {"WARNING", LogLevel::warning},
                                                                                  {"INFO", LogLevel::info},
                                                                                  {"DEBUG", LogLevel::debug}});
constexpr auto kStrategies = std::to_array<std::pair<std::string_view, LaunchStrategy>>(
    {{"best-effort", LaunchStrategy::best_effort}, {"all-or-nothing", LaunchStrategy::all_or_nothing}});

/// Reads one of a table's words into `value`.
template <typename Value, std::size_t N>
void read_word(const ConfigPlace& place, const std::array<std::pair<std::string_view, Value>, N>& words, Value& value) {
  std::string all;
  for (const auto& [word, meaning] : words) {
    if (place.value() == word) {
      value = meaning;
      return;
    }
    all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", word);
  }
  place.expected("one of " + all);
}

void read_seconds(const ConfigPlace& root, std::string_view key, std::chrono::seconds& value) {
  const auto place = root.optional(key);
  if (!place) return;
  if (const auto seconds = place->integer(0, kMaxSeconds)) value = std::chrono::seconds(*seconds);
}

void read_timing(const ConfigPlace& root, Timing& timing) {
  read_seconds(root, "LaunchGrace", timing.launch_grace);
  read_seconds(root, "OrphanGrace", timing.orphan_grace);
  read_seconds(root, "MissingGrace", timing.missing_grace);
  read_seconds(root, "CoolDown", timing.cool_down);
  read_seconds(root, "MaxCoolDown", timing.max_cool_down);
  read_seconds(root, "ProbeTime", timing.probe_time);
  read_seconds(root, "Deadline", timing.deadline);
  if (const auto place = root.optional("BootstrapFailureLimit")) {
    timing.bootstrap_failure_limit = static_cast<int>(place->integer(0, kMaxCount).value_or(0));
  }
  if (!root.has("MaxCoolDown")) {
    timing.max_cool_down = std::max(timing.max_cool_down, timing.cool_down);
  } else if (timing.cool_down > timing.max_cool_down) {
    root.problem(fmt::format("expected CoolDown not above MaxCoolDown, found {} and {}", timing.cool_down.count(),
                             timing.max_cool_down.count()));
  }
}

std::map<std::string, std::pair<double, double>> read_request_limits(const ConfigPlace& place) {
  std::map<std::string, std::pair<double, double>> limits;
  if (!place.expect_object()) return limits;
  for (const auto& action : place.children()) {
    if (!action.expect_object()) continue;
    action.warn_unknown(kRequestLimitKeys);
    const auto burst = action.required("Burst"), per_second = action.required("PerSecond");
    const auto burst_value = burst ? burst->positive_number() : std::nullopt;
    const auto per_second_value = per_second ? per_second->positive_number() : std::nullopt;
    if (burst_value && per_second_value) limits[action.name()] = {*burst_value, *per_second_value};
  }
  return limits;
}

bool is_variable_name(std::string_view name) {
  const auto is_word = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), is_word);
}

std::map<std::string, std::string> read_environment(const ConfigPlace& place) {
  auto variables = place.strings();
  for (const auto& [name, value] : variables) {
    if (!is_variable_name(name)) {
      place.problem(fmt::format("expected names of variables, found {}", json_shown(Json(name))));
    }
    if (value.find('\0') != std::string::npos) {
      place.problem(fmt::format("expected values without NUL characters, found one in {}", json_shown(Json(name))));
    }
  }
  return variables;
}

void read_names(const ConfigPlace& root, Config& config) {
  if (const auto place = root.optional("ClusterName")) {
    constexpr std::size_t longest = 63;  // a label of GCE and of Kubernetes
    const auto is_allowed = [](unsigned char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
             c == '-';
    };
    const auto* text = place->value().is_string() ? place->value().get_ptr<const std::string*>() : nullptr;
    if (text != nullptr && !text->empty() && text->size() <= longest &&
        std::all_of(text->begin(), text->end(), is_allowed)) {
      config.cluster_name = *text;
    } else {
      place->expected("up to 63 letters, digits, '.', '_' and '-'");
    }
  }
  const auto read_path = [&root](std::string_view key, std::string& value) {
    const auto place = root.optional(key);
    if (!place) return;
    const auto text = place->string();
    if (text && (text->empty() || text->front() != '/' || text->find('\0') != std::string::npos)) {
      place->expected("an absolute path");
    } else if (text) {
      value = *text;
    }
  };
  read_path("StateDir", config.state_dir);
  if (const auto place = root.optional("LogFileName")) {
    const auto text = place->string();
    if (text && (text->empty() || text->find('\0') != std::string::npos)) {
      place->expected("the path of a file");
    } else if (text) {
      config.log_file = *text;
    }
  }
  if (const auto place = root.optional("SlurmBinPath")) {
    config.slurm_bin_path = place->string().value_or("");
    if (!config.slurm_bin_path.empty() && config.slurm_bin_path.back() != '/') config.slurm_bin_path += '/';
  }
}

void read_config(const ConfigPlace& root, Config& config) {
  if (!root.expect_object()) return;
  root.warn_unknown(kConfigKeys);
  if (const auto place = root.optional("LogLevel")) read_word(*place, kLogLevels, config.log_level);
  read_names(root, config);
  if (const auto place = root.required("SlurmConf")) {
    config.slurm_conf = place->slurm_options();
    for (const auto key : kRequiredSlurmConf) {
      if (place->value().is_object()) place->required(key);
    }
  }
  if (const auto place = root.optional("Environment")) config.environment = read_environment(*place);
  if (const auto place = root.optional("MachineTags")) config.machine_tags = place->strings();
  if (const auto place = root.optional("RequestLimits")) config.request_limits = read_request_limits(*place);
  if (const auto place = root.optional("RequestsInFlight")) {
    constexpr int most_in_flight = 10'000;
    config.requests_in_flight = static_cast<int>(place->integer(1, most_in_flight).value_or(1));
  }
  if (const auto place = root.optional("AdoptUntagged")) config.adopt_untagged = place->boolean().value_or(false);
  read_timing(root, config.timing);
}

void check_tags(const ConfigPlace& place) {
  if (!place.expect_array()) return;
  for (const auto& tag : place.children()) {
    if (!tag.expect_object()) continue;
    tag.warn_unknown(kTagKeys);
    const auto key = tag.required("Key"), value = tag.required("Value");
    if (key && key->string() && key->value().get_ref<const std::string&>().empty()) {
      key->expected("a key that is not empty");
    }
    if (value) value->string();
  }
}

/// The row of the group's provider; null, and a problem, when this build knows none of that name.
const ProviderKeys* read_provider(const ConfigPlace& place, std::span<const ProviderKeys> providers, NodeGroup& group) {
  const auto named = place.optional("Provider");
  if (named) {
    const auto text = named->string();
    if (!text) return nullptr;
    group.provider = *text;
  }
  std::string known;
  for (const auto& row : providers) {
    if (row.name == group.provider) return &row;
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", row.name);
  }
  if (named) {
    named->expected("one of " + known);
  } else {
    place.problem(fmt::format("expected a key \"Provider\" with one of {}, found none", known));
  }
  return nullptr;
}

void check_provider_keys(const ConfigPlace& place, const ProviderKeys& provider, std::vector<ConfigProblem>& problems) {
  std::vector<std::string_view> known(kNodeGroupKeys.begin(), kNodeGroupKeys.end());
  known.insert(known.end(), provider.keys.begin(), provider.keys.end());
  place.warn_unknown(known);
  if (provider.check == nullptr) return;
  for (auto& found : provider.check(place.value())) {
    problems.push_back({found.fatal, fmt::format("reading {}{}", place.location(), found.message)});
  }
}

/// Machines are called as their nodes: the longest of their names has to be one that DNS takes.
void check_dns_label(const ConfigPlace& place, const NodeGroup& group) {
  if (group.partition.empty() || group.name.empty() || group.max_nodes < 1) return;
  constexpr std::size_t longest = 63;
  const auto name = group.node(group.max_nodes - 1);
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (name.size() <= longest && name[0] >= 'a' && name[0] <= 'z' && std::all_of(name.begin(), name.end(), fits)) return;
  place.problem(fmt::format(
      R"(machines of {} are called as their nodes: "{}" has to be a DNS label (RFC 1035): lower case letters, digits and )"
      "'-', a letter first, at most {} characters",
      group.provider, name, longest));
}

/// What the provider's row says of the group.
void read_provider_side(const ConfigPlace& place, const ProviderKeys& provider, NodeGroup& group,
                        std::vector<ConfigProblem>& problems) {
  const auto before = problems.size();
  check_provider_keys(place, provider, problems);
  const auto is_fatal = [](const auto& problem) { return problem.fatal; };
  const bool good = std::none_of(problems.begin() + static_cast<std::ptrdiff_t>(before), problems.end(), is_fatal);
  if (provider.partition_options != nullptr && good) group.partition_needs = provider.partition_options(place.value());
  const bool own_time = provider.group_termination_time != nullptr && good;
  group.termination_time = own_time ? provider.group_termination_time(place.value()) : provider.termination_time;
  const auto name = place.optional("NodeGroupName");
  if (provider.nodes_are_dns_labels && name) check_dns_label(*name, group);
}

struct PartitionsReader {
  std::span<const ProviderKeys> providers;
  std::vector<ConfigProblem>& problems;

  NodeGroup group(const ConfigPlace& place, const std::string& partition) const {
    NodeGroup group;
    group.partition = partition;
    group.location = place.location();
    if (!place.expect_object()) return group;
    group.settings = std::make_shared<const Json>(place.value());
    if (const auto name = place.required("NodeGroupName")) group.name = name->plain_name().value_or("");
    if (const auto most = place.required("MaxNodes")) {
      group.max_nodes = static_cast<int>(most->integer(1, kMaxGroupNodes).value_or(0));
    }
    if (const auto least = place.optional("MinNodes")) {
      const auto count = least->integer(0, kMaxGroupNodes);
      group.min_nodes = static_cast<int>(count.value_or(0));
      if (group.max_nodes > 0 && group.min_nodes > group.max_nodes) {
        least->expected(fmt::format("no more than MaxNodes, {}", group.max_nodes));
      }
    }
    if (const auto specifications = place.required("SlurmSpecifications")) {
      group.slurm_specifications = specifications->slurm_options();
    }
    if (const auto strategy = place.optional("LaunchStrategy")) read_word(*strategy, kStrategies, group.strategy);
    if (const auto tags = place.optional("Tags")) check_tags(*tags);
    if (const auto reserve = place.optional("ExpiryReservation")) {
      group.reserve_before_expiry = reserve->boolean().value_or(false);
    }
    if (const auto* provider = read_provider(place, providers, group)) {
      read_provider_side(place, *provider, group, problems);
    }
    return group;
  }

  Partition partition(const ConfigPlace& place) const {
    Partition partition;
    if (!place.expect_object()) return partition;
    place.warn_unknown(kPartitionKeys);
    if (const auto name = place.required("PartitionName")) partition.name = name->plain_name().value_or("");
    if (const auto options = place.optional("PartitionOptions")) partition.options = options->slurm_options();
    const auto groups = place.required("NodeGroups");
    if (!groups || !groups->expect_array()) return partition;
    if (groups->value().empty() && find_option(partition.options, "Nodes") == nullptr) {
      groups->problem("no node group: the partition will have no nodes", false);
    }
    std::set<std::string> names;
    for (const auto& child : groups->children()) {
      partition.groups.push_back(group(child, partition.name));
      const auto& name = partition.groups.back().name;
      if (!name.empty() && !names.insert(name).second) {
        child.problem(fmt::format("expected each NodeGroupName once in a partition, found \"{}\" twice", name));
      }
    }
    return partition;
  }

  std::vector<Partition> partitions(const ConfigPlace& root) const {
    std::vector<Partition> all;
    if (!root.expect_object()) return all;
    root.warn_unknown(kPartitionsFileKeys);
    const auto list = root.required("Partitions");
    if (!list || !list->expect_array()) return all;
    std::set<std::string> names;
    for (const auto& child : list->children()) {
      all.push_back(partition(child));
      const auto& name = all.back().name;
      if (!name.empty() && !names.insert(name).second) {
        child.problem(fmt::format("expected each PartitionName once, found \"{}\" twice", name));
      }
    }
    return all;
  }
};

/// The document; nothing when the text is not JSON.
std::optional<Json> parse_document(const std::string& file, std::string_view text,
                                   std::vector<ConfigProblem>& problems) {
  std::vector<std::string> found;
  std::optional<Json> document = parse_json_document(text, found);
  for (const auto& problem : found) problems.push_back({true, fmt::format("reading \"{}\": {}", file, problem)});
  if (!found.empty() && document->is_null()) return std::nullopt;
  return document;
}

/// The document of one file; nothing when it is not there, not readable or not JSON.
std::optional<Json> read_document(const Files& files, const std::string& file, std::vector<ConfigProblem>& problems) {
  std::optional<std::string> text;
  try {
    text = files.read(file);
  } catch (const Error& error) {
    problems.push_back({true, error.what()});
    return std::nullopt;
  }
  if (!text) {
    problems.push_back({true, fmt::format("reading \"{}\": no such file", file)});
    return std::nullopt;
  }
  return parse_document(file, *text, problems);
}

}  // namespace

std::vector<Partition> parse_partitions(const std::string& file, std::string_view text,
                                        std::span<const ProviderKeys> providers, std::vector<ConfigProblem>& problems) {
  const auto document = parse_document(file, text, problems);
  if (!document) return {};
  return PartitionsReader{providers, problems}.partitions(ConfigPlace(file, *document, problems));
}

Config load_config(const Files& files, const ConfigPaths& paths, std::span<const ProviderKeys> providers,
                   std::vector<ConfigProblem>& problems) {
  Config config;
  config.config_file = paths.config;
  config.partitions_file = paths.partitions;
  config.beside_executable = paths.beside_executable;
  config.log_file = "/var/log/slurm-burst.log";
  if (paths.beside_executable) {
    config.log_file = paths.config.substr(0, paths.config.rfind('/') + 1) + "aws_plugin.log";
  }
  if (const auto document = read_document(files, paths.config, problems)) {
    read_config(ConfigPlace(paths.config, *document, problems), config);
  }
  if (const auto document = read_document(files, paths.partitions, problems)) {
    const PartitionsReader reader{providers, problems};
    config.partitions = reader.partitions(ConfigPlace(paths.partitions, *document, problems));
  }
  return config;
}

}  // namespace burst
