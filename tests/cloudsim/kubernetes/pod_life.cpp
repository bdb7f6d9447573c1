// SPDX-License-Identifier: Apache-2.0
// What happens to pods in the course of time: from the scheduler's first look to their end.
#include "kubernetes/pod_life.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "kubernetes/container_states.h"
#include "kubernetes/quota.h"
#include "kubernetes/selectors.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

const ResourceType& pods() { return core("pods"); }

bool fits(const PodRule& rule, const nlohmann::json& pod) {
  const auto name = name_of(pod);
  const bool named =
      rule.name.ends_with('*') ? name.starts_with(rule.name.substr(0, rule.name.size() - 1)) : name == rule.name;
  return named && has_labels(pod, rule.labels);
}

bool is_over(const nlohmann::json& pod) {
  const auto phase = list_at(pod, "status").value("phase", "");
  return phase == "Failed" || phase == "Succeeded";
}

}  // namespace

PodLife::Key PodLife::key_of(const nlohmann::json& pod) {
  return {namespace_of(pod), name_of(pod), pod.at("metadata").at("uid").get<std::string>()};
}

Object PodLife::find(const Key& key) const {
  auto found = store_->find(pods(), key.space, key.name);
  return found && found->at("metadata").at("uid") == key.uid ? found : nullptr;
}

void PodLife::later(Millis delay, const nlohmann::json& pod, Step step) {
  shared_.loop.after(delay, [this, step, key = key_of(pod), generation = generation_] {
    if (const auto found = generation == generation_ ? find(key) : nullptr) {
      (this->*step)(*found);
    }
  });
}

Object PodLife::change(const nlohmann::json& pod, const std::function<void(nlohmann::json&)>& edit) {
  auto changed = *find(key_of(pod));
  edit(changed);
  return store_->update(pods(), std::move(changed));
}

void PodLife::created(const nlohmann::json& pod) {
  update_quotas(*store_, namespace_of(pod));
  if (!knobs_->kubelet) {
    return;
  }
  std::size_t index = 0;
  for (const auto& rule : knobs_->pods) {
    auto& taken = taken_[fmt::format("{}/{}/{}/{}", index++, rule.name, rule.labels.dump(), rule.outcome)];
    if (fits(rule, pod) && (rule.count < 0 || taken < rule.count)) {
      ++taken;
      rules_[key_of(pod).uid] = rule;
      break;
    }
  }
  later(knobs_->schedule, pod, &PodLife::schedule);
}

const PodRule* PodLife::rule_of(const nlohmann::json& pod) const {
  const auto found = rules_.find(key_of(pod).uid);
  return found == rules_.end() ? nullptr : &found->second;
}

void PodLife::schedule(const nlohmann::json& pod) {
  if (is_terminating(pod)) {
    return;
  }
  const auto* const rule = rule_of(pod);
  if (rule != nullptr && rule->outcome == "unschedulable") {
    unschedulable(pod, rule);
  } else if (knobs_->scale_up > Millis{0}) {
    unschedulable(pod, nullptr);
    later(knobs_->scale_up, pod, &PodLife::bind);
  } else {
    bind(pod);
  }
}

void PodLife::unschedulable(const nlohmann::json& pod, const PodRule* rule) {
  const auto count = store_->all(core("nodes")).size();
  const bool gpu = pod_total(pod, "requests", "nvidia.com/gpu") > 0;
  const std::string lack = gpu ? "Insufficient nvidia.com/gpu" : "Insufficient cpu";
  const auto message = rule != nullptr && !rule->message.empty() ? rule->message
                       : count == 0
                           ? "no nodes available to schedule pods"
                           : fmt::format(
                                 "0/{0} nodes are available: {0} {1}. preemption: 0/{0} nodes are available: {0} No "
                                 "preemption victims found for incoming pod.",
                                 count, lack);
  change(pod, [&](auto& out) { set_condition(out, "PodScheduled", "False", "Unschedulable", message); });
  event(pod, "Warning", "FailedScheduling", message, "default-scheduler");
  if (rule != nullptr) {
    event(pod, "Normal", "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 " + lack, "cluster-autoscaler");
  } else {
    event(pod, "Normal", "TriggeredScaleUp", "pod triggered scale-up: [{cloudsim-pool 0->1 (max: 1000)}]",
          "cluster-autoscaler");
  }
}

std::string PodLife::new_node(const nlohmann::json& pod) {
  const auto name = fmt::format("cloudsim-node-{}", ++nodes_);
  const auto address = addresses_.take(knobs_->first_address);
  nlohmann::json capacity{{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "110"}};
  for (const auto& container : pod.at("spec").at("containers")) {
    for (const auto& [resource, amount] : list_at(list_at(container, "resources"), "requests").items()) {
      capacity[resource] = amount;
    }
  }
  nlohmann::json node{
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
      {"spec", {{"providerID", "cloudsim:///" + name}}},
      {"status",
       {{"capacity", capacity},
        {"allocatable", capacity},
        {"addresses", {{{"type", "InternalIP"}, {"address", address}}, {{"type", "Hostname"}, {"address", name}}}},
        {"nodeInfo", {{"kubeletVersion", "v" + knobs_->version + ".0"}}}}}};
  set_condition(node, "Ready", "True", "KubeletReady", "kubelet is posting ready status");
  store_->create(core("nodes"), std::move(node));
  return name;
}

void PodLife::bind(const nlohmann::json& pod) {
  if (is_terminating(pod)) {
    return;
  }
  const auto node = new_node(pod);
  const auto host = store_->find(core("nodes"), "", node)->at("status").at("addresses").at(0).at("address");
  change(pod, [&](auto& out) {
    out["spec"]["nodeName"] = node;
    out["status"]["hostIP"] = host;
    out["status"]["startTime"] = now_rfc3339();
    set_condition(out, "PodScheduled", "True");
    set_condition(out, "Initialized", "True");
    set_condition(out, "Ready", "False", "ContainersNotReady",
                  "containers with unready status: " + container_names(out));
    set_condition(out, "ContainersReady", "False", "ContainersNotReady",
                  "containers with unready status: " + container_names(out));
    set_waiting(out, "ContainerCreating", "");
  });
  event(pod, "Normal", "Scheduled",
        fmt::format("Successfully assigned {}/{} to {}", namespace_of(pod), name_of(pod), node), "default-scheduler");
  event(pod, "Normal", "Pulling", fmt::format("Pulling image \"{}\"", first_image(pod)), "kubelet");
  const auto* const rule = rule_of(pod);
  later(knobs_->pull, pod, &PodLife::start_containers);
  if (rule != nullptr && rule->outcome == "out_of_cpu") {
    fail(pod, "OutOfcpu",
         rule->message.empty()
             ? "Pod was rejected: Node didn't have enough resource: cpu, requested: 4000, used: 2000, "
               "capacity: 4000"
             : rule->message);
  }
}

void PodLife::start_containers(const nlohmann::json& pod) {
  if (is_over(pod) || is_terminating(pod) || lost_.count(key_of(pod).uid) != 0) {
    return;
  }
  const auto* const rule = rule_of(pod);
  if (rule != nullptr && rule->outcome != "never_ready") {
    hold(pod, *rule);
    return;
  }
  event(pod, "Normal", "Pulled", fmt::format("Successfully pulled image \"{}\"", first_image(pod)), "kubelet");
  later(knobs_->start.value_or(shared_.knobs.boot), pod, &PodLife::run);
}

void PodLife::run(const nlohmann::json& pod) {
  if (is_over(pod) || is_terminating(pod) || lost_.count(key_of(pod).uid) != 0) {
    return;
  }
  const auto uid = key_of(pod).uid;
  const auto* const rule = rule_of(pod);
  const auto address = addresses_of_.try_emplace(uid, addresses_.take(knobs_->first_address)).first->second;
  event(pod, "Normal", "Started", "Started container " + container_names(pod, false), "kubelet");
  change(pod, [&](auto& out) {
    out["status"]["phase"] = "Running";
    out["status"]["podIP"] = address;
    out["status"]["podIPs"] = {{{"ip", address}}};
    set_running(out, rule == nullptr);
    if (rule == nullptr) {
      set_condition(out, "Ready", "True");
      set_condition(out, "ContainersReady", "True");
    }
  });
  auto& unbootable = shared_.knobs.unbootable;
  if (unbootable != 0) {
    unbootable -= unbootable > 0 ? 1 : 0;
    return;
  }
  const auto hostname = pod.at("spec").value("hostname", name_of(pod));
  shared_.boot.start(uid, {"NODE_NAME=" + hostname, "CLOUDSIM_ADDRESS=" + address, "CLOUDSIM_INSTANCE_ID=" + uid,
                           "POD_NAME=" + name_of(pod), "POD_NAMESPACE=" + namespace_of(pod)});
}

nlohmann::json PodLife::remove(const nlohmann::json& pod, std::int64_t grace_seconds) {
  const bool at_once = grace_seconds <= 0 || is_over(pod) || !pod.at("spec").contains("nodeName");
  const auto before = list_at(pod.at("metadata"), "deletionGracePeriodSeconds");
  if (!at_once && before.is_number() && before.get<std::int64_t>() <= grace_seconds) {
    return pod;  // it ends earlier already
  }
  const auto grace = at_once ? 0 : grace_seconds;
  auto changed = pod;
  changed["metadata"]["deletionTimestamp"] = rfc3339(std::chrono::system_clock::now() + std::chrono::seconds(grace));
  changed["metadata"]["deletionGracePeriodSeconds"] = grace;
  if (at_once) {
    gone(pod);
    return changed;
  }
  const auto answer = store_->update(pods(), std::move(changed));
  if (knobs_->kubelet && lost_.count(key_of(pod).uid) == 0) {
    shared_.boot.stop(key_of(pod).uid);
    event(pod, "Normal", "Killing", "Stopping container " + container_names(pod, false), "kubelet");
    const auto delay = knobs_->terminate.value_or(shared_.knobs.terminate);
    later(std::min(delay, Millis{std::chrono::seconds(grace)}), *answer, &PodLife::gone);
  }
  return *answer;
}

void PodLife::gone(const nlohmann::json& pod) {
  const auto key = key_of(pod);
  const auto node = pod.at("spec").value("nodeName", "");
  shared_.boot.stop(key.uid);
  rules_.erase(key.uid);
  lost_.erase(key.uid);
  store_->remove(pods(), key.space, key.name);
  if (const auto address = addresses_of_.find(key.uid); address != addresses_of_.end()) {
    addresses_.give_back(address->second);
    addresses_of_.erase(address);
  }
  if (const auto machine = node.starts_with("cloudsim-node-") ? store_->find(core("nodes"), "", node) : nullptr) {
    addresses_.give_back(machine->at("status").at("addresses").at(0).at("address").get<std::string>());
    store_->remove(core("nodes"), "", node);
  }
  update_quotas(*store_, key.space);
}

void PodLife::event(const nlohmann::json& object, const std::string& type, const std::string& reason,
                    const std::string& message, const std::string& component) {
  const auto space = namespace_of(object);
  const auto& metadata = object.at("metadata");
  const auto time = now_rfc3339();
  store_->create(core("events"),
                 {{"apiVersion", "v1"},
                  {"kind", "Event"},
                  {"metadata",
                   {{"name", fmt::format("{}.{:016x}", name_of(object), store_->version() + 1)}, {"namespace", space}}},
                  {"involvedObject",
                   {{"kind", object.value("kind", "")},
                    {"namespace", space},
                    {"name", name_of(object)},
                    {"uid", metadata.value("uid", "")},
                    {"apiVersion", object.value("apiVersion", "")},
                    {"resourceVersion", metadata.value("resourceVersion", "")}}},
                  {"type", type},
                  {"reason", reason},
                  {"message", message},
                  {"source", {{"component", component}}},
                  {"reportingComponent", component},
                  {"reportingInstance", ""},
                  {"firstTimestamp", time},
                  {"lastTimestamp", time},
                  {"eventTime", nullptr},
                  {"count", 1}});
}

void PodLife::reset() {
  for (const auto& [key, pod] : store_->all(pods())) {
    shared_.boot.stop(pod->at("metadata").at("uid").get<std::string>());
  }
  ++generation_;
  rules_.clear();
  taken_.clear();
  lost_.clear();
  addresses_of_.clear();
  addresses_.reset();
}

}  // namespace cloudsim::kubernetes
