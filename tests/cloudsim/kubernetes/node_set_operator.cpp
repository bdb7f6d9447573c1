// SPDX-License-Identifier: Apache-2.0
// soperator: the pods of a NodeSet are the activeNodes of the NodeSetPowerState of its name. Slinky: the lowest
// ordinals.
#include "kubernetes/node_set_operator.h"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "kubernetes/api_status.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

constexpr Millis kRetry{100};

std::int64_t number_at(const nlohmann::json& object, const char* key, std::int64_t otherwise) {
  const auto& value = list_at(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

nlohmann::json pod_from(const nlohmann::json& node_set, std::int64_t ordinal) {
  const auto set = name_of(node_set);
  const auto& spec_in = list_at(list_at(list_at(node_set, "spec"), "template"), "spec");
  nlohmann::json spec = spec_in.is_object() && spec_in.contains("containers")
                            ? spec_in
                            : nlohmann::json{{"containers", {{{"name", "slurmd"}, {"image", "slurmd:latest"}}}}};
  const auto name = fmt::format("{}-{}", set, ordinal);
  spec["hostname"] = name;
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", name},
            {"namespace", namespace_of(node_set)},
            {"labels",
             {{"app.kubernetes.io/component", "worker"},
              {"app.kubernetes.io/instance", set},
              {"statefulset.kubernetes.io/pod-name", name}}},
            {"ownerReferences",
             {{{"apiVersion", node_set.at("apiVersion")},
               {"kind", "NodeSet"},
               {"name", set},
               {"uid", node_set.at("metadata").at("uid")},
               {"controller", true}}}}}},
          {"spec", spec}};
}

}  // namespace

void NodeSetOperator::changed(const Change& change) {
  const auto& object = change.after ? *change.after : *change.before;
  if (change.type == &soperator_nodesets() || change.type == &power_states()) {
    later(soperator_nodesets(), namespace_of(object), name_of(object), knobs_->operator_delay);
  } else if (change.type == &slinky_nodesets()) {
    later(slinky_nodesets(), namespace_of(object), name_of(object), knobs_->operator_delay);
  } else if (change.type == &core("pods") && !change.after) {
    for (const auto& owner : list_at(object.at("metadata"), "ownerReferences")) {
      if (owner.value("kind", "") == "NodeSet") {  // one of its pods is gone: perhaps it is to come again
        const auto& type =
            owner.value("apiVersion", "") == slinky_nodesets().api_version() ? slinky_nodesets() : soperator_nodesets();
        later(type, namespace_of(object), owner.value("name", ""), knobs_->operator_delay);
      }
    }
  }
}

void NodeSetOperator::later(const ResourceType& type, const std::string& space, const std::string& name, Millis delay) {
  shared_.loop.after(delay, [this, &type, space, name, generation = generation_] {
    if (generation == generation_) {
      reconcile(type, space, name);
    }
  });
}

std::set<std::int64_t> NodeSetOperator::wanted_ordinals(const ResourceType& type,
                                                        const nlohmann::json& node_set) const {
  std::set<std::int64_t> out;
  const auto& spec = list_at(node_set, "spec");
  auto count = number_at(spec, "replicas", 1);
  if (&type == &soperator_nodesets() && list_at(spec, "ephemeralNodes") == true) {
    if (const auto state = store_->find(power_states(), namespace_of(node_set), name_of(node_set))) {
      for (const auto& ordinal : list_at(list_at(*state, "spec"), "activeNodes")) {
        out.insert(ordinal.get<std::int64_t>());
      }
      return out;
    }
    count = number_at(spec, "initialNumberEphemeralNodes", 1);
  }
  for (std::int64_t ordinal = 0; ordinal < count; ++ordinal) {
    out.insert(ordinal);
  }
  return out;
}

bool NodeSetOperator::settle(const nlohmann::json& node_set, const std::set<std::int64_t>& wanted) {
  bool complete = true;
  const auto prefix = name_of(node_set) + "-";
  std::set<std::int64_t> there;
  const auto pods = store_->all(core("pods"));
  for (const auto& [key, pod] : pods) {
    const auto name = name_of(*pod);
    const auto& owners = list_at(pod->at("metadata"), "ownerReferences");
    if (namespace_of(*pod) != namespace_of(node_set) || !name.starts_with(prefix) || owners.empty() ||
        owners[0].value("uid", "") != node_set.at("metadata").at("uid")) {
      continue;
    }
    std::int64_t ordinal = -1;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), ordinal);
    there.insert(ordinal);
    if (wanted.count(ordinal) == 0 && !is_terminating(*pod)) {
      life_->remove(*pod, pod->at("spec").value("terminationGracePeriodSeconds", std::int64_t{30}));
    }
  }
  for (const auto ordinal : wanted) {
    if (there.count(ordinal) != 0) {
      continue;
    }
    ApiRequest request;
    request.verb = "create";
    request.type = &core("pods");
    request.resource = "pods";
    request.space = namespace_of(node_set);
    request.body = pod_from(node_set, ordinal);
    try {
      api_->perform(request);
    } catch (const StatusError& error) {
      life_->event(node_set, "Warning", "FailedCreate",
                   fmt::format("create Pod {}{} in StatefulSet {} failed error: {}", prefix, ordinal, name_of(node_set),
                               error.what()),
                   "statefulset-controller");
      complete = false;
    }
  }
  return complete;
}

void NodeSetOperator::reconcile(const ResourceType& type, const std::string& space, const std::string& name) {
  const auto node_set = store_->find(type, space, name);
  if (!node_set) {
    const auto pods = store_->all(core("pods"));
    for (const auto& [key, pod] : pods) {  // what is left of a NodeSet that was deleted
      const auto& owners = list_at(pod->at("metadata"), "ownerReferences");
      if (namespace_of(*pod) == space && !owners.empty() && owners[0].value("kind", "") == "NodeSet" &&
          owners[0].value("name", "") == name && owners[0].value("apiVersion", "") == type.api_version()) {
        life_->remove(*pod, 0);
      }
    }
    return;
  }
  const auto wanted = wanted_ordinals(type, *node_set);
  if (!settle(*node_set, wanted)) {
    later(type, space, name, kRetry);
  }
  auto changed = *store_->find(type, space, name);
  changed["status"]["replicas"] = wanted.size();
  store_->update(type, std::move(changed));
  const auto state = &type == &soperator_nodesets() ? store_->find(power_states(), space, name) : nullptr;
  if (state) {  // all that soperator itself ever writes there
    auto with_status = *state;
    with_status["status"]["activeCount"] = wanted.size();
    set_condition(with_status, "Ready", "True", "PowerStateApplied");
    store_->update(power_states(), std::move(with_status));
  }
}

}  // namespace cloudsim::kubernetes
