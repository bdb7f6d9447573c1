// SPDX-License-Identifier: Apache-2.0
// Which calls came and how they ended.
#include "call_log.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace cloudsim {

namespace {

constexpr std::size_t kMaxKept = 200'000;

}  // namespace

std::function<void()> CallLog::begin(const std::string& action) {
  auto& counts = state_->actions[action];
  ++counts.attempts;
  counts.peak = std::max(counts.peak, ++counts.under_way);
  state_->peak = std::max(state_->peak, ++state_->under_way);
  return [state = state_, action] {
    --state->actions[action].under_way;
    --state->under_way;
  };
}

void CallLog::record(CallRecord call, bool keep) {
  auto& counts = state_->actions[call.action];
  if (call.code.empty()) {
    ++counts.ok;
  } else {
    ++counts.errors[call.code];
  }
  if (!keep) {
    return;
  }
  if (calls_.size() == kMaxKept) {
    calls_.pop_front();
  }
  calls_.push_back(std::move(call));
}

nlohmann::json CallLog::summary() const {
  auto actions = nlohmann::json::object();
  for (const auto& [action, counts] : state_->actions) {
    actions[action] = {
        {"attempts", counts.attempts}, {"ok", counts.ok}, {"errors", counts.errors}, {"peak_concurrency", counts.peak}};
  }
  return {{"actions", actions}, {"peak_concurrency", state_->peak}};
}

nlohmann::json CallLog::sequence() const {
  auto out = nlohmann::json::array();
  for (const auto& call : calls_) {
    out.push_back({{"action", call.action},
                   {"region", call.region},
                   {"time", call.started},
                   {"status", call.status},
                   {"code", call.code},
                   {"parameters", call.parameters}});
  }
  return out;
}

void CallLog::clear() {
  state_ = std::make_shared<State>();
  calls_.clear();
}

}  // namespace cloudsim
