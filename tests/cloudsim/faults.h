// SPDX-License-Identifier: Apache-2.0
// What is to go wrong: rules that a test sets, each for an action, so many times, with a probability.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "http_message.h"

namespace cloudsim {

using CallParameters = std::map<std::string, std::string>;

enum class FaultKind {
  throttle,            ///< the provider's own answer to too many requests
  error,               ///< `code`, `message`, `status`
  drop_before,         ///< connection closed, nothing done
  drop_after,          ///< connection closed after the request took effect
  cut,                 ///< took effect, half of the reply
  garbage,             ///< took effect, bytes that are no reply of this provider
  wrong_content_type,  ///< took effect, the right body as text/html
  slow,                ///< took effect, nothing comes for `ms`
  dribble,             ///< took effect, the reply comes in pieces over `ms`
  fleet_error,         ///< EC2: a 200 CreateFleet with `code` in its errorSet and `delivered` instances
  missing_field,       ///< `field` is left out of each instance of the reply
  operation_error,     ///< GCE: a 200 whose operation ends with `code`, `message`; nothing was done
};

struct Fault {
  std::uint64_t id = 0;
  std::string action;  ///< `*`: any
  FaultKind kind = FaultKind::error;
  std::string kind_name;
  std::int64_t count = 1;  ///< times left; negative: for ever
  std::int64_t skip = 0;   ///< matching calls that are let through first
  double probability = 1;
  std::map<std::string, std::string> match;  ///< only calls with these parameters
  int status = 0;                            ///< 0: the provider's usual one
  std::string code;
  std::string message;
  std::string field;
  Millis ms{0};
  std::int64_t delivered = 0;
  std::int64_t bytes = 0;  ///< garbage: how many; 0: a few
  /// From then on it strikes no more. The time of day, so that a test that moves it ends its faults too.
  std::optional<std::chrono::system_clock::time_point> end;
};

class Faults {
 public:
  explicit Faults(std::uint32_t seed) : random_(seed) {}
  /// Throws std::invalid_argument that says what is wrong. Returns the rule's id.
  std::uint64_t add(const nlohmann::json& rule);
  void clear() { rules_.clear(); }
  nlohmann::json list() const;
  /// The first rule that strikes this call, counted down.
  std::optional<Fault> take(const std::string& action, const CallParameters& parameters);

 private:
  std::mt19937 random_;
  std::uint64_t last_id_ = 0;
  std::vector<Fault> rules_;
};

/// True when the fault replaces the call: it must have no effect.
bool strikes_before_effect(FaultKind kind);
/// Changes how the reply of a call that took effect arrives. Kinds that a provider renders itself leave it as it is.
void apply_to_reply(const Fault& fault, HttpReply& reply);

}  // namespace cloudsim
