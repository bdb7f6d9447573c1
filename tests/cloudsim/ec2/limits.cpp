// SPDX-License-Identifier: Apache-2.0
// EC2's published request limits.
#include "ec2/limits.h"

#include <chrono>
#include <unordered_map>

namespace cloudsim::ec2 {

namespace {

constexpr TokenBucket::Size kNonMutating{100, 20};
constexpr TokenBucket::Size kUnfiltered{50, 10};
constexpr TokenBucket::Size kMutating{50, 5};

TokenBucket::Size published(const std::string& bucket) {
  static const std::unordered_map<std::string, TokenBucket::Size> kOwn{
      {"CreateTags", {100, 10}},
      {"RunInstances", {5, 2}},
      {"TerminateInstances", {100, 5}},
      {"RunInstances/instances", {1000, 2}},
      {"TerminateInstances/instances", {1000, 20}},
  };
  const auto own = kOwn.find(bucket);
  if (own != kOwn.end()) {
    return own->second;
  }
  if (bucket.ends_with("/unfiltered")) {
    return kUnfiltered;
  }
  return bucket.starts_with("Describe") ? kNonMutating : kMutating;
}

void take(const Knobs& knobs, Region& region, const std::string& bucket, double count) {
  auto found = region.buckets.find(bucket);
  if (found == region.buckets.end()) {
    const auto own = knobs.buckets.find(bucket);
    found = region.buckets.emplace(bucket, own == knobs.buckets.end() ? published(bucket) : own->second).first;
  }
  if (!found->second.take(count, std::chrono::steady_clock::now())) {
    throw ApiError(503, "RequestLimitExceeded", "Request limit exceeded.");
  }
}

}  // namespace

void admit(const Knobs& knobs, Region& region, const std::string& action, const Parameters& parameters) {
  if (!knobs.throttling) {
    return;
  }
  const bool describes = action.starts_with("Describe");
  const bool narrowed = parameters.has("Filter.1.Name") || parameters.has("MaxResults") ||
                        parameters.has("InstanceId.1") || parameters.has("SubnetId.1") ||
                        parameters.has("LaunchTemplateId.1") || parameters.has("LaunchTemplateName.1");
  take(knobs, region, describes && !narrowed ? action + "/unfiltered" : action, 1);
  if (action == "RunInstances") {
    const auto count = parameters.integer("MaxCount", 1, 1'000'000).value_or(1);
    take(knobs, region, "RunInstances/instances", static_cast<double>(count));
  } else if (action == "TerminateInstances") {
    const auto count = static_cast<double>(parameters.list("InstanceId").size());
    take(knobs, region, "TerminateInstances/instances", count);
  }
}

}  // namespace cloudsim::ec2
