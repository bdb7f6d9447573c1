// SPDX-License-Identifier: Apache-2.0
// What goes wrong with pods: by rules of the knobs, and by actions of the control API.
#include <stdexcept>

#include <fmt/format.h>

#include "kubernetes/container_states.h"
#include "kubernetes/pod_life.h"
#include "kubernetes/quota.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

/// Long enough to see the first state, short enough for a test. The real ones are 10 s and more.
constexpr Millis kBackOff{100};
constexpr std::int64_t kMostRestarts = 5;

struct Trouble {
  std::string reason, message, event;
};

Trouble trouble_of(const std::string& outcome, const std::string& image) {
  if (outcome == "err_image_pull") {
    return {"ErrImagePull",
            fmt::format("rpc error: code = NotFound desc = failed to pull and unpack image \"{0}\": failed to resolve "
                        "reference \"{0}\": {0}: not found",
                        image),
            "Failed"};
  }
  if (outcome == "invalid_image_name") {
    return {"InvalidImageName",
            fmt::format("Failed to apply default image tag \"{0}\": couldn't parse image name \"{0}\": invalid "
                        "reference format",
                        image),
            "InspectFailed"};
  }
  if (outcome == "config_error") {
    return {"CreateContainerConfigError", "secret \"munge-key\" not found", "Failed"};
  }
  return {"CreateContainerError",
          "failed to create containerd container: error unpacking image: failed to extract layer", "Failed"};
}

}  // namespace

void set_condition(nlohmann::json& object, const std::string& type, const std::string& status,
                   const std::string& reason, const std::string& message) {
  auto& conditions = object["status"]["conditions"];
  nlohmann::json made{
      {"type", type}, {"status", status}, {"lastProbeTime", nullptr}, {"lastTransitionTime", now_rfc3339()}};
  if (!reason.empty()) {
    made["reason"] = reason;
  }
  if (!message.empty()) {
    made["message"] = message;
  }
  for (auto& condition : conditions) {
    if (condition["type"] == type) {
      if (condition["status"] == status) {
        made["lastTransitionTime"] = condition["lastTransitionTime"];
      }
      condition = made;
      return;
    }
  }
  conditions.push_back(made);
}

void PodLife::hold(const nlohmann::json& pod, const PodRule& rule) {
  if (rule.outcome == "crash_loop") {
    event(pod, "Normal", "Started", "Started container " + container_names(pod, false), "kubelet");
    crash(pod, rule.message.empty() ? "slurmd: error: cannot open the munge socket" : rule.message);
    later(kBackOff, pod, &PodLife::crash_again);
    return;
  }
  auto trouble = trouble_of(rule.outcome, first_image(pod));
  if (!rule.message.empty()) {
    trouble.message = rule.message;
  }
  const auto text = rule.outcome == "err_image_pull"
                        ? fmt::format("Failed to pull image \"{}\": {}", first_image(pod), trouble.message)
                        : "Error: " + trouble.message;
  event(pod, "Warning", trouble.event, text, "kubelet");
  change(pod, [&](auto& out) { set_waiting(out, trouble.reason, trouble.message); });
  if (rule.outcome == "err_image_pull") {
    later(kBackOff, pod, &PodLife::back_off);
  }
}

void PodLife::back_off(const nlohmann::json& pod) {
  const auto text = fmt::format("Back-off pulling image \"{}\"", first_image(pod));
  event(pod, "Normal", "BackOff", text, "kubelet");
  change(pod, [&](auto& out) { set_waiting(out, "ImagePullBackOff", text); });
}

void PodLife::crash(const nlohmann::json& pod, const std::string& message) {
  const auto key = key_of(pod);
  const auto text = fmt::format("back-off 10s restarting failed container={} pod={}_{}({})",
                                container_names(pod, false), key.name, key.space, key.uid);
  shared_.boot.stop(key.uid);
  event(pod, "Warning", "BackOff", "Back-off restarting failed container", "kubelet");
  change(pod, [&](auto& out) {
    out["status"]["phase"] = "Running";
    set_crashed(out, message, text);
    set_condition(out, "Ready", "False", "ContainersNotReady",
                  "containers with unready status: " + container_names(out));
    set_condition(out, "ContainersReady", "False", "ContainersNotReady",
                  "containers with unready status: " + container_names(out));
  });
}

void PodLife::crash_again(const nlohmann::json& pod) {
  const auto& first = pod.at("status").at("containerStatuses").at(0);
  if (is_terminating(pod) || first.value("restartCount", 0) >= kMostRestarts) {
    return;
  }
  const auto message = first["lastState"]["terminated"].value("message", "");
  crash(pod, message);
  later(kBackOff, pod, &PodLife::crash_again);
}

void PodLife::fail(const nlohmann::json& pod, const std::string& reason, const std::string& message) {
  const bool good = reason.empty();
  shared_.boot.stop(key_of(pod).uid);
  change(pod, [&](auto& out) {
    out["status"]["phase"] = good ? "Succeeded" : "Failed";
    if (!good) {
      out["status"]["reason"] = reason;
      out["status"]["message"] = message;
    }
    set_terminated(out, good ? 0 : 137, good ? "Completed" : "Error");
    set_condition(out, "Ready", "False", good ? "PodCompleted" : "PodFailed");
    set_condition(out, "ContainersReady", "False", good ? "PodCompleted" : "PodFailed");
  });
  update_quotas(*store_, namespace_of(pod));
}

void PodLife::evict(const nlohmann::json& pod, const std::string& message) {
  const auto text = message.empty() ? "The node was low on resource: memory. Threshold quantity: 100Mi, available: "
                                      "52Mi. Container " +
                                          container_names(pod, false) +
                                          " was using 30Gi, request is 0, has larger consumption of memory. "
                                    : message;
  event(pod, "Warning", "Evicted", text, "kubelet");
  const auto marked =
      change(pod, [&](auto& out) { set_condition(out, "DisruptionTarget", "True", "TerminationByKubelet", text); });
  fail(*marked, "Evicted", text);
}

void PodLife::lose_node(const nlohmann::json& pod) {
  const auto key = key_of(pod);
  const auto node = pod.at("spec").value("nodeName", "");
  if (node.empty()) {
    throw std::invalid_argument("the pod has no node");
  }
  lost_.insert(key.uid);
  shared_.boot.stop(key.uid);
  if (const auto found = store_->find(core("nodes"), "", node)) {
    auto changed = *found;
    set_condition(changed, "Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.");
    changed["spec"]["taints"] = {{{"key", "node.kubernetes.io/unreachable"}, {"effect", "NoExecute"}}};
    store_->update(core("nodes"), std::move(changed));
  }
  event(pod, "Warning", "NodeNotReady", "Node is not ready", "node-controller");
  const auto lost = change(pod, [&](auto& out) {
    out["status"]["reason"] = "NodeLost";
    out["status"]["message"] = fmt::format("Node {} which was running pod {} is unresponsive", node, key.name);
    set_condition(out, "Ready", "False");
  });
  if (knobs_->pod_gc >= Millis{0}) {
    later(knobs_->pod_gc, *lost, &PodLife::gone);
  }
}

void PodLife::preempt(const nlohmann::json& pod) {
  event(pod, "Normal", "Preempted",
        "Preempted by pod 00000000-0000-4000-a000-000000000000 on node " + pod.at("spec").value("nodeName", ""),
        "default-scheduler");
  const auto marked = change(pod, [](auto& out) {
    set_condition(out, "DisruptionTarget", "True", "PreemptionByScheduler",
                  "default-scheduler: preempting to accommodate a higher priority pod");
  });
  remove(*marked, pod.at("spec").value("terminationGracePeriodSeconds", 30));
}

void PodLife::act(const nlohmann::json& pod, const std::string& action, const nlohmann::json& parameters) {
  const auto message = parameters.value("message", "");
  if (action == "evict") {
    evict(pod, message);
  } else if (action == "fail") {
    fail(pod, parameters.value("reason", "UnexpectedAdmissionError"), message);
  } else if (action == "succeed") {
    fail(pod, "", "");
  } else if (action == "crash") {
    crash(pod, message);
  } else if (action == "node_lost") {
    lose_node(pod);
  } else if (action == "preempt") {
    preempt(pod);
  } else if (action == "delete") {
    remove(pod, parameters.value("grace_seconds", std::int64_t{30}));
  } else if (action == "gone") {
    gone(pod);
  } else if (action == "schedule") {
    rules_.erase(key_of(pod).uid);
    later(Millis{0}, pod, &PodLife::bind);
  } else if (action == "hang") {
    shared_.boot.freeze(key_of(pod).uid);
  } else if (action == "thaw") {
    shared_.boot.thaw(key_of(pod).uid);
  } else {
    throw std::invalid_argument("unknown action \"" + action + "\"");
  }
}

}  // namespace cloudsim::kubernetes
