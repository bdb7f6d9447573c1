// SPDX-License-Identifier: Apache-2.0
// Resource quotas.
#include "kubernetes/quota.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kubernetes/quantity.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

struct Measure {
  const char* group = nullptr;  ///< null: pods are counted
  std::string resource;
};

Measure measure_of(const std::string& key) {
  if (key == "pods" || key == "count/pods") {
    return {};
  }
  if (key.starts_with("limits.")) {
    return {"limits", key.substr(7)};
  }
  return {"requests", key.starts_with("requests.") ? key.substr(9) : key};
}

bool counts(const std::string& key) {
  return key == "pods" || key == "count/pods" || key == "cpu" || key == "memory" || key.starts_with("limits.") ||
         key.starts_with("requests.");
}

std::int64_t taken_by(const nlohmann::json& pod, const std::string& key) {
  const auto measure = measure_of(key);
  return measure.group == nullptr ? 1000 : pod_total(pod, measure.group, measure.resource);
}

bool is_live(const nlohmann::json& pod) {
  const auto phase = list_at(pod, "status").is_null() ? "" : pod["status"].value("phase", "");
  return phase != "Failed" && phase != "Succeeded";
}

std::int64_t used_in(const ObjectStore& store, const std::string& space, const std::string& key) {
  std::int64_t out = 0;
  for (const auto& [at, pod] : store.all(core("pods"))) {
    if (namespace_of(*pod) == space && is_live(*pod)) {
      out += taken_by(*pod, key);
    }
  }
  return out;
}

std::int64_t amount(const nlohmann::json& value) {
  return parse_quantity(value.is_string() ? value.get<std::string>() : value.dump()).value_or(0);
}

std::string show(const std::string& key, std::int64_t thousandths) {
  return format_quantity(thousandths, key.find("memory") != std::string::npos);
}

/// Containers that say nothing about what the quota limits: `cpu for: slurmd`.
std::vector<std::string> unsaid(const nlohmann::json& pod, const nlohmann::json& hard) {
  std::vector<std::string> out;
  for (const auto& [key, value] : hard.items()) {
    const auto measure = measure_of(key);
    const bool must_be_said = measure.resource == "cpu" || measure.resource == "memory";
    if (!counts(key) || !must_be_said) {
      continue;
    }
    std::vector<std::string> names;
    for (const auto& container : list_at(pod.at("spec"), "containers")) {
      if (!list_at(list_at(container, "resources"), measure.group).contains(measure.resource)) {
        names.push_back(container.value("name", ""));
      }
    }
    if (!names.empty()) {
      out.push_back(fmt::format("{} for: {}", key, fmt::join(names, ",")));
    }
  }
  return out;
}

}  // namespace

std::int64_t pod_total(const nlohmann::json& pod, const char* group, const std::string& resource) {
  std::int64_t out = 0;
  for (const auto& container : list_at(pod.at("spec"), "containers")) {
    const auto& listed = list_at(list_at(container, "resources"), group);
    const auto found = listed.find(resource);
    out += listed.is_object() && found != listed.end() ? amount(*found) : 0;
  }
  return out;
}

std::string quota_refusal(const ObjectStore& store, const nlohmann::json& pod) {
  const auto space = namespace_of(pod);
  for (const auto& [at, quota] : store.all(core("resourcequotas"))) {
    if (namespace_of(*quota) != space) {
      continue;
    }
    const auto& hard = list_at(list_at(*quota, "spec"), "hard");
    if (const auto missing = unsaid(pod, hard); !missing.empty()) {
      return fmt::format("failed quota: {}: must specify {}", name_of(*quota), fmt::join(missing, "; "));
    }
    std::vector<std::string> requested;
    std::vector<std::string> used;
    std::vector<std::string> limited;
    for (const auto& [key, limit] : hard.items()) {
      const auto wanted = counts(key) ? taken_by(pod, key) : 0;
      const auto taken = wanted == 0 ? 0 : used_in(store, space, key);
      if (wanted != 0 && taken + wanted > amount(limit)) {
        requested.push_back(key + "=" + show(key, wanted));
        used.push_back(key + "=" + show(key, taken));
        limited.push_back(key + "=" + show(key, amount(limit)));
      }
    }
    if (!requested.empty()) {
      return fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", name_of(*quota),
                         fmt::join(requested, ","), fmt::join(used, ","), fmt::join(limited, ","));
    }
  }
  return "";
}

void update_quotas(ObjectStore& store, const std::string& space) {
  const auto quotas = store.all(core("resourcequotas"));  // a copy: the store changes below
  for (const auto& [at, quota] : quotas) {
    if (namespace_of(*quota) != space) {
      continue;
    }
    auto changed = *quota;
    auto& status = changed["status"];
    status["hard"] = list_at(list_at(*quota, "spec"), "hard");
    status["used"] = nlohmann::json::object();
    for (const auto& [key, limit] : list_at(list_at(*quota, "spec"), "hard").items()) {
      status["used"][key] = counts(key) ? show(key, used_in(store, space, key)) : "0";
    }
    store.update(core("resourcequotas"), std::move(changed));
  }
}

}  // namespace cloudsim::kubernetes
