// SPDX-License-Identifier: Apache-2.0
// Objects as the table that `kubectl get` shows.
#include "kubernetes/table.h"

#include <chrono>
#include <ctime>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kubernetes/object_store.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

using Json = nlohmann::json;

std::string text_at(const Json& object, const char* key, const char* otherwise = "") {
  const auto& value = list_at(object, key);
  return value.is_string() ? value.get<std::string>() : otherwise;
}

std::string age_of(const std::string& timestamp) {
  std::tm fields{};
  if (strptime(timestamp.c_str(), "%Y-%m-%dT%H:%M:%SZ", &fields) == nullptr) {
    return "<unknown>";
  }
  const auto seconds = std::time(nullptr) - timegm(&fields);
  return seconds < 120 ? fmt::format("{}s", seconds) : fmt::format("{}m", seconds / 60);
}

/// What `kubectl get pods` calls the status.
std::string pod_status(const Json& pod) {
  auto out = text_at(list_at(pod, "status"), "reason", text_at(list_at(pod, "status"), "phase").c_str());
  for (const auto& container : list_at(list_at(pod, "status"), "containerStatuses")) {
    const auto& state = list_at(container, "state");
    const auto& waiting = list_at(state, "waiting");
    const auto& ended = list_at(state, "terminated");
    if (!text_at(waiting, "reason").empty()) {
      out = text_at(waiting, "reason");
    } else if (!text_at(ended, "reason").empty() && text_at(list_at(pod, "status"), "reason").empty()) {
      out = text_at(ended, "reason");
    }
  }
  return is_terminating(pod) ? "Terminating" : out;
}

Json pod_cells(const Json& pod) {
  const auto& status = list_at(pod, "status");
  std::int64_t ready = 0;
  std::int64_t restarts = 0;
  for (const auto& container : list_at(status, "containerStatuses")) {
    ready += container.value("ready", false) ? 1 : 0;
    restarts += container.value("restartCount", 0);
  }
  return {name_of(pod),
          fmt::format("{}/{}", ready, list_at(list_at(pod, "spec"), "containers").size()),
          pod_status(pod),
          std::to_string(restarts),
          age_of(text_at(pod.at("metadata"), "creationTimestamp")),
          text_at(status, "podIP", "<none>"),
          text_at(list_at(pod, "spec"), "nodeName", "<none>"),
          "<none>",
          "<none>"};
}

Json cells_of(const ResourceType& type, const Json& object) {
  const auto age = age_of(text_at(object.at("metadata"), "creationTimestamp"));
  if (type.kind == "Pod") {
    return pod_cells(object);
  }
  if (type.kind == "Event") {
    const auto& about = list_at(object, "involvedObject");
    return {age_of(text_at(object, "lastTimestamp")), text_at(object, "type"), text_at(object, "reason"),
            fmt::format("{}/{}", text_at(about, "kind"), text_at(about, "name")), text_at(object, "message")};
  }
  if (type.kind == "Namespace") {
    return {name_of(object), is_terminating(object) ? "Terminating" : text_at(list_at(object, "status"), "phase"), age};
  }
  if (type.kind == "Node") {
    std::string ready = "Unknown";
    for (const auto& condition : list_at(list_at(object, "status"), "conditions")) {
      ready = condition["type"] == "Ready" ? (condition["status"] == "True" ? "Ready" : "NotReady") : ready;
    }
    return {name_of(object), ready, "<none>", age,
            text_at(list_at(list_at(object, "status"), "nodeInfo"), "kubeletVersion")};
  }
  if (type.kind == "ResourceQuota") {
    std::string shown;
    const auto& used = list_at(list_at(object, "status"), "used");
    for (const auto& [key, limit] : list_at(list_at(object, "status"), "hard").items()) {
      shown += fmt::format("{}{}: {}/{}", shown.empty() ? "" : ", ", key, text_at(used, key.c_str(), "0"),
                           limit.is_string() ? limit.get<std::string>() : limit.dump());
    }
    return {name_of(object), age, shown, ""};
  }
  return {name_of(object), age};
}

Json columns_of(const ResourceType& type) {
  Json out = Json::array();
  const auto add = [&](const char* name, int priority = 0) {
    const bool is_name = name == std::string_view("Name");
    out.push_back({{"name", name},
                   {"type", "string"},
                   {"format", is_name ? "name" : ""},
                   {"description", ""},
                   {"priority", priority}});
  };
  if (type.kind == "Pod") {
    for (const char* const name : {"Name", "Ready", "Status", "Restarts", "Age"}) {
      add(name);
    }
    for (const char* const name : {"IP", "Node", "Nominated Node", "Readiness Gates"}) {
      add(name, 1);
    }
  } else if (type.kind == "Event") {
    for (const char* const name : {"Last Seen", "Type", "Reason", "Object", "Message"}) {
      add(name);
    }
  } else if (type.kind == "Namespace") {
    for (const char* const name : {"Name", "Status", "Age"}) {
      add(name);
    }
  } else if (type.kind == "Node") {
    for (const char* const name : {"Name", "Status", "Roles", "Age", "Version"}) {
      add(name);
    }
  } else if (type.kind == "ResourceQuota") {
    for (const char* const name : {"Name", "Age", "Request", "Limit"}) {
      add(name);
    }
  } else {
    add("Name");
    add("Age");
  }
  return out;
}

}  // namespace

nlohmann::json to_table(const ResourceType& type, const nlohmann::json& object) {
  const bool is_list = object.contains("items");
  Json rows = Json::array();
  const auto add = [&](const Json& one) {
    rows.push_back(
        {{"cells", cells_of(type, one)},
         {"object",
          {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", one.at("metadata")}}}});
  };
  if (is_list) {
    for (const auto& item : object["items"]) {
      add(item);
    }
  } else {
    add(object);
  }
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata",
           is_list ? object["metadata"] : Json{{"resourceVersion", object["metadata"].value("resourceVersion", "")}}},
          {"columnDefinitions", columns_of(type)},
          {"rows", rows}};
}

}  // namespace cloudsim::kubernetes
