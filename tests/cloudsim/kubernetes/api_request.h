// SPDX-License-Identifier: Apache-2.0
// A request as the API server understands it: which verb, on which object of which kind.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "http_message.h"
#include "kubernetes/resource_type.h"

namespace cloudsim::kubernetes {

struct ApiRequest {
  std::string verb;                    ///< get, list, watch, create, update, patch, delete, deletecollection
  const ResourceType* type = nullptr;  ///< null: not about an object
  std::string group, resource;         ///< as in the path, also of resources that don't exist
  std::string space, name, subresource;
  std::string path, content_type;
  std::map<std::string, std::string> query;
  nlohmann::json body;  ///< null: there is none, or it is no JSON
  bool broken_body = false;

  std::string action() const;  ///< as calls are counted and faults are set: pods.create, pods/status.patch, discovery
  std::string option(const std::string& key) const;
  bool flag(const std::string& key) const;  ///< true, 1
  bool dry_run() const { return !option("dryRun").empty(); }
};

ApiRequest parse_api_request(const HttpRequest& request);

/// Whose request it is.
struct Identity {
  std::string name, uid;
  std::vector<std::string> groups;
};

}  // namespace cloudsim::kubernetes
