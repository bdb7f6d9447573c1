// SPDX-License-Identifier: Apache-2.0
// Pod Security admission, in the order and the words of k8s.io/pod-security-admission.
#include "kubernetes/pod_security.h"

#include <functional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

using Test = std::function<bool(const nlohmann::json& container)>;

const nlohmann::json& security_of(const nlohmann::json& object) { return list_at(object, "securityContext"); }

/// `container "a"` or `containers "a", "b"`: those that the test holds for.
std::string containers_that(const nlohmann::json& spec, const Test& test) {
  std::vector<std::string> names;
  for (const char* const group : {"initContainers", "containers"}) {
    for (const auto& container : list_at(spec, group)) {
      if (test(container)) {
        names.push_back("\"" + container.value("name", "") + "\"");
      }
    }
  }
  return names.empty() ? "" : fmt::format("container{} {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

void add(std::vector<std::string>& out, const std::string& containers, const char* format) {
  if (!containers.empty()) {
    out.push_back(fmt::format(fmt::runtime(format), containers));
  }
}

void check_baseline(std::vector<std::string>& out, const nlohmann::json& spec, bool restricted) {
  std::vector<std::string> shared;
  for (const char* const field : {"hostNetwork", "hostPID", "hostIPC"}) {
    if (spec.value(field, false)) {
      shared.push_back(fmt::format("{}=true", field));
    }
  }
  if (!shared.empty()) {
    out.push_back(fmt::format("host namespaces ({})", fmt::join(shared, ", ")));
  }
  std::vector<std::string> volumes;
  for (const auto& volume : list_at(spec, "volumes")) {
    if (volume.contains("hostPath") && !restricted) {  // else a restricted volume type, below
      volumes.push_back("\"" + volume.value("name", "") + "\"");
    }
  }
  if (!volumes.empty()) {
    out.push_back(
        fmt::format("hostPath volumes (volume{} {})", volumes.size() == 1 ? "" : "s", fmt::join(volumes, ", ")));
  }
  std::vector<std::string> ports;
  const auto with_ports = containers_that(spec, [&](const nlohmann::json& container) {
    bool found = false;
    for (const auto& port : list_at(container, "ports")) {
      if (port.value("hostPort", 0) != 0) {
        ports.push_back(std::to_string(port.value("hostPort", 0)));
        found = true;
      }
    }
    return found;
  });
  if (!ports.empty()) {
    out.push_back(fmt::format("hostPort ({} use{} hostPort{} {})", with_ports,
                              with_ports.starts_with("containers") ? "" : "s", ports.size() == 1 ? "" : "s",
                              fmt::join(ports, ", ")));
  }
  add(out, containers_that(spec, [](const auto& one) { return list_at(security_of(one), "privileged") == true; }),
      "privileged ({} must not set securityContext.privileged=true)");
}

void check_volume_types(std::vector<std::string>& out, const nlohmann::json& spec) {
  static const std::set<std::string> kAllowed{
      "name",      "configMap", "csi",       "downwardAPI", "emptyDir",
      "ephemeral", "image",     "projected", "secret",      "persistentVolumeClaim"};
  std::vector<std::string> names;
  std::set<std::string> types;
  for (const auto& volume : list_at(spec, "volumes")) {
    for (const auto& [type, source] : volume.items()) {
      if (kAllowed.count(type) == 0) {
        names.push_back("\"" + volume.value("name", "") + "\"");
        types.insert("\"" + type + "\"");
      }
    }
  }
  if (!names.empty()) {
    out.push_back(fmt::format("restricted volume types (volume{} {} use{} restricted volume type{} {})",
                              names.size() == 1 ? "" : "s", fmt::join(names, ", "), names.size() == 1 ? "s" : "",
                              types.size() == 1 ? "" : "s", fmt::join(types, ", ")));
  }
}

void check_restricted(std::vector<std::string>& out, const nlohmann::json& spec) {
  const auto& pod = security_of(spec);
  add(out,
      containers_that(spec,
                      [](const auto& one) {
                        return security_of(one).is_null() || security_of(one).value("allowPrivilegeEscalation", true);
                      }),
      "allowPrivilegeEscalation != false ({} must set securityContext.allowPrivilegeEscalation=false)");
  add(out,
      containers_that(spec,
                      [](const auto& one) {
                        for (const auto& dropped : list_at(list_at(security_of(one), "capabilities"), "drop")) {
                          if (dropped == "ALL") {
                            return false;
                          }
                        }
                        return true;
                      }),
      "unrestricted capabilities ({} must set securityContext.capabilities.drop=[\"ALL\"])");
  check_volume_types(out, spec);
  const auto unset = [&](const char* field, const std::function<bool(const nlohmann::json&)>& good) {
    return containers_that(spec, [&](const auto& one) {
      const auto& own = list_at(security_of(one), field);
      return !good(own.is_null() ? list_at(pod, field) : own);
    });
  };
  add(out, unset("runAsNonRoot", [](const auto& value) { return value == true; }),
      "runAsNonRoot != true (pod or {} must set securityContext.runAsNonRoot=true)");
  add(out,
      unset("seccompProfile",
            [](const auto& value) {
              const auto& type = list_at(value, "type");
              return type == "RuntimeDefault" || type == "Localhost";
            }),
      "seccompProfile (pod or {} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")");
}

}  // namespace

std::string pod_security_violation(const nlohmann::json& pod, const std::string& level) {
  std::vector<std::string> found;
  const auto& spec = pod.at("spec");
  if (level == "baseline" || level == "restricted") {
    check_baseline(found, spec, level == "restricted");
  }
  if (level == "restricted") {
    check_restricted(found, spec);
  }
  return found.empty() ? "" : fmt::format("violates PodSecurity \"{}:latest\": {}", level, fmt::join(found, ", "));
}

}  // namespace cloudsim::kubernetes
