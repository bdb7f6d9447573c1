// SPDX-License-Identifier: Apache-2.0
// Settings that a test turns: those of Kubernetes.
#include "kubernetes/kubernetes_knobs.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace cloudsim::kubernetes {

namespace {

using Names = std::vector<std::string>;

Millis millis(const nlohmann::json& value) { return Millis{value.get<std::int64_t>()}; }

void refuse_unknown(const nlohmann::json& value, std::initializer_list<std::string_view> known) {
  for (const auto& [key, unused] : value.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw std::invalid_argument("unknown key \"" + key + "\" in a knob of kubernetes");
    }
  }
}

PodRule pod_rule_from(const nlohmann::json& value) {
  static constexpr std::array kOutcomes{
      "unschedulable", "err_image_pull", "invalid_image_name", "create_container_error",
      "config_error",  "crash_loop",     "never_ready",        "out_of_cpu"};
  refuse_unknown(value, {"name", "labels", "outcome", "message", "count"});
  PodRule out;
  out.name = value.value("name", "*");
  out.labels = value.value("labels", nlohmann::json::object());
  out.outcome = value.at("outcome").get<std::string>();
  out.message = value.value("message", "");
  out.count = value.value("count", std::int64_t{-1});
  if (std::find(kOutcomes.begin(), kOutcomes.end(), out.outcome) == kOutcomes.end()) {
    throw std::invalid_argument("unknown outcome \"" + out.outcome + "\" of a pod");
  }
  return out;
}

User user_from(const nlohmann::json& value) {
  refuse_unknown(value, {"name", "token", "groups", "rules"});
  User out;
  out.name = value.at("name").get<std::string>();
  out.token = value.value("token", "");
  out.groups = value.value("groups", Names{});
  for (const auto& rule : value.value("rules", nlohmann::json::array())) {
    out.rules.push_back({rule.at("apiGroups").get<Names>(), rule.at("resources").get<Names>(),
                         rule.at("verbs").get<Names>(), rule.value("namespaces", Names{"*"})});
  }
  return out;
}

Webhook webhook_from(const nlohmann::json& value) {
  refuse_unknown(value, {"name", "message", "resource", "operation", "labels", "code", "unreachable"});
  Webhook out;
  out.name = value.at("name").get<std::string>();
  out.message = value.value("message", "");
  out.resource = value.value("resource", out.resource);
  out.operation = value.value("operation", out.operation);
  out.labels = value.value("labels", nlohmann::json::object());
  out.code = value.value("code", out.code);
  out.unreachable = value.value("unreachable", false);
  return out;
}

template <typename T, typename Make>
std::vector<T> list_from(const nlohmann::json& value, Make make) {
  std::vector<T> out;
  for (const auto& one : value) {
    out.push_back(make(one));
  }
  return out;
}

}  // namespace

KubernetesKnobs::KubernetesKnobs() {
  const Names all{"*"};
  users.push_back({"cloudsim-admin", kAdminToken, {"system:masters"}, {}});
  users.push_back({"cloudsim-reader", kReaderToken, {}, {{all, all, {"get", "list", "watch"}, all}}});
  // What slurm-burst is allowed to do, and no more.
  const std::vector<AccessRule> burst{
      {{""}, {"pods"}, {"get", "list", "watch", "create", "delete"}, {"slurm"}},
      {{""}, {"events"}, {"get", "list", "watch"}, {"slurm"}},
      {{""}, {"resourcequotas"}, {"get", "list"}, {"slurm"}},
      {{"slurm.nebius.ai"}, {"nodesets"}, {"get", "list", "watch"}, {"slurm"}},
      {{"slurm.nebius.ai"}, {"nodesetpowerstates"}, {"get", "list", "watch", "create", "update"}, {"slurm"}}};
  users.push_back({"system:serviceaccount:slurm:slurm-burst",
                   kBurstToken,
                   {"system:serviceaccounts", "system:serviceaccounts:slurm"},
                   burst});
  users.push_back({kAwsGroup, "", {}, burst});
  users.push_back({kGoogleGroup, "", {}, burst});
}

void KubernetesKnobs::set(const std::string& key, const nlohmann::json& value) {
  if (key == "version") {
    version = value.get<std::string>();
  } else if (key == "schedule_ms") {
    schedule = millis(value);
  } else if (key == "scale_up_ms") {
    scale_up = millis(value);
  } else if (key == "pull_ms") {
    pull = millis(value);
  } else if (key == "start_ms") {
    start = value.is_null() ? std::nullopt : std::optional(millis(value));
  } else if (key == "terminate_ms") {
    terminate = value.is_null() ? std::nullopt : std::optional(millis(value));
  } else if (key == "pod_gc_ms") {
    pod_gc = millis(value);
  } else if (key == "operator_ms") {
    operator_delay = millis(value);
  } else if (key == "bookmark_ms") {
    bookmark = std::max(Millis{1}, millis(value));
  } else if (key == "page") {
    page = value.get<std::int64_t>();
  } else if (key == "kubelet") {
    kubelet = value.get<bool>();
  } else if (key == "first_address") {
    first_address = value.get<std::string>();
  } else if (key == "eks_cluster") {
    eks_cluster = value.get<std::string>();
  } else if (key == "google_tokens") {
    google_tokens = value.get<Names>();
  } else if (key == "pods") {
    pods = list_from<PodRule>(value, pod_rule_from);
  } else if (key == "webhooks") {
    webhooks = list_from<Webhook>(value, webhook_from);
  } else if (key == "users") {
    for (const auto& one : value) {
      const auto user = user_from(one);
      std::erase_if(users, [&](const User& known) { return known.name == user.name; });
      users.push_back(user);
    }
  } else if (key == "namespaces") {
    for (const auto& one : value) {
      namespaces.emplace_back(one.at("name").get<std::string>(), one.value("labels", nlohmann::json::object()));
    }
  } else {
    throw std::invalid_argument("unknown knob \"kubernetes." + key + "\"");
  }
}

}  // namespace cloudsim::kubernetes
