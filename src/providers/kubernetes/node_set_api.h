// SPDX-License-Identifier: Apache-2.0
// What soperator keeps of one NodeSet in the API: its size, its active ordinals, its pods, why one was refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "burst/clock.h"
#include "burst/random.h"
#include "providers/kubernetes/kubernetes_api.h"
#include "providers/kubernetes/node_set_power_state.h"
#include "providers/kubernetes/pod_status.h"

namespace burst::kubernetes {

/// All functions throw Error with the API server's code where a call fails.
class NodeSetApi {
 public:
  NodeSetApi(KubernetesApi api, std::string node_set, Clock& clock, Random& random);

  /// Throws Error{"NodeSetNotFound"} too.
  NodeSet node_set() const;

  /// Nothing: there is no such object, which says nothing about which nodes are wanted.
  std::optional<PowerState> power_state() const;

  /// Changes the state that it is given; false: nothing to write.
  using Edit = std::function<bool(PowerState&)>;
  enum class Absent { is_created, is_left };
  /// Reads, edits and writes, again and again while others write in between: with a resourceVersion nobody's change is
  /// lost. Where there is no object, `edit` gets one that is to be created, or nothing happens. Returns whether there
  /// is one in the end.
  bool edit(const Edit& edit, Absent absent) const;

  /// The NodeSet's pods by ordinal. Reads all of the namespace: their labels differ with soperator's releases.
  std::map<std::int64_t, Pod> pods() const;

  /// Why the API server refused pods to the operator, since that time, as far as events tell: quota, policies,
  /// webhooks. By ordinal.
  std::map<std::int64_t, ApiError> refused_pods(std::chrono::sys_seconds since) const;

 private:
  KubernetesApi api_;
  std::string node_set_;
  Clock& clock_;
  Random& random_;

  std::string path(const char* resource) const;
  CallResult call(const char* method, const std::string& path, const std::string& body, const char* kind) const;
  /// False: someone else was quicker.
  bool write(const PowerState& state) const;
};

}  // namespace burst::kubernetes
