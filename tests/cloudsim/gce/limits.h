// SPDX-License-Identifier: Apache-2.0
// Compute Engine's published request limits.
#pragma once

#include <map>
#include <string>

#include "gce/schema.h"
#include "knobs.h"
#include "token_bucket.h"

namespace cloudsim::gce {

class Limits {
 public:
  /// Takes one call from its bucket, or throws ApiError (403 rateLimitExceeded).
  void admit(const Knobs& knobs, const ApiCall& call, bool mutates);
  void reset() { buckets_.clear(); }

 private:
  std::map<std::string, TokenBucket> buckets_;  ///< by project, region (or "global") and kind of call
};

/// 403, or 429 as newer parts of Google's front end have it.
ApiError rate_limit_exceeded(int http_status);

}  // namespace cloudsim::gce
