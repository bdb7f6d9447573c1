// SPDX-License-Identifier: Apache-2.0
// All Compute Engine node groups of a configuration: what they share.
#pragma once

#include <memory>

#include "burst/provider.h"

namespace burst::gce {

/// Groups with the same credentials file and impersonated service account share their tokens.
std::unique_ptr<ProviderFamily> make_family(const ProviderContext& context);

}  // namespace burst::gce
