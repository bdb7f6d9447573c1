// SPDX-License-Identifier: Apache-2.0
// What the API server does with objects: create, get, update, patch, delete, with admission and preconditions.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kubernetes/api_request.h"
#include "kubernetes/kubernetes_knobs.h"
#include "kubernetes/object_store.h"
#include "kubernetes/pod_life.h"

namespace cloudsim::kubernetes {

struct ApiAnswer {
  int code = 200;
  nlohmann::json body;
  std::vector<std::string> warnings{};
};

class ObjectApi {
 public:
  ObjectApi(const KubernetesKnobs& knobs, ObjectStore& store, PodLife& life)
      : knobs_(&knobs), store_(&store), life_(&life) {}

  /// All but list and watch. Throws StatusError.
  ApiAnswer perform(const ApiRequest& request);

 private:
  ApiAnswer create(const ApiRequest& request);
  ApiAnswer update(const ApiRequest& request, bool is_patch);
  ApiAnswer scale(const ApiRequest& request);
  ApiAnswer remove(const ApiRequest& request, const nlohmann::json& options);
  ApiAnswer remove_all(const ApiRequest& request);
  ApiAnswer evict(const ApiRequest& request);
  nlohmann::json decoded(const ApiRequest& request, std::vector<std::string>& warnings) const;
  Object existing(const ApiRequest& request) const;
  void admit(const ApiRequest& request, const nlohmann::json& object) const;
  void admit_pod(const nlohmann::json& pod, const std::string& name) const;
  void check_namespace(const ApiRequest& request, const std::string& name) const;
  void prepare(const ResourceType& type, nlohmann::json& object) const;
  void call_webhooks(const ApiRequest& request, const nlohmann::json& object) const;
  void check_preconditions(const ApiRequest& request, const nlohmann::json& object,
                           const nlohmann::json& options) const;

  const KubernetesKnobs* knobs_;
  ObjectStore* store_;
  PodLife* life_;
};

}  // namespace cloudsim::kubernetes
