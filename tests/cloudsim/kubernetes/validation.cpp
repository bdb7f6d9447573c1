// SPDX-License-Identifier: Apache-2.0
// Validation of objects, and the defaults of a pod.
#include "kubernetes/validation.h"

#include <algorithm>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kubernetes/object_store.h"
#include "kubernetes/quantity.h"

namespace cloudsim::kubernetes {

namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxSubdomain = 253;
constexpr const char* kSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kLabelValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr const char* kQualifiedText =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

using Causes = std::vector<Cause>;

bool is_dns_label(const std::string& text) {
  static const std::regex kLabel("[a-z0-9]([-a-z0-9]*[a-z0-9])?");
  return std::regex_match(text, kLabel);
}

bool is_subdomain(const std::string& text) {
  static const std::regex kSubdomain("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
  return std::regex_match(text, kSubdomain);
}

void check_name(Causes& out, const std::string& field, const std::string& name, bool label) {
  const auto most = label ? kMaxLabel : kMaxSubdomain;
  if (name.size() > most) {
    out.push_back(invalid_value(field, name, fmt::format("must be no more than {} characters", most)));
  }
  if (label ? !is_dns_label(name) : !is_subdomain(name)) {
    out.push_back(invalid_value(field, name, label ? kLabelText : kSubdomainText));
  }
}

void check_map_keys(Causes& out, const std::string& field, const nlohmann::json& map) {
  static const std::regex kName("([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]");
  for (const auto& [key, value] : map.items()) {
    const auto slash = key.find('/');
    const auto name = slash == std::string::npos ? key : key.substr(slash + 1);
    const bool good_prefix = slash == std::string::npos || is_subdomain(key.substr(0, slash));
    if (name.size() > kMaxLabel) {
      out.push_back(invalid_value(field, key, "name part must be no more than 63 characters"));
    } else if (!std::regex_match(name, kName)) {
      out.push_back(invalid_value(field, key, kQualifiedText));
    } else if (!good_prefix) {
      out.push_back(invalid_value(field, key, std::string("prefix part ") + kSubdomainText));
    }
  }
}

void check_labels(Causes& out, const std::string& field, const nlohmann::json& labels) {
  static const std::regex kValue("(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?");
  check_map_keys(out, field, labels);
  for (const auto& [key, value] : labels.items()) {
    if (!value.is_string()) {
      continue;
    }
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > kMaxLabel) {
      out.push_back(invalid_value(field, text, "must be no more than 63 characters"));
    } else if (!std::regex_match(text, kValue)) {
      out.push_back(invalid_value(field, text, kLabelValueText));
    }
  }
}

void check_metadata(Causes& out, const ResourceType& type, const nlohmann::json& object) {
  const auto& metadata = object.at("metadata");
  const auto name = name_of(object);
  if (name.empty()) {
    out.push_back(required("metadata.name", "name or generateName is required"));
  } else {
    check_name(out, "metadata.name", name, type.kind == "Namespace");
  }
  check_labels(out, "metadata.labels", list_at(metadata, "labels"));
  check_map_keys(out, "metadata.annotations", list_at(metadata, "annotations"));
}

std::int64_t quantity_of(const nlohmann::json& value) {
  return value.is_string() ? parse_quantity(value.get<std::string>()).value_or(0)
                           : static_cast<std::int64_t>(value.get<double>() * 1000);
}

std::string text_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Whole devices, which can't be overcommitted: nvidia.com/gpu.
bool is_extended(const std::string& resource) {
  return resource.find('/') != std::string::npos && resource.find("kubernetes.io/") == std::string::npos;
}

void check_resources(Causes& out, const std::string& field, const nlohmann::json& resources) {
  const auto& limits = list_at(resources, "limits");
  for (const auto& [name, request] : list_at(resources, "requests").items()) {
    const auto path = field + ".requests";
    const auto limit = limits.find(name);
    const bool native =
        name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
    if (!native && name.find('/') == std::string::npos) {
      out.push_back(
          invalid_value(path + "[" + name + "]", name, "must be a standard resource type or fully qualified"));
    } else if (limit == limits.end()) {
      if (is_extended(name)) {
        out.push_back(required(field + ".limits", "Limit must be set for non overcommitable resources"));
      }
    } else if (is_extended(name) ? quantity_of(request) != quantity_of(*limit)
                                 : quantity_of(request) > quantity_of(*limit)) {
      out.push_back(
          invalid_value(path, text_of(request),
                        fmt::format("must be {} to {} limit of {}", is_extended(name) ? "equal" : "less than or equal",
                                    name, text_of(*limit))));
    }
  }
}

void check_container(Causes& out, const std::string& at, const nlohmann::json& container,
                     const std::set<std::string>& volumes, std::set<std::string>& names) {
  const auto name = container.value("name", "");
  if (name.empty()) {
    out.push_back(required(at + ".name"));
  } else {
    check_name(out, at + ".name", name, true);
    if (!names.insert(name).second) {
      out.push_back(duplicate(at + ".name", name));
    }
  }
  if (container.value("image", "").empty()) {
    out.push_back(required(at + ".image"));
  }
  const auto& ports = list_at(container, "ports");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto port = ports[i].value("containerPort", 0);
    if (port < 1 || port > 65535) {
      out.push_back(ports[i].contains("containerPort") ? invalid_value(fmt::format("{}.ports[{}].containerPort", at, i),
                                                                       port, "must be between 1 and 65535, inclusive")
                                                       : required(fmt::format("{}.ports[{}].containerPort", at, i)));
    }
  }
  const auto& mounts = list_at(container, "volumeMounts");
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    if (volumes.count(mounts[i].value("name", "")) == 0) {
      out.push_back(missing_reference(fmt::format("{}.volumeMounts[{}].name", at, i), mounts[i].value("name", "")));
    }
  }
  check_resources(out, at + ".resources", container.value("resources", nlohmann::json::object()));
}

void check_pod_spec(Causes& out, const nlohmann::json& spec) {
  std::set<std::string> volumes;
  const auto& listed = list_at(spec, "volumes");
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto name = listed[i].value("name", "");
    if (name.empty()) {
      out.push_back(required(fmt::format("spec.volumes[{}].name", i)));
    } else if (!volumes.insert(name).second) {
      out.push_back(duplicate(fmt::format("spec.volumes[{}].name", i), name));
    }
  }
  std::set<std::string> names;
  for (const char* const group : {"containers", "initContainers"}) {
    const auto& containers = list_at(spec, group);
    if (containers.empty() && group == std::string_view("containers")) {
      out.push_back(required("spec.containers"));
    }
    for (std::size_t i = 0; i < containers.size(); ++i) {
      check_container(out, fmt::format("spec.{}[{}]", group, i), containers[i], volumes, names);
    }
  }
  const auto policy = spec.value("restartPolicy", "Always");
  if (policy != "Always" && policy != "OnFailure" && policy != "Never") {
    out.push_back(not_supported("spec.restartPolicy", policy, {"Always", "OnFailure", "Never"}));
  }
  for (const char* const field : {"hostname", "subdomain"}) {
    if (const auto text = spec.value(field, ""); !text.empty()) {
      check_name(out, std::string("spec.") + field, text, true);
    }
  }
}

/// By the schemas of the custom resources.
void check_custom(Causes& out, const ResourceType& type, const nlohmann::json& object) {
  const auto spec = object.value("spec", nlohmann::json::object());
  if (type.kind == "NodeSet") {
    if (spec.contains("replicas") && !spec["replicas"].is_number_integer()) {
      out.push_back({"FieldValueTypeInvalid",
                     fmt::format("Invalid value: \"{}\": spec.replicas in body must be of type integer: \"{}\"",
                                 spec["replicas"].type_name(), spec["replicas"].type_name()),
                     "spec.replicas"});
    }
    return;
  }
  if (spec.value("nodeSetRef", "").empty()) {
    out.push_back(required("spec.nodeSetRef"));
  }
  std::set<std::int64_t> seen;
  const auto& active = list_at(spec, "activeNodes");
  for (std::size_t i = 0; i < active.size(); ++i) {
    const auto field = fmt::format("spec.activeNodes[{}]", i);
    if (!active[i].is_number_integer()) {
      out.push_back({"FieldValueTypeInvalid",
                     fmt::format("Invalid value: \"{0}\": {1} in body must be of type integer: \"{0}\"",
                                 active[i].type_name(), field),
                     field});
    } else if (!seen.insert(active[i].get<std::int64_t>()).second) {
      out.push_back({"FieldValueDuplicate", fmt::format("Duplicate value: {}", active[i].dump()), field});
    }
  }
}

}  // namespace

const nlohmann::json& list_at(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kEmpty;
  const auto found = object.find(key);
  return found == object.end() ? kEmpty : *found;
}

std::vector<Cause> check_new(const ResourceType& type, const nlohmann::json& object) {
  Causes out;
  check_metadata(out, type, object);
  if (type.kind == "Pod") {
    check_pod_spec(out, list_at(object, "spec"));
  } else if (type.custom()) {
    check_custom(out, type, object);
  }
  return out;
}

std::vector<Cause> check_change(const ResourceType& type, const nlohmann::json& before, const nlohmann::json& after) {
  if (type.kind != "Pod") {
    return check_new(type, after);
  }
  Causes out;
  check_metadata(out, type, after);
  const auto immutable = [](nlohmann::json spec) {
    spec.erase("activeDeadlineSeconds");
    spec.erase("tolerations");
    for (const char* const group : {"containers", "initContainers"}) {
      for (auto& container : spec.contains(group) ? spec[group] : (spec["none"] = nlohmann::json::array())) {
        container.erase("image");
      }
    }
    spec.erase("none");
    return spec;
  };
  const auto old_spec = immutable(before.at("spec"));
  const auto new_spec = immutable(after.value("spec", nlohmann::json::object()));
  if (old_spec != new_spec) {
    out.push_back(forbidden_field(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"));
  }
  return out;
}

void fill_in_pod_defaults(nlohmann::json& pod) {
  auto& spec = pod["spec"];
  const auto set = [](nlohmann::json& object, const char* key, const nlohmann::json& value) {
    if (!object.contains(key)) {
      object[key] = value;
    }
  };
  set(spec, "restartPolicy", "Always");
  set(spec, "dnsPolicy", "ClusterFirst");
  set(spec, "schedulerName", "default-scheduler");
  set(spec, "terminationGracePeriodSeconds", 30);
  set(spec, "enableServiceLinks", true);
  set(spec, "priority", 0);
  set(spec, "preemptionPolicy", "PreemptLowerPriority");
  set(spec, "securityContext", nlohmann::json::object());
  set(spec, "serviceAccountName", "default");
  spec["serviceAccount"] = spec["serviceAccountName"];
  set(spec, "tolerations", nlohmann::json::array());
  for (const char* const key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const auto& known = spec["tolerations"];
    if (std::none_of(known.begin(), known.end(), [&](const auto& one) { return one.value("key", "") == key; })) {
      spec["tolerations"].push_back(
          {{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
    }
  }
  for (const char* const group : {"containers", "initContainers"}) {
    if (!spec.contains(group)) {
      continue;
    }
    for (auto& container : spec[group]) {
      set(container, "resources", nlohmann::json::object());
      set(container, "terminationMessagePath", "/dev/termination-log");
      set(container, "terminationMessagePolicy", "File");
      const auto image = container.value("image", "");
      const auto tag = image.find(':', image.rfind('/') == std::string::npos ? 0 : image.rfind('/'));
      const bool latest = tag == std::string::npos || image.substr(tag) == ":latest";
      set(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
      auto& resources = container["resources"];
      for (const auto& [name, limit] : list_at(resources, "limits").items()) {
        if (!resources.contains("requests") || !resources["requests"].contains(name)) {
          const nlohmann::json copy = limit;
          resources["requests"][name] = copy;
        }
      }
    }
  }
}

}  // namespace cloudsim::kubernetes
