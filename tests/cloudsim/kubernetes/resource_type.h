// SPDX-License-Identifier: Apache-2.0
// The kinds of objects that the simulated API server knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloudsim::kubernetes {

struct ResourceType {
  std::string group, version, plural, singular, kind;
  std::vector<std::string> short_names;
  bool namespaced = true;
  std::vector<std::string> verbs;
  std::vector<std::string> subresources;  ///< names behind the slash

  std::string qualified() const { return group.empty() ? plural : plural + "." + group; }  ///< as in messages
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  bool custom() const { return group.find('.') != std::string::npos && !group.ends_with(".k8s.io"); }
  bool allows(std::string_view verb) const;
};

const std::vector<ResourceType>& resource_types();
/// Null: there is no such resource.
const ResourceType* find_resource(std::string_view group, std::string_view version, std::string_view plural);
/// One of those that are always there, by its plural: `pods`.
const ResourceType& core(std::string_view plural);
const ResourceType& slinky_nodesets();
const ResourceType& soperator_nodesets();
const ResourceType& power_states();

}  // namespace cloudsim::kubernetes
