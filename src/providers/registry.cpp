// SPDX-License-Identifier: Apache-2.0
// The providers that this build knows: a row each.
#include <array>

#include "burst/provider.h"
#include "providers/ec2/ec2_family.h"
#include "providers/ec2/ec2_settings.h"
#include "providers/gce/gce_family.h"
#include "providers/gce/gce_settings.h"
#include "providers/kubernetes/kubernetes_facts.h"
#include "providers/kubernetes/kubernetes_family.h"
#include "providers/kubernetes/kubernetes_settings.h"

namespace burst {

std::span<const ProviderEntry> provider_registry() {
  static const std::array kProviders{
      ProviderEntry{ec2::settings_keys(), &ec2::make_family},
      ProviderEntry{gce::settings_keys(), &gce::make_family},
      ProviderEntry{kubernetes::settings_keys(), &kubernetes::make_family, &kubernetes::group_facts},
  };
  return kProviders;
}

}  // namespace burst
