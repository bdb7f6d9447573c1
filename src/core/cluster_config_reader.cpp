// SPDX-License-Identifier: Apache-2.0
// What a cluster_config.json says, read with checks.
#include "core/cluster_config_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace burst {

namespace {

constexpr long long kMaxGroupNodes = 65'536;
constexpr auto kModels =
    std::to_array<std::pair<std::string_view, const char*>>({{"PROVISIONING_MODEL_UNSPECIFIED", "STANDARD"},
                                                             {"STANDARD", "STANDARD"},
                                                             {"ON_DEMAND", "STANDARD"},
                                                             {"SPOT", "SPOT"},
                                                             {"RESERVATION", "RESERVATION_BOUND"},
                                                             {"RESERVATION_BOUND", "RESERVATION_BOUND"},
                                                             {"FLEX_START", "FLEX_START"}});

/// `min_node_count` -> `minNodeCount`, the other spelling of Google's JSON.
std::string camel(std::string_view snake) {
  std::string text;
  for (std::size_t i = 0; i < snake.size(); ++i) {
    if (snake[i] == '_' && i + 1 < snake.size()) {
      const char next = snake[++i];
      text += next >= 'a' && next <= 'z' ? static_cast<char>(next - 'a' + 'A') : next;
    } else {
      text += snake[i];
    }
  }
  return text;
}

std::optional<ConfigPlace> field(const ConfigPlace& place, std::string_view key) {
  auto found = place.optional(key);
  return found ? found : place.optional(camel(key));
}

std::optional<ConfigPlace> required(const ConfigPlace& place, std::string_view key) {
  auto found = field(place, key);
  return found || !place.is_object() ? found : place.required(key);
}

/// `<project-id>` stands where the user's own value belongs.
std::string placeholder_in(std::string_view text) {
  const auto open = text.find('<');
  const auto close = open == std::string_view::npos ? open : text.find('>', open);
  return close == std::string_view::npos ? "" : std::string(text.substr(open, close + 1 - open));
}

/// A string; one with a placeholder is a problem, and gives nothing.
std::string text_of(const std::optional<ConfigPlace>& place) {
  if (!place) return "";
  auto text = place->string().value_or("");
  if (const auto placeholder = placeholder_in(text); !placeholder.empty()) {
    place->expected(fmt::format("your own value in place of {}", placeholder));
    return "";
  }
  return text;
}

/// A string that is only shown: a placeholder stays.
std::string shown_text(const std::optional<ConfigPlace>& place) {
  return place ? place->string().value_or("") : std::string();
}

/// An integer, or its digits as a string.
std::optional<long long> count_of(const ConfigPlace& place, long long least, long long most) {
  if (!place.value().is_string()) return place.integer(least, most);
  const auto& text = place.value().get_ref<const std::string&>();
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most) return number;
  place.expected(fmt::format("an integer from {} to {}", least, most));
  return std::nullopt;
}

bool truth_of(const std::optional<ConfigPlace>& place) {
  if (!place) return false;
  if (place->value() == "true") return true;
  if (place->value() == "false") return false;
  return place->boolean().value_or(false);
}

void read_scaling(const ConfigPlace& pool_place, NodePool& pool) {
  const auto scaling = required(pool_place, "scaling_spec");
  if (!scaling || !scaling->expect_object()) return;
  const auto least = field(*scaling, "min_node_count"), most = required(*scaling, "max_node_count");
  if (most) pool.max_nodes = count_of(*most, 1, kMaxGroupNodes).value_or(0);
  if (least) pool.min_nodes = count_of(*least, 0, kMaxGroupNodes).value_or(0);
  if (least && pool.max_nodes > 0 && pool.min_nodes > pool.max_nodes) {
    least->expected(fmt::format("no more than max_node_count, {}", pool.max_nodes));
  }
}

/// Seconds as Google writes a Duration.
bool is_duration(const std::string& text) {
  constexpr long long shortest = 30, longest = 604'800;
  long long seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc() && end + 1 == text.data() + text.size() && *end == 's' && seconds >= shortest &&
         seconds <= longest;
}

void read_model(const ConfigPlace& place, NodePool& pool) {
  if (const auto model = field(place, "provisioning_model")) {
    const auto found =
        std::find_if(kModels.begin(), kModels.end(), [&](const auto& row) { return model->value() == row.first; });
    if (found == kModels.end()) {
      model->expected(R"(one of "ON_DEMAND", "SPOT", "RESERVATION", "FLEX_START")");
    } else {
      pool.model = found->second;
    }
  }
  if (const auto duration = field(place, "flex_start_max_duration")) {
    pool.flex_duration = text_of(duration);
    if (!is_duration(pool.flex_duration)) duration->expected(R"(seconds from 30 to 604800 such as "604800s")");
  }
}

void read_machine(const ConfigPlace& place, NodePool& pool) {
  const auto machine = required(place, "machine_spec");
  if (!machine || !machine->expect_object()) return;
  pool.machine = text_of(required(*machine, "machine_type"));
  pool.accelerator = text_of(field(*machine, "accelerator_type"));
  if (const auto count = field(*machine, "accelerator_count")) {
    constexpr long long most = 1024;
    pool.accelerators = count_of(*count, 0, most).value_or(0);
  }
  const auto affinity = field(*machine, "reservation_affinity");
  const auto values = affinity ? field(*affinity, "values") : std::nullopt;
  if (values && values->expect_array() && !values->value().empty()) pool.reservation = text_of(values->children()[0]);
  if (pool.model == "RESERVATION_BOUND" && pool.reservation.empty()) {
    machine->problem("expected reservation_affinity with the reservation in values, found none");
  }
}

constexpr auto kPoolKeys = std::to_array<std::string_view>(
    {"id", "display_name", "machine_spec", "scaling_spec", "provisioning_model", "flex_start_max_duration", "zone",
     "boot_disk", "enable_public_ips", "labels", "lustres", "service_account", "startup_script", "container_disk"});

/// A misspelled key would silently give other machines than those that are meant.
void warn_unknown_keys(const ConfigPlace& place) {
  std::vector<std::string> camels;
  for (const auto key : kPoolKeys) camels.push_back(camel(key));
  std::vector<std::string_view> known(kPoolKeys.begin(), kPoolKeys.end());
  known.insert(known.end(), camels.begin(), camels.end());
  place.warn_unknown(known);
}

NodePool read_pool(const ConfigPlace& place, const std::string& region) {
  NodePool pool;
  warn_unknown_keys(place);
  read_scaling(place, pool);
  read_model(place, pool);
  read_machine(place, pool);
  if (const auto zone = field(place, "zone")) {
    pool.zone = text_of(zone);
    if (!pool.zone.empty() && !region.empty() && !pool.zone.starts_with(region + "-")) {
      zone->expected(fmt::format("a zone of {}", region));
    }
  }
  if (const auto disk = field(place, "boot_disk"); disk && disk->expect_object()) {
    pool.boot_disk = shown_text(field(*disk, "boot_disk_type"));
    if (const auto size = field(*disk, "boot_disk_size_gb")) {
      constexpr long long most = 1'000'000;
      pool.boot_disk +=
          fmt::format("{}{} GB", pool.boot_disk.empty() ? "" : ", ", count_of(*size, 1, most).value_or(0));
    }
  }
  pool.public_addresses = truth_of(field(place, "enable_public_ips"));
  return pool;
}

/// `projects/P/locations/R/modelDevelopmentClusters/...`
void read_name(const ConfigPlace& root, ClusterConfig& cluster) {
  const auto place = required(root, "name");
  const auto name = text_of(place);
  if (name.empty()) {
    if (place && place->value() == "") place->expected("projects/PROJECT/locations/REGION/...");
    return;
  }
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() < 4 || parts[0] != "projects" || parts[1].empty() || parts[2] != "locations" || parts[3].empty()) {
    place->expected("projects/PROJECT/locations/REGION/...");
    return;
  }
  cluster.project = parts[1];
  cluster.region = parts[3];
}

class PartitionsOfPools {
 public:
  PartitionsOfPools(const ConfigPlace& root, ClusterConfig& cluster) : cluster_(cluster) {
    const auto orchestrator = required(root, "orchestrator_spec");
    if (!orchestrator || !orchestrator->expect_object()) return;
    slurm_ = required(*orchestrator, "slurm_spec");
    if (!slurm_ || !slurm_->expect_object()) return;
    login_ = text_of(field(*slurm_, "login_node_pool_id"));
    cluster.home_storage = shown_text(field(*slurm_, "home_directory_storage"));
  }

  void read_pools(const ConfigPlace& list) {
    if (!list.expect_array()) return;
    for (const auto& place : list.children()) {
      if (!place.expect_object()) continue;
      const auto id_place = required(place, "id");
      const auto id = text_of(id_place);
      if (id.empty()) continue;
      if (!ids_.insert(id).second) id_place->expected("each id once");
      if (id == login_) continue;
      cluster_.pools.push_back(read_pool(place, cluster_.region));
      cluster_.pools.back().id = id;
    }
  }

  void read_partitions() {
    const auto list = slurm_ ? required(*slurm_, "partitions") : std::nullopt;
    if (!list || !list->expect_array()) return;
    std::set<std::string> ids;
    for (const auto& place : list->children()) {
      if (!place.expect_object()) continue;
      PoolPartition partition;
      const auto id = required(place, "id");
      partition.id = text_of(id);
      if (!partition.id.empty() && !ids.insert(partition.id).second) id->expected("each id once");
      const auto pools = required(place, "node_pool_ids");
      if (pools && pools->expect_array()) {
        for (const auto& pool : pools->children()) read_reference(pool, partition);
      }
      cluster_.partitions.push_back(std::move(partition));
    }
  }

 private:
  void read_reference(const ConfigPlace& place, PoolPartition& partition) {
    const auto id = text_of(place);
    if (id.empty()) return;
    if (id == login_) {
      place.problem("the login pool is left out", false);
      return;
    }
    const auto& pools = cluster_.pools;
    const auto found = std::find_if(pools.begin(), pools.end(), [&](const auto& pool) { return pool.id == id; });
    if (found == pools.end()) {
      place.expected("the id of a node pool");
      return;
    }
    const auto index = static_cast<std::size_t>(found - pools.begin());
    const auto& known = partition.pools;
    if (std::find(known.begin(), known.end(), index) == known.end()) partition.pools.push_back(index);
  }

  ClusterConfig& cluster_;
  std::optional<ConfigPlace> slurm_;
  std::string login_;
  std::set<std::string> ids_;
};

}  // namespace

ClusterConfig read_cluster_config(const ConfigPlace& root) {
  ClusterConfig cluster;
  if (!root.expect_object()) return cluster;
  read_name(root, cluster);
  cluster.display_name = text_of(field(root, "display_name"));
  if (const auto network = field(root, "network"); network && network->expect_object()) {
    cluster.network = shown_text(field(*network, "network"));
    cluster.subnetwork = shown_text(field(*network, "subnetwork"));
  }
  PartitionsOfPools partitions(root, cluster);
  if (const auto pools = required(root, "node_pools")) partitions.read_pools(*pools);
  partitions.read_partitions();
  return cluster;
}

}  // namespace burst
