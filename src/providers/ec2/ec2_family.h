// SPDX-License-Identifier: Apache-2.0
// All EC2 node groups of a configuration: what they share.
#pragma once

#include <memory>

#include "burst/provider.h"

namespace burst::ec2 {

/// Groups with the same profile and region share their credentials.
std::unique_ptr<ProviderFamily> make_family(const ProviderContext& context);

}  // namespace burst::ec2
