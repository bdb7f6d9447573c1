// SPDX-License-Identifier: Apache-2.0
// Compute Engine's published request limits: so many a minute, per project and region.
// Source: cloud.google.com/compute/api-quota.
#include "gce/limits.h"

#include <chrono>

#include "gce/failure.h"
#include "gce/methods.h"
#include "gce/names.h"

namespace cloudsim::gce {

namespace {

constexpr TokenBucket::Size kPublished{1500, 25};

std::string kind_of(const ApiCall& call, bool mutates) {
  if (call.method.find("operations.") != std::string::npos) {
    return "operation_read";
  }
  const auto verb = call.method.substr(call.method.rfind('.') + 1);
  return mutates ? "mutate" : (verb == "get" ? "read" : "list");
}

}  // namespace

ApiError rate_limit_exceeded(int http_status) {
  return api_error(http_status, "rateLimitExceeded",
                   "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service "
                   "'compute.googleapis.com'.");
}

void Limits::admit(const Knobs& knobs, const ApiCall& call, bool mutates) {
  if (!knobs.throttling) {
    return;
  }
  const auto zone = parameter(call, "zone");
  const auto region = zone.empty() ? parameter(call, "region") : region_of_zone(zone);
  const auto kind = kind_of(call, mutates);
  const auto key = parameter(call, "project") + "/" + region + "/" + kind;
  auto found = buckets_.find(key);
  if (found == buckets_.end()) {
    const auto own = knobs.buckets.find("gce/" + kind);
    found = buckets_.emplace(key, TokenBucket(own == knobs.buckets.end() ? kPublished : own->second)).first;
  }
  if (!found->second.take(1, std::chrono::steady_clock::now())) {
    throw rate_limit_exceeded(403);
  }
}

}  // namespace cloudsim::gce
