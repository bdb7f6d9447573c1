// SPDX-License-Identifier: Apache-2.0
// All Kubernetes node groups of a configuration: what they share.
#pragma once

#include <memory>

#include "burst/provider.h"

namespace burst::kubernetes {

/// Groups that reach an API server in the same way share their credentials. provider() reads the kubeconfig and throws
/// Error{"InvalidConfig"} or Error{"NoCredentials"}.
std::unique_ptr<ProviderFamily> make_family(const ProviderContext& context);

}  // namespace burst::kubernetes
