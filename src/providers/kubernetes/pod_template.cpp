// SPDX-License-Identifier: Apache-2.0
// The pod that every node of a group is made from: read, checked, filled in.
#include "providers/kubernetes/pod_template.h"

#include <functional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "providers/kubernetes/pod_template_file.h"
#include "providers/tag_text.h"

namespace burst::kubernetes {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

constexpr const char* kNodeName = "NODE_NAME";

/// Neither Karpenter's consolidation nor cluster-autoscaler's takes the machine away under a job. (Their documentation:
/// karpenter.sh/docs/concepts/disruption, "Pod-Level Controls"; cluster-autoscaler's FAQ, "What types of pods can
/// prevent CA from removing a node?")
constexpr auto kKeepAnnotations = std::to_array<std::pair<const char*, const char*>>(
    {{"karpenter.sh/do-not-disrupt", "true"}, {"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"}});

/// The object of that name, made where there is none.
json& object_of(json& parent, const char* key) {
  json& child = parent[key];
  if (!child.is_object()) child = json::object();
  return child;
}

void set_if_absent(json& object, const char* key, json value) {
  json& member = object[key];
  if (member.is_null()) member = std::move(value);
}

/// Two FNV-1a of 64 bits each, of the keys in their order.
std::string hash_of_json(const json& value) {
  constexpr std::uint64_t other_start = 0x6c62272e07bb0142;
  const auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("{:016x}{:016x}", hash_of(text), hash_of(text, other_start));
}

template <typename AnyJson>
void for_each_container(AnyJson& spec, const std::function<void(AnyJson&)>& visit) {
  for (const char* list : {"initContainers", "containers"}) {
    const auto found = spec.find(list);
    if (found == spec.end() || !found->is_array()) continue;
    for (auto& container : *found) visit(container);
  }
}

/// A place for the node's name before all other variables, so that they may refer to it: `$(NODE_NAME)`.
void reserve_node_name(json& container) {
  auto variables = json::array({{{"name", kNodeName}, {"value", kNodeWord}}});
  for (const auto& variable : container.value("env", json::array())) {
    if (variable.value("name", "") != kNodeName) variables.push_back(variable);
  }
  container["env"] = std::move(variables);
}

void put_name(Json& text, const NodeName& node) {
  if (!text.is_string()) return;
  auto& value = text.get_ref<std::string&>();
  for (auto at = value.find(kNodeWord); at != std::string::npos; at = value.find(kNodeWord, at + node.size()))
    value.replace(at, kNodeWord.size(), node);
}

void put_name_into(Json& container, const NodeName& node) {
  for (const char* list : {"command", "args"}) {
    if (const auto found = container.find(list); found != container.end()) {
      for (auto& text : *found) put_name(text, node);
    }
  }
  for (auto& variable : container["env"]) {
    if (const auto value = variable.find("value"); value != variable.end()) put_name(*value, node);
  }
}

/// `labels: {team:}`: as kubectl has it, what is null is not there.
void drop_null_members(json& object) {
  for (auto member = object.begin(); member != object.end();)
    member = member->is_null() ? object.erase(member) : std::next(member);
}

void fill_metadata(json& metadata, const GroupSettings& settings, const GroupIdentity& identity) {
  json& labels = object_of(metadata, "labels");
  drop_null_members(labels);
  for (const auto& [key, value] : settings.labels) labels[key] = value;
  labels[std::string(kManagedBy)] = kManager;
  labels[std::string(kClusterLabel)] = label_value(identity.cluster);
  labels[std::string(kPartitionLabel)] = label_value(identity.partition);
  labels[std::string(kGroupLabel)] = label_value(identity.group);
  json& annotations = object_of(metadata, "annotations");
  drop_null_members(annotations);
  for (const auto& [key, value] : settings.annotations) annotations[key] = value;
  for (const auto& [key, value] : kKeepAnnotations) set_if_absent(annotations, key, value);
}

void fill_spec(json& spec, const GroupSettings& settings) {
  set_if_absent(spec, "restartPolicy", "Always");
  set_if_absent(spec, "automountServiceAccountToken", false);
  set_if_absent(spec, "terminationGracePeriodSeconds", settings.grace_period.count());
  spec.erase("hostname");
  for_each_container<json>(spec, reserve_node_name);
  drop_null_members(spec);
}

}  // namespace

PodTemplate PodTemplate::load(const Files& files, const GroupSettings& settings, const GroupIdentity& identity) {
  auto pod = read_pod_template(files, settings.pod_template, settings.name_space);
  fill_metadata(pod["metadata"], settings, identity);
  fill_spec(pod["spec"], settings);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  PodTemplate made;
  made.hash_ = hash_of_json(pod);
  pod["metadata"]["annotations"][std::string(kTemplateAnnotation)] = made.hash_;
  made.json_ = std::make_shared<const Json>(Json(pod));
  return made;
}

const std::string& PodTemplate::hash() const { return hash_; }

const Json& PodTemplate::json() const { return *json_; }

std::string PodTemplate::body(const NodeName& node, const std::string& launch, std::optional<JobId> job) const {
  Json pod = *json_;
  Json& metadata = pod["metadata"];
  metadata["name"] = node;
  metadata["labels"][std::string(kNodeLabel)] = node;
  metadata["labels"][std::string(kLaunchLabel)] = label_value(launch);
  if (job) metadata["annotations"][std::string(kJobAnnotation)] = fmt::format("{}", *job);
  pod["spec"]["hostname"] = node;
  for_each_container<Json>(pod["spec"], [&](Json& container) { put_name_into(container, node); });
  return pod.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace burst::kubernetes
