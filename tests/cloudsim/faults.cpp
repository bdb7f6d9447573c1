// SPDX-License-Identifier: Apache-2.0
// What is to go wrong.
#include "faults.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace cloudsim {

namespace {

constexpr std::array<std::pair<std::string_view, FaultKind>, 12> kKinds{{
    {"throttle", FaultKind::throttle},
    {"error", FaultKind::error},
    {"drop_before", FaultKind::drop_before},
    {"drop_after", FaultKind::drop_after},
    {"cut", FaultKind::cut},
    {"garbage", FaultKind::garbage},
    {"wrong_content_type", FaultKind::wrong_content_type},
    {"slow", FaultKind::slow},
    {"dribble", FaultKind::dribble},
    {"fleet_error", FaultKind::fleet_error},
    {"missing_field", FaultKind::missing_field},
    {"operation_error", FaultKind::operation_error},
}};

FaultKind kind_of(std::string_view name) {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == kKinds.end()) {
    throw std::invalid_argument("unknown fault kind \"" + std::string(name) + "\"");
  }
  return found->second;
}

void refuse_unknown_keys(const nlohmann::json& rule) {
  static constexpr std::array kKeys{"action",  "kind", "count", "skip",  "probability", "match", "status",
                                    "message", "code", "ms",    "field", "delivered",   "bytes", "seconds"};
  for (const auto& [key, value] : rule.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      throw std::invalid_argument("unknown key \"" + key + "\" in a fault");
    }
  }
}

bool matches(const Fault& rule, const std::string& action, const CallParameters& parameters) {
  if (rule.action != "*" && rule.action != action) {
    return false;
  }
  return std::all_of(rule.match.begin(), rule.match.end(), [&](const auto& wanted) {
    const auto found = parameters.find(wanted.first);
    return found != parameters.end() && found->second == wanted.second;
  });
}

/// No reply of any provider; repeated until it has so many bytes.
std::string garbage(std::int64_t bytes) {
  constexpr std::string_view kText = "<\x01\xff not what it should be ]]>&&";
  std::string all(kText);
  while (static_cast<std::int64_t>(all.size()) < bytes) {
    all += kText;
  }
  return all;
}

}  // namespace

std::uint64_t Faults::add(const nlohmann::json& rule) {
  if (!rule.is_object()) {
    throw std::invalid_argument("a fault is an object");
  }
  refuse_unknown_keys(rule);
  Fault fault;
  fault.id = ++last_id_;
  fault.action = rule.value("action", "*");
  fault.kind_name = rule.value("kind", "error");
  fault.kind = kind_of(fault.kind_name);
  fault.count = rule.value("count", std::int64_t{1});
  fault.skip = rule.value("skip", std::int64_t{0});
  fault.probability = rule.value("probability", 1.0);
  fault.match = rule.value("match", std::map<std::string, std::string>{});
  fault.status = rule.value("status", 0);
  fault.code = rule.value("code", "InternalError");
  fault.message = rule.value("message", "An internal error has occurred");
  fault.field = rule.value("field", "");
  fault.ms = Millis{rule.value("ms", std::int64_t{0})};
  fault.delivered = rule.value("delivered", std::int64_t{0});
  fault.bytes = rule.value("bytes", std::int64_t{0});
  if (rule.contains("seconds")) {
    fault.end = std::chrono::system_clock::now() + std::chrono::seconds{rule.at("seconds").get<std::int64_t>()};
  }
  rules_.push_back(fault);
  return fault.id;
}

nlohmann::json Faults::list() const {
  auto out = nlohmann::json::array();
  for (const auto& rule : rules_) {
    out.push_back({{"id", rule.id}, {"action", rule.action}, {"kind", rule.kind_name}, {"count", rule.count}});
  }
  return out;
}

std::optional<Fault> Faults::take(const std::string& action, const CallParameters& parameters) {
  const auto now = std::chrono::system_clock::now();
  std::erase_if(rules_, [&](const Fault& rule) { return rule.end && *rule.end <= now; });
  for (auto rule = rules_.begin(); rule != rules_.end(); ++rule) {
    if (!matches(*rule, action, parameters)) {
      continue;
    }
    if (rule->skip > 0) {
      --rule->skip;
      continue;
    }
    if (rule->probability < 1 && std::uniform_real_distribution<double>(0, 1)(random_) >= rule->probability) {
      continue;
    }
    Fault fault = *rule;
    if (rule->count > 0 && --rule->count == 0) {
      rules_.erase(rule);
    }
    return fault;
  }
  return std::nullopt;
}

bool strikes_before_effect(FaultKind kind) {
  return kind == FaultKind::throttle || kind == FaultKind::error || kind == FaultKind::drop_before;
}

void apply_to_reply(const Fault& fault, HttpReply& reply) {
  switch (fault.kind) {
    case FaultKind::drop_before:
    case FaultKind::drop_after:
      reply.delivery = Delivery::drop;
      break;
    case FaultKind::cut:
      reply.delivery = Delivery::cut;
      break;
    case FaultKind::garbage:
      reply.body = garbage(fault.bytes);
      break;
    case FaultKind::wrong_content_type:
      reply.content_type = "text/html";
      break;
    case FaultKind::slow:
      reply.delay += fault.ms;
      break;
    case FaultKind::dribble:
      reply.delivery = Delivery::dribble;
      reply.dribble_over = fault.ms;
      break;
    default:
      break;
  }
}

}  // namespace cloudsim
