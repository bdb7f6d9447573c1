// SPDX-License-Identifier: Apache-2.0
// All Kubernetes node groups of a configuration: what they share.
#include "providers/kubernetes/kubernetes_family.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "auth/kube_access.h"
#include "providers/kubernetes/kubernetes_settings.h"
#include "providers/kubernetes/node_set_provider.h"
#include "providers/kubernetes/pod_provider.h"

namespace burst::kubernetes {
namespace {

using AccessKey = std::vector<std::string>;

/// All of the settings.
AccessKey key_of(const auth::KubeAccessSettings& settings) {
  AccessKey key{settings.kubeconfig, settings.context, settings.proxy, settings.service_account_folder};
  if (const auto& eks = settings.eks)
    key.insert(key.end(), {"EKS", eks->cluster, eks->region, eks->profile, eks->role_arn});
  if (const auto& gke = settings.gke) key.insert(key.end(), {"GKE", gke->credentials_file, gke->impersonate});
  return key;
}

class KubernetesFamily : public ProviderFamily {
 public:
  explicit KubernetesFamily(ProviderContext context) : context_(std::move(context)) {}

  std::unique_ptr<Provider> provider(const NodeGroup& group) override {
    const GroupSettings settings = parse_settings(context_.config, group);
    auto& access = accesses_[key_of(settings.access)];
    if (!access) access = auth::make_kube_access(settings.access, context_.services);
    if (settings.mode == Mode::node_set_power_state) return std::make_unique<NodeSetProvider>(context_, group, access);
    return std::make_unique<PodProvider>(context_, group, access);
  }

 private:
  ProviderContext context_;
  std::map<AccessKey, std::shared_ptr<auth::KubeAccess>> accesses_;
};

}  // namespace

std::unique_ptr<ProviderFamily> make_family(const ProviderContext& context) {
  return std::make_unique<KubernetesFamily>(context);
}

}  // namespace burst::kubernetes
