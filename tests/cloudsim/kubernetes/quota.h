// SPDX-License-Identifier: Apache-2.0
// Resource quotas: what pods take, who is refused, and what a ResourceQuota shows as used.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "kubernetes/object_store.h"

namespace cloudsim::kubernetes {

/// `exceeded quota: NAME, requested: ..., used: ..., limited: ...`, or `failed quota: ...`; empty: the pod fits.
std::string quota_refusal(const ObjectStore& store, const nlohmann::json& pod);
/// Brings status.used of the namespace's quotas up to date.
void update_quotas(ObjectStore& store, const std::string& space);
/// requests or limits of all containers together, in thousandths.
std::int64_t pod_total(const nlohmann::json& pod, const char* group, const std::string& resource);

}  // namespace cloudsim::kubernetes
