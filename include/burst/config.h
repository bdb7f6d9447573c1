// SPDX-License-Identifier: Apache-2.0
// The configuration: config.json and partitions.json, checked and with defaults filled in.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/files.h"
#include "burst/log.h"
#include "burst/machine.h"

namespace burst {

/// Slurm options in the order of the file, values as text: `{"CPUs", "4"}`. Numbers and booleans are written as JSON
/// writes them (`true` becomes `YES`, `false` `NO`).
using SlurmOptions = std::vector<std::pair<std::string, std::string>>;

/// Whether two names of Slurm options are one: Slurm compares them without case.
bool same_option(std::string_view a, std::string_view b);
/// The last value of an option, which is the one that Slurm takes; null when it is not there.
const std::string* find_option(const SlurmOptions& options, std::string_view name);

enum class LaunchStrategy { best_effort, all_or_nothing };

/// One node group: nodes that share their specification.
struct NodeGroup {
  std::string partition, name;
  std::string provider = "aws";
  int max_nodes = 0, min_nodes = 0;  ///< ids 0..min_nodes-1 are static: always up
  SlurmOptions slurm_specifications;
  LaunchStrategy strategy = LaunchStrategy::best_effort;
  /// The group's whole JSON object, for its provider's own keys; never null.
  std::shared_ptr<const nlohmann::ordered_json> settings;
  /// What its provider wants of each partition that has it (ProviderKeys::partition_options).
  SlurmOptions partition_needs;
  bool reserve_before_expiry = false;         ///< ExpiryReservation: a maintenance reservation before a machine expires
  std::chrono::seconds termination_time{30};  ///< as ProviderKeys::termination_time
  std::string location;  ///< where it stands, for messages: `"partitions.json": /Partitions/0/NodeGroups/1`

  std::string key() const { return partition + "-" + name; }
  NodeName node(int id) const { return key() + "-" + std::to_string(id); }
  /// `p-g-[0-9]`, or `p-g-0` for a single node.
  std::string node_range() const;
};

struct Partition {
  std::string name;
  std::vector<NodeGroup> groups;
  SlurmOptions options;  ///< PartitionOptions

  /// What its groups need and PartitionOptions do not say (the largest value where groups differ), then
  /// PartitionOptions: all that its line in slurm.conf has.
  SlurmOptions slurm_options() const;
};

/// Graces and cool-downs, all in seconds; reconcile.md says what each is for.
struct Timing {
  std::chrono::seconds launch_grace{120}, orphan_grace{120}, missing_grace{120};
  std::chrono::seconds cool_down{600}, max_cool_down{3600}, probe_time{120};
  int bootstrap_failure_limit = 10;  ///< 0: no bootstrap protection
  std::chrono::seconds deadline{0};  ///< of one program run; 0: the program's own default
};

struct Config {
  std::string config_file, partitions_file;  ///< as found
  bool beside_executable = false;            ///< found beside the program, as the Python plugin's: its defaults apply
  LogLevel log_level = LogLevel::debug;
  std::string log_file;
  std::string slurm_bin_path;  ///< with a trailing slash; empty: PATH
  SlurmOptions slurm_conf;
  std::string cluster_name;  ///< empty: Slurm's own
  std::string state_dir;     ///< empty: `slurm-burst` in Slurm's StateSaveLocation
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> machine_tags;                  ///< put on every machine, of every provider
  std::map<std::string, std::pair<double, double>> request_limits;  ///< action -> {burst, per second}
  int requests_in_flight = 128;
  bool adopt_untagged = false;
  Timing timing;
  std::vector<Partition> partitions;

  /// The group of a node, by its name's first two parts; null when there is none. The id is not checked.
  const NodeGroup* find_group(std::string_view node) const;
  std::vector<const NodeGroup*> groups() const;  ///< all, in the order of the file
};

/// Something wrong in a file: `reading "partitions.json": /Partitions/2/NodeGroups/0/MaxNodes: expected an integer,
/// found "ten"`.
struct ConfigProblem {
  bool fatal = true;  ///< false: a warning, such as an unknown key
  std::string message;
};

/// What a provider knows of its own keys: given by its row in the registry, so that core knows no provider.
struct ProviderKeys {
  std::string name;               ///< the value of `Provider`
  std::vector<std::string> keys;  ///< those that may stand in a node group, besides the common ones
  /// Checks a group's own keys; each problem's message begins with the JSON pointer below the group, `/SubnetIds/0:
  /// ...` (the loader puts file and group before it).
  std::vector<ConfigProblem> (*check)(const nlohmann::ordered_json& group) = nullptr;
  /// Slurm options of a partition with such a group, ResumeTimeout of machines that queue: PartitionOptions win. May be
  /// null.
  SlurmOptions (*partition_options)(const nlohmann::ordered_json& group) = nullptr;
  bool nodes_are_dns_labels = false;  ///< machines are called as their nodes: names have to be RFC 1035 labels
  /// How long ending a machine may take: Slurm's SuspendTimeout is better not below it.
  std::chrono::seconds termination_time{30};
  /// The same where a group's keys decide on it; null: one for all groups.
  std::chrono::seconds (*group_termination_time)(const nlohmann::ordered_json& group) = nullptr;
};

struct ConfigPaths {
  std::string config, partitions;
  bool beside_executable = false;
};

/// Where the files are: --config's (a file; partitions.json beside it), else SLURM_BURST_CONFIG's, else beside the
/// executable (links resolved), else in `sysconfdir`. Throws Error{"NoConfiguration"} that names all places looked at.
ConfigPaths find_config(const Files& files, const std::string& option, const std::optional<std::string>& variable,
                        const std::string& executable_dir, const std::string& sysconfdir);

/// The partitions of a text that is to be partitions.json; problems as load_config() finds them.
std::vector<Partition> parse_partitions(const std::string& file, std::string_view text,
                                        std::span<const ProviderKeys> providers, std::vector<ConfigProblem>& problems);

/// Loads and checks both files. All problems of both are found, not only the first: fatal ones and warnings are
/// appended to `problems`; with a fatal one the returned configuration is incomplete and not to be used.
Config load_config(const Files& files, const ConfigPaths& paths, std::span<const ProviderKeys> providers,
                   std::vector<ConfigProblem>& problems);

}  // namespace burst
