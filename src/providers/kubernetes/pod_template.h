// SPDX-License-Identifier: Apache-2.0
// The pod that every node of a group is made from: read, checked, filled in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "burst/config.h"
#include "burst/files.h"
#include "burst/machine.h"
#include "providers/kubernetes/kubernetes_settings.h"
#include "providers/kubernetes/pod_labels.h"

namespace burst::kubernetes {

/// A `Pod`, a `PodTemplate`, or the bare `{metadata, spec}` of one, YAML or JSON, with what all nodes have in common
/// filled in already.
class PodTemplate {
 public:
  /// Throws Error{"InvalidPodTemplate"} that names file and place (`/spec/containers/0/name: expected ...`).
  static PodTemplate load(const Files& files, const GroupSettings& settings, const GroupIdentity& identity);

  /// Of everything that a node's pod gets but its name, launch and job: pods with another hash are of another template.
  const std::string& hash() const;

  /// The body of the POST: name = hostname = node, NODE_NAME in each container's environment, labels, annotations;
  /// `{node_name}` in command, args and env values replaced.
  std::string body(const NodeName& node, const std::string& launch, std::optional<JobId> job) const;

  /// The filled-in pod without a name.
  const nlohmann::ordered_json& json() const;

 private:
  std::shared_ptr<const nlohmann::ordered_json> json_;
  std::string hash_;
};

}  // namespace burst::kubernetes
