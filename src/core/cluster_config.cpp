// SPDX-License-Identifier: Apache-2.0
// Turns the cluster_config.json of a Slurm cluster on Vertex AI into a partitions.json.
#include "core/cluster_config.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/cluster_config_reader.h"
#include "core/json_document.h"
#include "core/machine_types.h"

namespace burst {

namespace {

using Json = nlohmann::ordered_json;

/// Lower-case letters and digits of an id; what Slurm, our node names and DNS take together.
std::string plain_name(std::string_view id, std::size_t longest) {
  std::string name;
  for (const char c : id) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) name += lower;
  }
  if (name.empty() || name[0] < 'a') name.insert(0, "p");
  return name.substr(0, longest);
}

/// A name that is not taken yet, by a number at its end if need be.
std::string free_name(const std::string& name, std::set<std::string>& taken) {
  auto candidate = name;
  for (int i = 2; !taken.insert(candidate).second; ++i) candidate = name + std::to_string(i);
  return candidate;
}

class Conversion {
 public:
  explicit Conversion(const ClusterConfig& cluster) : cluster_(cluster) {}

  ConvertedCluster run() {
    Json partitions = Json::array();
    std::set<std::string> taken{"default", "all"};  // Slurm's own
    for (const auto& partition : cluster_.partitions) {
      const auto name = named("partition", partition.id, taken, kLongestPartition);
      partitions.push_back(converted(partition, name));
    }
    for (std::size_t i = 0; i < cluster_.pools.size(); ++i) {
      if (!nodes_.contains(i)) hint("node pool {}: in no partition, left out", cluster_.pools[i].id);
    }
    if (!cluster_.home_storage.empty()) {
      hint("home_directory_storage {}: to be mounted by the image or start-up script of the instance templates",
           cluster_.home_storage);
    }
    constexpr int indent = 2;
    result_.partitions = Json{{"Partitions", partitions}}.dump(indent) + "\n";
    return std::move(result_);
  }

 private:
  // PARTITION-GROUP-ID has 63 characters at most, five of them for the id; numbers may be added to both names.
  static constexpr std::size_t kLongestPartition = 20, kLongestGroup = 30;

  template <typename... Arguments>
  void hint(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    result_.hints.push_back(fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  std::string named(const char* kind, const std::string& id, std::set<std::string>& taken, std::size_t longest) {
    const auto name = free_name(plain_name(id, longest), taken);
    if (name != id) hint("{} {}: called {}, as names are of lower-case letters and digits, each once", kind, id, name);
    return name;
  }

  Json converted(const PoolPartition& partition, const std::string& name) {
    Json groups = Json::array();
    std::set<std::string> taken;
    std::string nodes;
    bool shares = false;
    for (const auto index : partition.pools) {
      const auto& pool = cluster_.pools[index];
      const auto known = nodes_.find(index);
      if (known == nodes_.end()) {
        const auto group = named("node pool", pool.id, taken, kLongestGroup);
        groups.push_back(group_of(pool, group));
        nodes_[index] = node_range(name, group, pool.max_nodes);
      } else {
        hint("partition {}: shares the nodes {} of node pool {}", name, known->second, pool.id);
        shares = true;
      }
      nodes += (nodes.empty() ? "" : ",") + nodes_[index];
    }
    Json json{{"PartitionName", name}, {"NodeGroups", groups}};
    if (shares) json["PartitionOptions"] = {{"Nodes", nodes}};
    return json;
  }

  static std::string node_range(const std::string& partition, const std::string& name, long long count) {
    NodeGroup group;
    group.partition = partition;
    group.name = name;
    group.max_nodes = static_cast<int>(count);
    return group.node_range();
  }

  Json group_of(const NodePool& pool, const std::string& name) {
    Json json{{"NodeGroupName", name}, {"Provider", "gce"}, {"Project", cluster_.project}, {"Region", cluster_.region}};
    if (!pool.zone.empty()) json["Zones"] = Json::array({pool.zone});
    json["MinNodes"] = pool.min_nodes;
    json["MaxNodes"] = pool.max_nodes;
    json["ProvisioningModel"] = pool.model;
    if (pool.model == "FLEX_START" && !pool.flex_duration.empty()) json["FlexStartMaxDuration"] = pool.flex_duration;
    if (!pool.reservation.empty() && (pool.model == "STANDARD" || pool.model == "RESERVATION_BOUND")) {
      json["Reservation"] = pool.reservation;
    }
    json["InstanceTemplate"] = template_of(pool);
    json["SlurmSpecifications"] = specifications_of(pool);
    return json;
  }

  Json specifications_of(const NodePool& pool) {
    Json options = Json::object();
    const auto machine = machine_type(pool.machine);
    if (machine) {
      options["CPUs"] = machine->cpus;
      options["RealMemory"] = real_memory(*machine);
    } else {
      hint(
          "node pool {}: machine type {} is not known here: add CPUs and RealMemory, as slurmd -C says on such a "
          "machine, to its SlurmSpecifications",
          pool.id, pool.machine);
    }
    auto gpu = gpu_type(pool.accelerator);
    auto count = pool.accelerators;
    if (pool.accelerator.empty() && machine && machine->gpus > 0) {
      gpu = machine->gpu;
      count = machine->gpus;
    } else if (!pool.accelerator.empty() && gpu.empty()) {
      hint("node pool {}: accelerator {} is no GPU of NVIDIA: no Gres is written", pool.id, pool.accelerator);
    }
    if (!gpu.empty() && count > 0) options["Gres"] = fmt::format("gpu:{}:{}", gpu, count);
    return options;
  }

  /// The template's name, and the hint that it is to be made.
  std::string template_of(const NodePool& pool) {
    constexpr std::size_t longest = 63;
    std::string name;
    for (const char c : cluster_.display_name + "-" + pool.id) {
      const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      const bool fits = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
      name += fits ? lower : '-';
    }
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    if (name.empty() || name[0] < 'a') name.insert(0, "t");
    name = name.substr(0, longest);
    name.erase(name.find_last_not_of('-') + 1);
    std::string settings = fmt::format("machine type {}", pool.machine);
    if (!cluster_.network.empty()) settings += ", network " + cluster_.network;
    if (!cluster_.subnetwork.empty()) settings += ", subnetwork " + cluster_.subnetwork;
    if (!pool.boot_disk.empty()) settings += ", boot disk " + pool.boot_disk;
    settings += pool.public_addresses ? ", an external address" : ", no external address";
    if (pool.model == "FLEX_START") {
      settings += fmt::format(
          ", provisioning model FLEX_START, maximum run duration {}, termination action DELETE, maintenance policy "
          "TERMINATE, reservation affinity none",
          pool.flex_duration.empty() ? "604800s" : pool.flex_duration);
    }
    hint("node pool {}: create the instance template {}: {}; docs/providers/gce.md says what it needs besides", pool.id,
         name, settings);
    return name;
  }

  const ClusterConfig& cluster_;
  ConvertedCluster result_;
  std::map<std::size_t, std::string> nodes_;  // of the pools that have a node group already
};

}  // namespace

ConvertedCluster convert_cluster_config(const std::string& file, std::string_view text,
                                        std::vector<ConfigProblem>& problems) {
  std::vector<std::string> found;
  const auto document = parse_json_document(text, found);
  for (const auto& problem : found) problems.push_back({true, fmt::format("reading \"{}\": {}", file, problem)});
  if (!found.empty()) return {};
  const auto cluster = read_cluster_config(ConfigPlace(file, document, problems));
  if (std::any_of(problems.begin(), problems.end(), [](const auto& problem) { return problem.fatal; })) return {};
  return Conversion(cluster).run();
}

}  // namespace burst
