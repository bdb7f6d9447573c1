// SPDX-License-Identifier: Apache-2.0
// The keys of a `kubernetes` node group, read.
#include "providers/kubernetes/kubernetes_settings.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "providers/kubernetes/kubernetes_names.h"
#include "providers/kubernetes/kubernetes_settings_check.h"
#include "providers/tag_text.h"

namespace burst::kubernetes {
namespace {

using Json = nlohmann::ordered_json;

std::chrono::seconds seconds(const Json& json, const char* key, std::chrono::seconds otherwise) {
  return std::chrono::seconds(json.value(key, otherwise.count()));
}

Labels texts(const Json& json, const char* key) { return json.value(key, Labels{}); }

Labels labels_of(const Config& config, const Json& json) {
  Labels labels;
  for (const auto& [tag, value] : config.machine_tags) {
    const auto key = is_label_key(tag) ? tag : as_label_text(tag);
    if (!key.empty() && !is_own_key(key) && !is_of_the_node(value)) labels[key] = as_label_text(value);
  }
  for (const auto& [key, value] : texts(json, "Labels")) labels[key] = value;
  return labels;
}

auth::KubeAccessSettings access_of(const Json& json) {
  constexpr std::string_view socks = "socks5://";
  auth::KubeAccessSettings access;
  access.kubeconfig = json.value("Kubeconfig", "");
  access.context = json.value("Context", "");
  access.proxy = json.value("HttpProxy", "");
  // As for kubectl the proxy resolves the host's name.
  if (access.proxy.starts_with(socks)) access.proxy.replace(0, socks.size(), "socks5h://");
  if (const auto eks = json.find("EKS"); eks != json.end()) {
    access.eks = auth::EksTokenSettings{eks->value("ClusterName", ""), eks->value("Region", ""),
                                        eks->value("Profile", ""), eks->value("RoleArn", "")};
  }
  if (const auto gke = json.find("GKE"); gke != json.end()) {
    access.gke =
        auth::GoogleCredentialOptions{gke->value("CredentialsFile", ""), gke->value("ImpersonateServiceAccount", "")};
  }
  return access;
}

/// Absolute as it is; else beside partitions.json.
std::string beside(const std::string& partitions_file, const std::string& path) {
  const auto slash = partitions_file.rfind('/');
  if (path.empty() || path.starts_with('/') || slash == std::string::npos) return path;
  return partitions_file.substr(0, slash + 1) + path;
}

/// Slurm waits for a node as long as we do.
SlurmOptions partition_options(const Json& group) {
  const GroupSettings defaults;
  const auto longest = seconds(group, "UnschedulableTimeout", defaults.unschedulable_timeout) +
                       seconds(group, "BootTimeout", defaults.boot_timeout);
  return {{"ResumeTimeout", fmt::format("{}", std::min<long long>(longest.count(), kLongestResumeTimeout))}};
}

std::chrono::seconds termination_time(const Json& group) {
  return seconds(group, "GracePeriodSeconds", GroupSettings{}.grace_period) + kRemoval;
}

}  // namespace

GroupSettings parse_settings(const Config& config, const NodeGroup& group) {
  const Json& json = *group.settings;
  GroupSettings settings;
  settings.access = access_of(json);
  settings.name_space = json.value("Namespace", "");
  settings.mode = mode_of(json).value_or(Mode::pod);
  if (settings.mode == Mode::pod) settings.pod_template = beside(config.partitions_file, json.value("PodTemplate", ""));
  settings.node_set = json.value("NodeSet", group.key());
  settings.labels = labels_of(config, json);
  settings.annotations = texts(json, "Annotations");
  settings.grace_period = seconds(json, "GracePeriodSeconds", settings.grace_period);
  settings.unschedulable_timeout = seconds(json, "UnschedulableTimeout", settings.unschedulable_timeout);
  settings.boot_timeout = seconds(json, "BootTimeout", settings.boot_timeout);
  settings.address_wait = seconds(json, "AddressWait", settings.address_wait);
  settings.pods_in_flight = json.value("PodsInFlight", settings.pods_in_flight);
  return settings;
}

ProviderKeys settings_keys() {
  ProviderKeys keys;
  keys.name = "kubernetes";
  keys.keys = {"Kubeconfig",
               "Context",
               "Namespace",
               "Mode",
               "NodeSet",
               "PodTemplate",
               "Labels",
               "Annotations",
               "EKS",
               "GKE",
               "GracePeriodSeconds",
               "UnschedulableTimeout",
               "HttpProxy",
               "PodsInFlight",
               "BootTimeout",
               "AddressWait"};
  keys.check = &check_settings;
  keys.partition_options = &partition_options;
  keys.nodes_are_dns_labels = true;
  keys.termination_time = termination_time(Json::object());
  keys.group_termination_time = &termination_time;
  return keys;
}

}  // namespace burst::kubernetes
