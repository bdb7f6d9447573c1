// SPDX-License-Identifier: Apache-2.0
// The event loop of one send(): starts calls, waits, retries, until every call has ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <curl/curl.h>

#include "burst/clock.h"
#include "burst/log.h"
#include "burst/random.h"
#include "net/curl_http.h"
#include "net/curl_transfer.h"
#include "net/token_bucket.h"

namespace burst::net {

/// A multi handle with its live connections, used by one send() at a time.
struct CurlEngine {
  CurlEngine();
  CurlShare shared;  ///< TLS sessions; outlives the easy handles
  CurlMulti multi;
  std::vector<std::unique_ptr<CurlTransfer>> spare;  ///< a few, for the next request
};

/// What all send() calls of a client have in common.
struct ExchangeContext {
  const CurlHttpSettings& settings;
  Clock& clock;
  Random& random;
  Log& log;
  TokenBuckets& buckets;
};

/// Runs on the calling thread. Destroying it (an Error of a `sign` did) ends what is still under way.
class CurlExchange {
 public:
  CurlExchange(const ExchangeContext& context, CurlEngine& engine, const NetworkSettings& network,
               std::vector<HttpCall> calls);
  ~CurlExchange();
  CurlExchange(const CurlExchange&) = delete;
  CurlExchange& operator=(const CurlExchange&) = delete;

  std::vector<HttpResponse> run();

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Task {
    HttpCall call;
    int faults = 0, throttles = 0;  ///< attempts that failed, and that were put off
    TimePoint throttled_since{};
    bool cut_short = false;  ///< the running attempt has less time than the call allows
  };
  /// The calls of one token bucket that may start as soon as it gives a token, lowest index first.
  struct Queue {
    std::set<std::size_t> ready;
    TimePoint not_before;
    int running = 0, at_once = 0;  ///< at_once: 0 for no limit

    bool may_start(TimePoint now) const { return !ready.empty() && not_before <= now && has_room(); }
    bool has_room() const { return at_once == 0 || running < at_once; }
  };
  using Delayed = std::pair<TimePoint, std::size_t>;

  void enqueue(std::size_t index);
  void wake_delayed();
  void start_calls();
  Queue* next_queue(TimePoint now);
  void start(std::size_t index);
  bool end_unwanted(std::size_t index);
  void collect();
  void finish(std::size_t index, AttemptResult result);
  void end(std::size_t index, HttpResponse response);
  void end_unsent(Queue& queue);
  void wait();

  ExchangeContext context_;
  CurlEngine& engine_;
  const NetworkSettings& network_;
  std::vector<Task> tasks_;
  std::vector<HttpResponse> responses_;
  std::map<std::string, Queue, std::less<>> queues_;  ///< by the key of the limit
  std::priority_queue<Delayed, std::vector<Delayed>, std::greater<>> delayed_;
  std::vector<std::unique_ptr<CurlTransfer>> running_;
  std::size_t open_ = 0;
};

}  // namespace burst::net
