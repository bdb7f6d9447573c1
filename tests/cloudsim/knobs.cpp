// SPDX-License-Identifier: Apache-2.0
// Settings that a test turns.
#include "knobs.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

namespace cloudsim {

namespace {

Millis millis(const nlohmann::json& value) { return Millis{value.get<std::int64_t>()}; }

std::map<std::string, Millis> latency_from(const nlohmann::json& value) {
  if (value.is_number()) {
    return {{"*", millis(value)}};
  }
  std::map<std::string, Millis> out;
  for (const auto& [action, ms] : value.items()) {
    out[action] = millis(ms);
  }
  return out;
}

std::map<std::string, TokenBucket::Size> buckets_from(const nlohmann::json& value) {
  std::map<std::string, TokenBucket::Size> out;
  for (const auto& [name, size] : value.items()) {
    out[name] = {size.at("capacity").get<double>(), size.at("refill").get<double>()};
  }
  return out;
}

}  // namespace

Millis Knobs::latency_of(const std::string& action) const {
  auto found = latency.find(action);
  if (found == latency.end()) {
    found = latency.find("*");
  }
  return found == latency.end() ? Millis{0} : found->second;
}

bool set_knob(Knobs& knobs, const std::string& key, const nlohmann::json& value) {
  if (key == "latency_ms") {
    knobs.latency = latency_from(value);
  } else if (key == "boot_ms") {
    knobs.boot = millis(value);
  } else if (key == "terminate_ms") {
    knobs.terminate = millis(value);
  } else if (key == "unbootable") {
    knobs.unbootable = value.is_boolean() ? (value.get<bool>() ? -1 : 0) : value.get<std::int64_t>();
  } else if (key == "throttling") {
    knobs.throttling = value.get<bool>();
  } else if (key == "buckets") {
    knobs.buckets = buckets_from(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace cloudsim
