// SPDX-License-Identifier: Apache-2.0
// The exec plugins of the clouds whose tokens we can make ourselves.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "auth/google_token.h"
#include "auth/kube_credentials.h"
#include "auth/kube_eks_token.h"

namespace burst::auth {

struct KnownPlugin {
  std::optional<EksTokenSettings> eks;  ///< absent: GKE
  GoogleCredentialOptions gke;
  std::string shown;  ///< `for EKS cluster "gpu"`, for messages
};

/// `aws eks get-token`, `aws-iam-authenticator token`, `gke-gcloud-auth-plugin`, whatever folder they are named in;
/// nothing for others, and for options that we can't honour.
std::optional<KnownPlugin> recognise_plugin(const KubeExec& exec);

std::shared_ptr<KubeCredentialSource> make_source_of(const KnownPlugin& plugin, const KubeConfig& config,
                                                     const Services& services);

}  // namespace burst::auth
