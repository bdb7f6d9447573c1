// SPDX-License-Identifier: Apache-2.0
// The kinds of objects that the simulated API server knows.
#include "kubernetes/resource_type.h"

#include <algorithm>
#include <stdexcept>

namespace cloudsim::kubernetes {

namespace {

const std::vector<std::string> kAll{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};

}  // namespace

bool ResourceType::allows(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const std::vector<ResourceType>& resource_types() {
  static const std::vector<ResourceType> kTypes{
      {"", "v1", "configmaps", "configmap", "ConfigMap", {"cm"}, true, kAll, {}},
      {"", "v1", "events", "event", "Event", {"ev"}, true, kAll, {}},
      {"", "v1", "namespaces", "namespace", "Namespace", {"ns"}, false, kAll, {"status"}},
      {"", "v1", "nodes", "node", "Node", {"no"}, false, kAll, {"status"}},
      {"", "v1", "pods", "pod", "Pod", {"po"}, true, kAll, {"status", "eviction"}},
      {"", "v1", "resourcequotas", "resourcequota", "ResourceQuota", {"quota"}, true, kAll, {"status"}},
      {"", "v1", "secrets", "secret", "Secret", {}, true, kAll, {}},
      {"", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", {"sa"}, true, kAll, {}},
      {"slinky.slurm.net",
       "v1beta1",
       "nodesets",
       "nodeset",
       "NodeSet",
       {"nss", "slurmd"},
       true,
       kAll,
       {"status", "scale"}},
      {"slurm.nebius.ai", "v1alpha1", "nodesets", "nodeset", "NodeSet", {"nsets"}, true, kAll, {"status", "scale"}},
      {"slurm.nebius.ai",
       "v1alpha1",
       "nodesetpowerstates",
       "nodesetpowerstate",
       "NodeSetPowerState",
       {"nsps"},
       true,
       kAll,
       {"status"}},
      {"authorization.k8s.io",
       "v1",
       "selfsubjectaccessreviews",
       "selfsubjectaccessreview",
       "SelfSubjectAccessReview",
       {},
       false,
       {"create"},
       {}},
      {"authentication.k8s.io",
       "v1",
       "selfsubjectreviews",
       "selfsubjectreview",
       "SelfSubjectReview",
       {},
       false,
       {"create"},
       {}},
  };
  return kTypes;
}

const ResourceType* find_resource(std::string_view group, std::string_view version, std::string_view plural) {
  for (const auto& type : resource_types()) {
    if (type.group == group && type.version == version && type.plural == plural) {
      return &type;
    }
  }
  return nullptr;
}

const ResourceType& core(std::string_view plural) {
  const auto* const found = find_resource("", "v1", plural);
  if (found == nullptr) {
    throw std::logic_error("no such resource");
  }
  return *found;
}

const ResourceType& slinky_nodesets() { return *find_resource("slinky.slurm.net", "v1beta1", "nodesets"); }
const ResourceType& soperator_nodesets() { return *find_resource("slurm.nebius.ai", "v1alpha1", "nodesets"); }
const ResourceType& power_states() { return *find_resource("slurm.nebius.ai", "v1alpha1", "nodesetpowerstates"); }

}  // namespace cloudsim::kubernetes
