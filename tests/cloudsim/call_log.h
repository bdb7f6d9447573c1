// SPDX-License-Identifier: Apache-2.0
// Which calls came, how they ended, and how many were under way at once.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "faults.h"

namespace cloudsim {

struct CallRecord {
  std::string action;
  std::string region;
  CallParameters parameters;  ///< without secrets: the caller leaves them out
  double started = 0;         ///< seconds since the epoch
  int status = 0;
  std::string code;  ///< of an error or a fault; empty: ok
};

class CallLog {
 public:
  /// Counts a call as under way. The returned function says that it is over (its client has the reply, or is gone).
  std::function<void()> begin(const std::string& action);
  /// Says how the call ended. Calls that polls repeat endlessly (metadata) are counted but not kept in the sequence.
  void record(CallRecord call, bool keep);
  nlohmann::json summary() const;
  nlohmann::json sequence() const;
  void clear();

 private:
  struct Counts {
    std::uint64_t attempts = 0, ok = 0, under_way = 0, peak = 0;
    std::map<std::string, std::uint64_t> errors;
  };
  struct State {
    std::map<std::string, Counts> actions;
    std::uint64_t under_way = 0, peak = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();  ///< outlived by replies still on their way
  std::deque<CallRecord> calls_;
};

}  // namespace cloudsim
