// SPDX-License-Identifier: Apache-2.0
// What a pod's status says about its containers.
#include "kubernetes/container_states.h"

#include <functional>

#include <nlohmann/json.hpp>

#include "kubernetes/object_store.h"

namespace cloudsim::kubernetes {

namespace {

/// Edits every container's status; one that isn't there yet is made.
void each(nlohmann::json& pod, const std::function<void(nlohmann::json&)>& edit) {
  auto& statuses = pod["status"]["containerStatuses"];
  if (!statuses.is_array()) {
    statuses = nlohmann::json::array();
    for (const auto& container : pod.at("spec").at("containers")) {
      statuses.push_back({{"name", container.value("name", "")},
                          {"image", container.value("image", "")},
                          {"imageID", ""},
                          {"restartCount", 0},
                          {"lastState", nlohmann::json::object()}});
    }
  }
  for (auto& status : statuses) {
    status["ready"] = false;
    status["started"] = false;
    edit(status);
  }
}

nlohmann::json terminated(int exit_code, const std::string& reason, const std::string& message) {
  const auto time = now_rfc3339();
  nlohmann::json out{{"exitCode", exit_code}, {"reason", reason}, {"startedAt", time}, {"finishedAt", time}};
  if (!message.empty()) {
    out["message"] = message;
  }
  return out;
}

}  // namespace

std::string container_names(const nlohmann::json& pod, bool all) {
  std::string out;
  for (const auto& container : pod.at("spec").at("containers")) {
    out += (out.empty() ? "" : " ") + container.value("name", "");
    if (!all) {
      return out;
    }
  }
  return "[" + out + "]";
}

std::string first_image(const nlohmann::json& pod) { return pod.at("spec").at("containers").at(0).value("image", ""); }

void set_waiting(nlohmann::json& pod, const std::string& reason, const std::string& message) {
  each(pod, [&](nlohmann::json& status) {
    status["state"] = {{"waiting", {{"reason", reason}}}};
    if (!message.empty()) {
      status["state"]["waiting"]["message"] = message;
    }
  });
}

void set_running(nlohmann::json& pod, bool ready) {
  each(pod, [&](nlohmann::json& status) {
    status["state"] = {{"running", {{"startedAt", now_rfc3339()}}}};
    status["started"] = true;
    status["ready"] = ready;
    status["imageID"] = status.value("image", "") + "@sha256:0";
    status["containerID"] = "containerd://0";
  });
}

void set_crashed(nlohmann::json& pod, const std::string& message, const std::string& back_off) {
  each(pod, [&](nlohmann::json& status) {
    status["restartCount"] = status.value("restartCount", 0) + 1;
    status["lastState"] = {{"terminated", terminated(1, "Error", message)}};
    status["state"] = {{"waiting", {{"reason", "CrashLoopBackOff"}, {"message", back_off}}}};
  });
}

void set_terminated(nlohmann::json& pod, int exit_code, const std::string& reason) {
  each(pod, [&](nlohmann::json& status) { status["state"] = {{"terminated", terminated(exit_code, reason, "")}}; });
}

}  // namespace cloudsim::kubernetes
