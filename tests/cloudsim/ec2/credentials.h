// SPDX-License-Identifier: Apache-2.0
// Whose keys are good: the configured ones, and the temporary ones that the simulation gave out itself.
#pragma once

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>

#include "ec2/ec2_knobs.h"
#include "http_message.h"

namespace cloudsim::ec2 {

using WallTime = std::chrono::system_clock::time_point;

struct TemporaryKey {
  std::string access_key_id, secret_access_key, session_token, arn, user_id;
  WallTime expires{};
};

/// Who signed a request, and for what.
struct Caller {
  std::string access_key_id, arn, user_id, region, service;
};

class Credentials {
 public:
  Credentials(const Ec2Knobs& knobs, std::mt19937_64& random) : knobs_(&knobs), random_(&random) {}

  /// Throws ApiError with the code of the service that the signature names.
  Caller verify(const HttpRequest& request, WallTime now) const;
  const TemporaryKey& issue(const std::string& arn, const std::string& user_id, Millis lifetime, WallTime now);
  /// With its secret, long-term or temporary; nothing: unknown.
  std::optional<TemporaryKey> find(const std::string& access_key_id) const;
  void expire_all(WallTime now);  ///< every temporary key, at once
  void clear() { temporary_.clear(); }

 private:
  const Ec2Knobs* knobs_;
  std::mt19937_64* random_;
  std::unordered_map<std::string, TemporaryKey> temporary_;
};

std::string iso_time(WallTime time, bool with_milliseconds = false);

}  // namespace cloudsim::ec2
