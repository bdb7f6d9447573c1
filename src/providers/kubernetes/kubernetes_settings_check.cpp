// SPDX-License-Identifier: Apache-2.0
// The check of a `kubernetes` node group's keys, and what check and reader both need.
#include "providers/kubernetes/kubernetes_settings_check.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/text.h"
#include "providers/kubernetes/kubernetes_names.h"
#include "providers/shown_value.h"

namespace burst::kubernetes {
namespace {

using Json = nlohmann::ordered_json;

/// Modes and keys of scaling by a count, as other suites have it.
constexpr auto kCountModes = std::to_array<std::string_view>(
    {"statefulset", "nodeset", "deployment", "replicaset", "daemonset", "scale", "replicas", "count"});
constexpr auto kCountKeys = std::to_array<const char*>(
    {"Replicas", "MinReplicas", "MaxReplicas", "StatefulSet", "Deployment", "ReplicaSet", "Scale", "ScaleTarget"});
constexpr const char* kCountReason =
    "a count says how many, not which nodes: a smaller one ends the pods with the highest numbers, whichever nodes "
    "Slurm powers down";

bool is_absolute(const std::string& path) { return path.starts_with('/') && path.find('\0') == std::string::npos; }

/// An object of the group, or the group itself: finds its members and notes what is wrong.
class Place {
 public:
  Place(const Json& object, std::string pointer, std::vector<ConfigProblem>& problems)
      : object_(object), pointer_(std::move(pointer)), problems_(problems) {}

  void fatal(std::string_view key, const std::string& text) { note(true, key, text); }
  void warn(std::string_view key, const std::string& text) { note(false, key, text); }
  bool has(const char* key) const { return object_.contains(key); }
  const Json* member(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  /// Whether the member is there and as it should be.
  template <typename Fits>
  bool expect(const char* key, std::string_view expected, Fits fits) {
    const Json* value = member(key);
    if (value == nullptr) return false;
    if (fits(*value)) return true;
    fatal(key, fmt::format("expected {}, found {}", expected, shown(*value)));
    return false;
  }
  template <typename Fits>
  bool expect_text(const char* key, std::string_view expected, Fits fits) {
    return expect(key, expected,
                  [&](const Json& value) { return value.is_string() && fits(value.get_ref<const std::string&>()); });
  }
  void expect_integer(const char* key, long long least, long long most) {
    expect(key, fmt::format("an integer from {} to {}", least, most), [&](const Json& value) {
      if (value.is_number_unsigned()) return value <= most && value >= least;
      return value.is_number_integer() && value >= least && value <= most;
    });
  }
  void warn_unknown(std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end())
        warn(one_line(key), fmt::format("unknown key, expected one of {}", fmt::join(known, ", ")));
    }
  }

 private:
  void note(bool is_fatal, std::string_view key, const std::string& text) {
    problems_.push_back({is_fatal, fmt::format("{}/{}: {}", pointer_, key, text)});
  }

  const Json& object_;
  std::string pointer_;
  std::vector<ConfigProblem>& problems_;
};

void check_count_keys(Place& group) {
  for (const char* key : kCountKeys) {
    if (group.has(key)) group.fatal(key, kCountReason);
  }
}

void check_mode(Place& group, const Json& json, std::optional<Mode> mode) {
  if (const Json* value = group.member("Mode"); value != nullptr && !mode) {
    std::string word = value->is_string() ? value->get<std::string>() : "";
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const bool counts = std::find(kCountModes.begin(), kCountModes.end(), word) != kCountModes.end();
    group.fatal("Mode", fmt::format(R"({}expected "pod" or "nodesetpowerstate", found {})",
                                    counts ? std::string(kCountReason) + "; " : "", shown(json["Mode"])));
  }
  if (mode == Mode::pod) {
    if (!group.has("PodTemplate")) group.fatal("PodTemplate", R"(missing, it is required with Mode "pod")");
    if (group.has("NodeSet")) group.warn("NodeSet", R"(without effect: Mode is not "nodesetpowerstate")");
  }
  group.expect_text("PodTemplate", "the path of a file",
                    [](const auto& path) { return !path.empty() && path.find('\0') == std::string::npos; });
  const bool has_node_set = group.expect_text("NodeSet", "the name of a NodeSet: a DNS label", is_dns_label);
  if (mode != Mode::node_set_power_state) return;
  if (group.has("PodTemplate"))
    group.fatal("PodTemplate", R"(soperator's NodeSet says how pods are: remove it, or use Mode "pod")");
  const Json* group_name = group.member("NodeGroupName");
  if (has_node_set && group_name != nullptr && group_name->is_string() &&
      !json["NodeSet"].get<std::string>().ends_with("-" + group_name->get<std::string>()))
    group.warn("NodeSet",
               "soperator's slurmd registers under its pod's name, NODESET-N: the NodeSet has to be called "
               "PARTITION-NODEGROUP, as the nodes are, or each slurmd be told its node's name (-N)");
  for (const char* key : {"Labels", "Annotations", "GracePeriodSeconds"}) {
    if (group.has(key)) group.warn(key, "without effect: soperator makes the pods");
  }
}

void check_times(Place& group, const Json& json) {
  constexpr long long longest_grace = 3'600, longest_wait = 65'000, longest_address_wait = 600, most_in_flight = 256;
  group.expect_integer("GracePeriodSeconds", 1, longest_grace);
  group.expect_integer("UnschedulableTimeout", 1, longest_wait);
  group.expect_integer("BootTimeout", 1, longest_wait);
  group.expect_integer("AddressWait", 0, longest_address_wait);
  group.expect_integer("PodsInFlight", 1, most_in_flight);
  const auto unschedulable = json.find("UnschedulableTimeout"), boot = json.find("BootTimeout");
  if (unschedulable == json.end() || boot == json.end() || !unschedulable->is_number() || !boot->is_number()) return;
  if (unschedulable->get<double>() + boot->get<double>() > static_cast<double>(kLongestResumeTimeout))
    group.warn("UnschedulableTimeout", fmt::format("with BootTimeout more than {} s, the longest ResumeTimeout of "
                                                   "Slurm up to 24.11",
                                                   kLongestResumeTimeout));
}

void check_labels(const Json& group, bool values_are_labels, const char* key, std::vector<ConfigProblem>& problems) {
  const auto found = group.find(key);
  if (found == group.end()) return;
  Place(group, "", problems).expect(key, "an object of strings", [](const Json& value) { return value.is_object(); });
  if (!found->is_object()) return;
  Place labels(*found, fmt::format("/{}", key), problems);
  for (const auto& [name, value] : found->items()) {
    const auto place = one_line(name);
    if (!is_label_key(name))
      labels.fatal(place, R"(expected a key such as "team" or "example.com/team": up to 63 letters, digits, '-', '_' )"
                          "and '.', a letter or digit at both ends");
    if (is_own_key(name)) labels.fatal(place, "slurm-burst sets that itself");
    const bool fits = value.is_string() && (!values_are_labels || is_label_value(value.get_ref<const std::string&>()));
    if (!fits)
      labels.fatal(place, fmt::format("expected {}, found {}",
                                      values_are_labels ? "a string of up to 63 letters, digits, '-', '_' and '.', a "
                                                          "letter or digit at both ends"
                                                        : "a string",
                                      shown(value)));
  }
}

bool is_proxy(const std::string& url) {
  for (const std::string_view scheme : {"http://", "https://", "socks5://"}) {
    if (!url.starts_with(scheme) || url.size() == scheme.size()) continue;
    return std::none_of(url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; });
  }
  return false;
}

bool is_email(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '@';
  };
  const auto at = text.find('@');
  return at != std::string::npos && at > 0 && at + 1 < text.size() && text.find('@', at + 1) == std::string::npos &&
         std::all_of(text.begin(), text.end(), fits);
}

void check_eks(const Json& eks, std::vector<ConfigProblem>& problems) {
  Place place(eks, "/EKS", problems);
  const auto is_word = [](const std::string& text) {
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
               std::string::npos;
  };
  if (!place.has("ClusterName")) place.fatal("ClusterName", "missing, it is required in EKS");
  place.expect_text("ClusterName", "the name of an EKS cluster", is_word);
  place.expect_text("Region", R"(the name of a region such as "eu-north-1")", is_word);
  place.expect_text("Profile", "the name of a profile", [](const auto& text) { return !text.empty(); });
  place.expect_text("RoleArn", R"(the ARN of a role such as "arn:aws:iam::123456789012:role/slurm")",
                    [](auto& text) { return text.starts_with("arn:aws") && text.find(":role/") != std::string::npos; });
  place.warn_unknown({"ClusterName", "Region", "Profile", "RoleArn"});
}

void check_gke(const Json& gke, std::vector<ConfigProblem>& problems) {
  Place place(gke, "/GKE", problems);
  place.expect_text("CredentialsFile", "an absolute path", is_absolute);
  place.expect_text("ImpersonateServiceAccount", "the e-mail address of a service account", is_email);
  place.warn_unknown({"CredentialsFile", "ImpersonateServiceAccount"});
}

void check_access(Place& group, std::vector<ConfigProblem>& problems) {
  group.expect_text("Kubeconfig", "an absolute path", is_absolute);
  group.expect_text("Context", "the name of a context", [](const auto& text) { return !text.empty(); });
  group.expect_text("Namespace", "the name of a namespace: a DNS label", is_dns_label);
  group.expect_text("HttpProxy", R"(a URL such as "http://proxy.example.com:3128")", is_proxy);
  const auto is_object = [](const Json& value) { return value.is_object(); };
  if (group.expect("EKS", "an object", is_object)) check_eks(*group.member("EKS"), problems);
  if (group.expect("GKE", "an object", is_object)) check_gke(*group.member("GKE"), problems);
  if (group.has("EKS") && group.has("GKE")) group.fatal("GKE", "a cluster is one of EKS or of GKE, found both");
}

}  // namespace

std::vector<ConfigProblem> check_settings(const Json& group) {
  std::vector<ConfigProblem> problems;
  Place place(group, "", problems);
  check_count_keys(place);
  check_mode(place, group, mode_of(group));
  check_times(place, group);
  check_labels(group, true, "Labels", problems);
  check_labels(group, false, "Annotations", problems);
  if (place.has("Tags")) place.warn("Tags", "not used for kubernetes, whose pods have Labels");
  check_access(place, problems);
  return problems;
}

std::optional<Mode> mode_of(const Json& group) {
  const auto value = group.find("Mode");
  if (value == group.end() || *value == "pod") return Mode::pod;
  if (*value == "nodesetpowerstate") return Mode::node_set_power_state;
  return std::nullopt;
}

}  // namespace burst::kubernetes
