// SPDX-License-Identifier: Apache-2.0
// What requests to Compute Engine say: bodies, labels, names, descriptions.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burst/config.h"
#include "burst/machine.h"
#include "burst/random.h"
#include "providers/gce/gce_settings.h"

namespace burst::gce {

inline constexpr const char* kClusterLabel = "burst-cluster";
inline constexpr const char* kPartitionLabel = "burst-partition";
inline constexpr const char* kGroupLabel = "burst-group";
inline constexpr const char* kLaunchLabel = "burst-launch";
inline constexpr const char* kJobLabel = "burst-job";

/// Google's own limits of one call.
inline constexpr std::size_t kMachinesPerBulkInsert = 5000;
inline constexpr std::size_t kMachinesPerResizeRequest = 1000;
inline constexpr std::size_t kMachinesPerDeletion = 1000;

/// Whose machines: what every label and description says.
struct GroupIdentity {
  std::string cluster;
  std::string partition, group;  ///< of the node group

  std::string key() const { return partition + "-" + group; }
  /// Whether a name is one of the group's nodes.
  bool owns(std::string_view node) const;
};

/// One request for machines, small enough for one call.
struct Request {
  std::string launch;  ///< what the label burst-launch says
  std::vector<NodeName> nodes;
  std::optional<JobId> job;
  bool all_or_nothing = false;
};

/// The group's labels and ours; ours can't be overridden.
Labels machine_labels(const GroupSettings& settings, const GroupIdentity& identity, const Request& request);

/// For `filter`: the machines of the group, and of one launch where it is given.
std::string label_filter(const GroupIdentity& identity, const std::string& launch = {});

/// Body of instances.bulkInsert (exactly one zone in the settings) or regionInstances.bulkInsert. Google merges
/// `instanceProperties` into the template's as a JSON merge patch (RFC 7396): the template's own labels stay.
std::string bulk_insert_body(const GroupSettings& settings, const GroupIdentity& identity, const Request& request);

/// Body of regionInstanceGroupManagers.insert: a group that holds nothing until a resize request fills it, repairs
/// nothing and moves nothing. Its name is the request's launch.
std::string instance_group_body(const GroupSettings& settings, const GroupIdentity& identity, const Request& request);

/// Body of regionInstanceGroupManagerResizeRequests.insert.
std::string resize_request_body(std::span<const NodeName> nodes, std::chrono::seconds duration);

/// Body of regionInstanceGroupManagers.deleteInstances; `instances` as `zones/ZONE/instances/NAME`.
std::string delete_instances_body(std::span<const std::string> instances);

/// How long a flex machine may run: FlexStartMaxDuration, or by the job's time limit and the time to boot. Within
/// what a resize request takes: 600 s at least.
std::chrono::seconds run_duration(const GroupSettings& settings, std::optional<std::chrono::seconds> job_time_limit);

/// The name of the instance group of a request, the same for the same cluster, group, job and nodes; `attempt` counts
/// from 0. An RFC 1035 label, and so a label's value too.
std::string instance_group_name(const GroupIdentity& identity, const Request& request, int attempt);
/// What all names of the group's instance groups begin with.
std::string instance_group_prefix(const GroupIdentity& identity);

/// `slurm-burst cluster=C group=P-G job=J nodes=HOSTLIST`: whose an instance group is, and for what.
std::string describe_request(const GroupIdentity& identity, const Request& request);

/// What a description says; nothing when it was not written by us for this cluster and group.
struct RequestDescription {
  std::optional<JobId> job;
  std::vector<NodeName> nodes;  ///< empty: too many for a description
};
std::optional<RequestDescription> parse_description(const GroupIdentity& identity, const std::string& description);

/// A random UUID (version 4), for `requestId`.
std::string new_uuid(Random& random);

}  // namespace burst::gce
