// SPDX-License-Identifier: Apache-2.0
// TerminateInstances: all or, with a bad id, none.
#include <set>

#include <fmt/format.h>

#include "ec2/actions.h"

namespace cloudsim::ec2 {

namespace {

void write_state(XmlWriter& xml, std::string_view element, InstanceState state) {
  xml.element(element, [&] {
    xml.text("code", std::to_string(static_cast<int>(state)));
    xml.text("name", name_of(state));
  });
}

void write_change(XmlWriter& xml, const Instance& instance, InstanceState before) {
  xml.element("item", [&] {
    xml.text("instanceId", instance.id);
    write_state(xml, "currentState", instance.state);
    write_state(xml, "previousState", before);
  });
}

}  // namespace

std::string terminate_instances(const Call& call) {
  const auto ids = call.parameters.list("InstanceId");
  if (ids.empty()) {
    throw ApiError("MissingParameter", "The request must contain the parameter InstanceId");
  }
  const auto instances = named_instances(call, ids);
  // One protected instance keeps all of its zone alive; the other zones' instances end, and the call fails all the
  // same.
  std::set<std::string> protected_zones;
  const Instance* spared = nullptr;
  for (const auto* instance : instances) {
    if (instance->termination_protected && is_live(instance->state)) {
      protected_zones.insert(instance->zone);
      spared = instance;
    }
  }
  XmlWriter xml;
  xml.element("instancesSet", [&] {
    for (auto* instance : instances) {
      if (protected_zones.count(instance->zone) == 0) {
        const auto before = instance->state;
        call.cloud.terminate(*instance, "Client.UserInitiatedShutdown", "User initiated shutdown");
        write_change(xml, *instance, before);
      }
    }
  });
  if (spared != nullptr) {
    throw ApiError("OperationNotPermitted", fmt::format("The instance '{}' may not be terminated. Modify its "
                                                        "'disableApiTermination' instance attribute and try again.",
                                                        spared->id));
  }
  return xml.take();
}

}  // namespace cloudsim::ec2
