// SPDX-License-Identifier: Apache-2.0
// What requests to Compute Engine say: bodies, labels, names, descriptions.
#include "providers/gce/gce_requests.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "burst/hostlist.h"

namespace burst::gce {
namespace {

using nlohmann::json;

constexpr std::string_view kDescribedBy = "slurm-burst";
constexpr std::size_t kLongestHostlist = 1500;
constexpr std::chrono::seconds kShortestRun{600};

/// As a merge patch, but a null stays: it is for Google to take the template's value away.
void merge(json& into, const json& from) {
  if (!into.is_object() || !from.is_object()) {
    into = from;
    return;
  }
  for (const auto& [key, value] : from.items()) merge(into[key], value);
}

std::uint64_t fnv1a(std::string_view text) {
  constexpr std::uint64_t offset = 14695981039346656037ULL, prime = 1099511628211ULL;
  std::uint64_t hash = offset;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

std::string zone_path(const std::string& zone) { return "zones/" + zone; }

json zone_list(const std::vector<std::string>& zones) {
  json list = json::array();
  for (const auto& zone : zones) list.push_back({{"zone", zone_path(zone)}});
  return list;
}

json scheduling_of(const GroupSettings& settings) {
  json scheduling = json::object();
  if (settings.model == ProvisioningModel::spot) {
    // Refused by Google with anything else for restart and maintenance.
    scheduling = {{"provisioningModel", "SPOT"},
                  {"instanceTerminationAction", "DELETE"},
                  {"automaticRestart", false},
                  {"onHostMaintenance", "TERMINATE"}};
  } else if (settings.model == ProvisioningModel::reservation_bound) {
    scheduling = {{"provisioningModel", "RESERVATION_BOUND"}, {"instanceTerminationAction", "DELETE"}};
  }
  if (!settings.resource_policy.empty()) scheduling["onHostMaintenance"] = "TERMINATE";
  return scheduling;
}

json instance_properties(const GroupSettings& settings, const Labels& labels) {
  json properties = json::object();
  if (json scheduling = scheduling_of(settings); !scheduling.empty()) properties["scheduling"] = std::move(scheduling);
  if (!settings.reservation.empty()) {
    properties["reservationAffinity"] = {{"consumeReservationType", "SPECIFIC_RESERVATION"},
                                         {"key", "compute.googleapis.com/reservation-name"},
                                         {"values", {settings.reservation}}};
  }
  if (!settings.resource_policy.empty()) properties["resourcePolicies"] = {settings.resource_policy};
  if (settings.instance_properties) merge(properties, json(*settings.instance_properties));
  merge(properties["labels"], json(labels));
  return properties;
}

/// What of InstanceProperties a managed instance group can give its machines (InstancePropertiesPatch): there metadata
/// is a map, not the list of items that it is for bulkInsert.
json group_properties(const GroupSettings& settings, const Labels& labels) {
  json properties = json::object();
  if (settings.instance_properties) {
    if (const auto own = settings.instance_properties->find("labels"); own != settings.instance_properties->end())
      properties["labels"] = json(*own);
    const auto metadata = settings.instance_properties->value("metadata", nlohmann::ordered_json::object());
    for (const auto& item : metadata.value("items", nlohmann::ordered_json::array()))
      properties["metadata"][item.at("key").get<std::string>()] = item.at("value").get<std::string>();
  }
  merge(properties["labels"], json(labels));
  return properties;
}

/// `job=17` -> `17`, and the text goes on behind it; nothing, and the text unchanged, when it does not begin so.
std::optional<std::string> take_word(std::string& text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  const std::size_t end = std::min(text.find(' '), text.size());
  std::string value = text.substr(key.size(), end - key.size());
  text.erase(0, std::min(end + 1, text.size()));
  return value;
}

}  // namespace

bool GroupIdentity::owns(std::string_view node) const {
  const auto parts = parse_node_name(node);
  return parts && parts->partition == partition && parts->group == group;
}

Labels machine_labels(const GroupSettings& settings, const GroupIdentity& identity, const Request& request) {
  Labels labels = settings.labels;
  labels[kClusterLabel] = label_value(identity.cluster);
  labels[kPartitionLabel] = label_value(identity.partition);
  labels[kGroupLabel] = label_value(identity.group);
  labels[kLaunchLabel] = request.launch;
  if (request.job) labels[kJobLabel] = std::to_string(*request.job);
  return labels;
}

std::string label_filter(const GroupIdentity& identity, const std::string& launch) {
  std::string filter;
  const auto add = [&](const char* key, const std::string& value) {
    filter += fmt::format("{}(labels.{} = \"{}\")", filter.empty() ? "" : " AND ", key, value);
  };
  add(kClusterLabel, label_value(identity.cluster));
  add(kPartitionLabel, label_value(identity.partition));
  add(kGroupLabel, label_value(identity.group));
  if (!launch.empty()) add(kLaunchLabel, launch);
  return filter;
}

std::string bulk_insert_body(const GroupSettings& settings, const GroupIdentity& identity, const Request& request) {
  json names = json::object();
  for (const auto& node : request.nodes) names[node] = json::object();
  const std::size_t least = request.all_or_nothing ? request.nodes.size() : 1;
  json body{{"count", std::to_string(request.nodes.size())},
            {"minCount", std::to_string(least)},
            {"perInstanceProperties", std::move(names)},
            {"sourceInstanceTemplate", settings.instance_template},
            {"instanceProperties", instance_properties(settings, machine_labels(settings, identity, request))}};
  if (settings.zones.size() != 1) {
    const bool together = request.all_or_nothing || !settings.resource_policy.empty();
    body["locationPolicy"]["targetShape"] = together ? "ANY_SINGLE_ZONE" : "ANY";
    if (!settings.zones.empty()) body["locationPolicy"]["zones"] = zone_list(settings.zones);
  }
  return body.dump();
}

std::string instance_group_body(const GroupSettings& settings, const GroupIdentity& identity, const Request& request) {
  json body{
      {"name", request.launch},
      {"description", describe_request(identity, request)},
      {"versions", {{{"instanceTemplate", settings.instance_template}}}},
      {"targetSize", 0},
      {"distributionPolicy", {{"targetShape", "ANY_SINGLE_ZONE"}}},
      {"updatePolicy", {{"type", "OPPORTUNISTIC"}, {"instanceRedistributionType", "NONE"}}},
      {"instanceLifecyclePolicy", {{"defaultActionOnFailure", "DO_NOTHING"}}},
      {"allInstancesConfig", {{"properties", group_properties(settings, machine_labels(settings, identity, request))}}},
      {"listManagedInstancesResults", "PAGINATED"}};
  if (!settings.zones.empty()) body["distributionPolicy"]["zones"] = zone_list(settings.zones);
  if (!settings.resource_policy.empty()) body["resourcePolicies"] = {{"workloadPolicy", settings.resource_policy}};
  return body.dump();
}

std::string resize_request_body(std::span<const NodeName> nodes, std::chrono::seconds duration) {
  json instances = json::array();
  for (const auto& node : nodes) instances.push_back({{"name", node}});
  return json{{"name", "nodes"},
              {"instances", std::move(instances)},
              {"requestedRunDuration", {{"seconds", std::to_string(duration.count())}}}}
      .dump();
}

std::string delete_instances_body(std::span<const std::string> instances) {
  return json{{"instances", std::vector<std::string>(instances.begin(), instances.end())},
              {"skipInstancesOnValidationError", true}}
      .dump();
}

std::chrono::seconds run_duration(const GroupSettings& settings, std::optional<std::chrono::seconds> job_time_limit) {
  const auto longest = std::max(settings.flex_max_duration, kShortestRun);
  if (!settings.flex_use_job_duration || !job_time_limit || *job_time_limit > longest) return longest;
  return std::clamp(*job_time_limit + settings.boot_timeout, kShortestRun, longest);
}

std::string instance_group_prefix(const GroupIdentity& identity) {
  constexpr std::size_t longest = 44;  // of 63, with the hash and the attempt's number behind it
  return identity.key().substr(0, longest) + "-";
}

std::string instance_group_name(const GroupIdentity& identity, const Request& request, int attempt) {
  std::string text = fmt::format("{}\n{}\n{}", identity.cluster, identity.key(), request.job.value_or(0));
  for (const auto& node : request.nodes) text += "\n" + node;
  const std::string name = fmt::format("{}{:016x}", instance_group_prefix(identity), fnv1a(text));
  return attempt == 0 ? name : fmt::format("{}-{}", name, attempt);
}

std::string describe_request(const GroupIdentity& identity, const Request& request) {
  std::string text = fmt::format("{} cluster={} group={}", kDescribedBy, identity.cluster, identity.key());
  if (request.job) text += fmt::format(" job={}", *request.job);
  const std::string hostlist = fold_hostlist(request.nodes);
  if (hostlist.size() <= kLongestHostlist) text += " nodes=" + hostlist;
  return text;
}

std::optional<RequestDescription> parse_description(const GroupIdentity& identity, const std::string& description) {
  const std::string head = fmt::format("{} cluster={} group={}", kDescribedBy, identity.cluster, identity.key());
  if (!description.starts_with(head)) return std::nullopt;
  std::string rest = description.substr(head.size());
  if (!rest.empty() && rest.front() != ' ') return std::nullopt;  // another cluster's or group's, with a longer name
  rest.erase(0, std::min<std::size_t>(1, rest.size()));
  RequestDescription found;
  if (const auto job = take_word(rest, "job=")) {
    JobId id = 0;
    const auto [end, error] = std::from_chars(job->data(), job->data() + job->size(), id);
    if (error != std::errc() || end != job->data() + job->size()) return std::nullopt;
    found.job = id;
  }
  if (const auto nodes = take_word(rest, "nodes=")) {
    try {
      found.nodes = expand_hostlist(*nodes);
    } catch (const Error&) {
      return std::nullopt;
    }
    if (!std::ranges::all_of(found.nodes, [&](const NodeName& node) { return identity.owns(node); }))
      return std::nullopt;
  }
  return rest.empty() ? std::optional(found) : std::nullopt;
}

std::string new_uuid(Random& random) {
  const std::uint64_t high = random.next(), low = random.next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU, high & 0xfffU,
                     (low >> 48U & 0x3fffU) | 0x8000U, low & 0xffffffffffffU);
}

}  // namespace burst::gce
