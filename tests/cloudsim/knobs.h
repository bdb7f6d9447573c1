// SPDX-License-Identifier: Apache-2.0
// Settings that a test turns, at the start (configuration file) or in between (control API): those of every cloud.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "event_loop.h"
#include "token_bucket.h"

namespace cloudsim {

struct Knobs {
  std::map<std::string, Millis> latency;  ///< by action; `*` for the others
  Millis boot{0};                         ///< from the launch until a machine runs
  Millis terminate{0};                    ///< from the request until a machine is gone
  std::int64_t unbootable = 0;            ///< so many of the next machines run nothing; negative: all
  bool throttling = true;
  std::map<std::string, TokenBucket::Size> buckets;  ///< in place of the published ones

  Millis latency_of(const std::string& action) const;
};

/// Takes over one key of a configuration object. False: not one of these. Throws std::invalid_argument or
/// nlohmann::json::exception for a value that does not fit.
bool set_knob(Knobs& knobs, const std::string& key, const nlohmann::json& value);

}  // namespace cloudsim
