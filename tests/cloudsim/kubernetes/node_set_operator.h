// SPDX-License-Identifier: Apache-2.0
// The operators of Slurm in Kubernetes, simulated: from NodeSets and NodeSetPowerStates to pods NAME-ORDINAL.
#pragma once

#include <set>
#include <string>

#include "kubernetes/kubernetes_knobs.h"
#include "kubernetes/object_api.h"
#include "kubernetes/object_store.h"
#include "kubernetes/pod_life.h"
#include "shared_parts.h"

namespace cloudsim::kubernetes {

class NodeSetOperator {
 public:
  NodeSetOperator(const SharedParts& shared, const KubernetesKnobs& knobs, ObjectStore& store, ObjectApi& api,
                  PodLife& life)
      : shared_(shared), knobs_(&knobs), store_(&store), api_(&api), life_(&life) {}

  void changed(const Change& change);
  void reset() { ++generation_; }

 private:
  void later(const ResourceType& type, const std::string& space, const std::string& name, Millis delay);
  void reconcile(const ResourceType& type, const std::string& space, const std::string& name);
  /// Makes what lacks and removes what is too much. False: some could not be made.
  bool settle(const nlohmann::json& node_set, const std::set<std::int64_t>& wanted);
  std::set<std::int64_t> wanted_ordinals(const ResourceType& type, const nlohmann::json& node_set) const;

  SharedParts shared_;
  const KubernetesKnobs* knobs_;
  ObjectStore* store_;
  ObjectApi* api_;
  PodLife* life_;
  std::uint64_t generation_ = 0;
};

}  // namespace cloudsim::kubernetes
