// SPDX-License-Identifier: Apache-2.0
// What happens to pods in the course of time: scheduler, autoscaler, kubelet and pod garbage collection in one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "address_pool.h"
#include "kubernetes/kubernetes_knobs.h"
#include "kubernetes/object_store.h"
#include "shared_parts.h"

namespace cloudsim::kubernetes {

class PodLife {
 public:
  PodLife(const SharedParts& shared, const KubernetesKnobs& knobs, ObjectStore& store)
      : shared_(shared), knobs_(&knobs), store_(&store) {}

  void created(const nlohmann::json& pod);  ///< its life begins
  /// Deletes it: at once, or by a deletion time and a grace. Gives the pod as the API answers.
  nlohmann::json remove(const nlohmann::json& pod, std::int64_t grace_seconds);
  /// An action of the control API, with its parameters. Throws std::invalid_argument.
  void act(const nlohmann::json& pod, const std::string& action, const nlohmann::json& parameters);
  /// An Event about it.
  void event(const nlohmann::json& object, const std::string& type, const std::string& reason,
             const std::string& message, const std::string& component);
  void reset();

 private:
  struct Key {
    std::string space, name, uid;
  };
  using Step = void (PodLife::*)(const nlohmann::json&);
  static Key key_of(const nlohmann::json& pod);
  Object find(const Key& key) const;  ///< null: it is gone, or another one has its name
  void later(Millis delay, const nlohmann::json& pod, Step step);
  Object change(const nlohmann::json& pod, const std::function<void(nlohmann::json&)>& edit);

  void schedule(const nlohmann::json& pod);
  void bind(const nlohmann::json& pod);
  void start_containers(const nlohmann::json& pod);
  void run(const nlohmann::json& pod);
  void gone(const nlohmann::json& pod);
  void back_off(const nlohmann::json& pod);
  void crash_again(const nlohmann::json& pod);
  void unschedulable(const nlohmann::json& pod, const PodRule* rule);
  void hold(const nlohmann::json& pod, const PodRule& rule);
  void crash(const nlohmann::json& pod, const std::string& message);
  void fail(const nlohmann::json& pod, const std::string& reason, const std::string& message);
  void evict(const nlohmann::json& pod, const std::string& message);
  void lose_node(const nlohmann::json& pod);
  void preempt(const nlohmann::json& pod);
  std::string new_node(const nlohmann::json& pod);
  const PodRule* rule_of(const nlohmann::json& pod) const;

  SharedParts shared_;
  const KubernetesKnobs* knobs_;
  ObjectStore* store_;
  AddressPool addresses_;
  std::map<std::string, PodRule> rules_;             ///< by uid
  std::map<std::string, std::int64_t> taken_;        ///< how often a rule with a count struck, by its index
  std::map<std::string, std::string> addresses_of_;  ///< by uid
  std::set<std::string> lost_;                       ///< uids on nodes that don't answer
  std::uint64_t generation_ = 0;
  std::uint64_t nodes_ = 0;
};

/// Adds or replaces a condition of an object's status.
void set_condition(nlohmann::json& object, const std::string& type, const std::string& status,
                   const std::string& reason = "", const std::string& message = "");

}  // namespace cloudsim::kubernetes
