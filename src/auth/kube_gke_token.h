// SPDX-License-Identifier: Apache-2.0
// Tokens for Google Kubernetes Engine: Google's access tokens.
#pragma once

#include <memory>

#include "auth/google_token.h"
#include "auth/kube_credentials.h"

namespace burst::auth {

/// Errors and caching are those of GoogleTokenSource.
std::shared_ptr<KubeCredentialSource> make_gke_credential_source(const GoogleCredentialOptions& options,
                                                                 const Services& services);

}  // namespace burst::auth
