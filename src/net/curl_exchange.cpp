// SPDX-License-Identifier: Apache-2.0
// The event loop of one send(): starts calls, waits, retries, until every call has ended.
#include "net/curl_exchange.h"

#include <algorithm>
#include <iterator>
#include <new>

#include <fmt/format.h>

#include "burst/error.h"
#include "net/retry_delay.h"

namespace burst::net {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kSpareTransfers = 8;
constexpr int kTooManyRequests = 429;

RetryVerdict judge_by_status(const HttpResponse& response) {
  static constexpr int kServerError = 500;
  return {response.status == 0 || response.status == kTooManyRequests || response.status >= kServerError, {}};
}

std::string summary(const HttpCall& call, const HttpResponse& response) {
  if (response.status == 0) return response.transport_error;
  return fmt::format("{} answered with status {}", peer_of(call.request.url), response.status);
}

}  // namespace

CurlEngine::CurlEngine() : shared(curl_share_init()), multi(curl_multi_init()) {
  if (!shared || !multi) throw std::bad_alloc();
  curl_share_setopt(shared.get(), CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

CurlExchange::CurlExchange(const ExchangeContext& context, CurlEngine& engine, const NetworkSettings& network,
                           std::vector<HttpCall> calls)
    : context_(context), engine_(engine), network_(network), responses_(calls.size()), open_(calls.size()) {
  tasks_.reserve(calls.size());
  for (auto& call : calls) {
    tasks_.push_back({std::move(call)});
    enqueue(tasks_.size() - 1);
  }
  curl_multi_setopt(engine_.multi.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(context_.settings.in_flight));
}

CurlExchange::~CurlExchange() {
  for (const auto& transfer : running_) curl_multi_remove_handle(engine_.multi.get(), transfer->handle());
}

std::vector<HttpResponse> CurlExchange::run() {
  while (true) {
    wake_delayed();
    start_calls();
    int still_running = 0;
    if (!running_.empty()) {
      const auto result = curl_multi_perform(engine_.multi.get(), &still_running);
      if (result != CURLM_OK) throw Error("NetworkError", fmt::format("libcurl: {}", curl_multi_strerror(result)));
    }
    const auto open_before = open_;
    collect();
    if (open_ == 0) return std::move(responses_);
    if (open_ == open_before) wait();
  }
}

void CurlExchange::enqueue(std::size_t index) {
  const auto& limit = tasks_[index].call.limit;
  auto& queue = queues_[limit.key];
  queue.ready.insert(index);
  if (!limit.key.empty()) queue.at_once = limit.at_once;
}

void CurlExchange::wake_delayed() {
  if (delayed_.empty()) return;
  const auto now = context_.clock.steady_now();
  while (!delayed_.empty() && delayed_.top().first <= now) {
    enqueue(delayed_.top().second);
    delayed_.pop();
  }
}

/// The queue whose first call is the earliest in the caller's order, of those that may start one now.
CurlExchange::Queue* CurlExchange::next_queue(TimePoint now) {
  Queue* earliest = nullptr;
  for (auto& [key, queue] : queues_) {
    if (!queue.may_start(now)) continue;
    if (earliest == nullptr || *queue.ready.begin() < *earliest->ready.begin()) earliest = &queue;
  }
  return earliest;
}

void CurlExchange::start_calls() {
  const auto most = static_cast<std::size_t>(std::max(1, context_.settings.in_flight));
  while (running_.size() < most) {
    const auto now = context_.clock.steady_now();
    auto* queue = next_queue(now);
    if (queue == nullptr) return;
    const auto index = *queue->ready.begin();
    if (now >= context_.settings.deadline) {
      end_unsent(*queue);
      continue;
    }
    if (end_unwanted(index)) {
      queue->ready.erase(index);
      continue;
    }
    const auto& limit = tasks_[index].call.limit;
    const auto delay = limit.has_rate() ? context_.buckets.take(limit, now) : TokenBuckets::Duration::zero();
    if (delay > TokenBuckets::Duration::zero()) {
      // Compared as a difference: adding an endless delay to a time would overflow.
      if (delay >= context_.settings.deadline - now) {
        end_unsent(*queue);
      } else {
        queue->not_before = now + delay;
      }
      continue;
    }
    queue->ready.erase(queue->ready.begin());
    start(index);
    ++queue->running;
  }
}

bool CurlExchange::end_unwanted(std::size_t index) {
  const auto& call = tasks_[index].call;
  if (!call.wanted || call.wanted()) return false;
  auto& response = responses_[index];
  if (response.status == 0 && response.transport_error.empty()) {
    response.transport_error = fmt::format("not sent to {}: not wanted any more", peer_of(call.request.url));
  }
  end(index, std::move(response));
  return true;
}

void CurlExchange::end_unsent(Queue& queue) {
  for (const auto index : std::exchange(queue.ready, {})) {
    auto& response = responses_[index];
    // A call that was answered and asked to try again ends with that answer.
    if (response.status == 0 && response.transport_error.empty()) {
      response.transport_error =
          fmt::format("not sent to {}: the program's time was over", peer_of(tasks_[index].call.request.url));
    }
    response.deadline_passed = true;
    end(index, std::move(response));
  }
}

void CurlExchange::start(std::size_t index) {
  auto& task = tasks_[index];
  if (task.call.sign) task.call.sign(task.call.request);
  const auto left = std::chrono::ceil<milliseconds>(context_.settings.deadline - context_.clock.steady_now());
  task.cut_short = left < task.call.timeout;
  const auto timeout = std::max(milliseconds(1), std::min(left, task.call.timeout));

  std::unique_ptr<CurlTransfer> transfer;
  if (engine_.spare.empty()) {
    transfer = std::make_unique<CurlTransfer>();
  } else {
    transfer = std::move(engine_.spare.back());
    engine_.spare.pop_back();
  }
  transfer->task = index;
  transfer->begin(task.call, network_, context_.settings.user_agent, timeout, engine_.shared.get());
  const auto result = curl_multi_add_handle(engine_.multi.get(), transfer->handle());
  if (result != CURLM_OK) throw Error("NetworkError", fmt::format("libcurl: {}", curl_multi_strerror(result)));
  running_.push_back(std::move(transfer));
}

void CurlExchange::collect() {
  int queued = 0;
  while (const auto* message = curl_multi_info_read(engine_.multi.get(), &queued)) {
    if (message->msg != CURLMSG_DONE) continue;
    const auto code = message->data.result;  // the message does not outlive the handle's removal
    auto& transfer = CurlTransfer::from(message->easy_handle);
    const auto index = transfer.task;
    auto result = transfer.end(code);
    curl_multi_remove_handle(engine_.multi.get(), transfer.handle());
    const auto slot = std::ranges::find(running_, &transfer, &std::unique_ptr<CurlTransfer>::get);
    auto owned = std::exchange(*slot, std::move(running_.back()));
    running_.pop_back();
    // A handle whose host was not resolved keeps its buffer, and libcurl 7.88 then refuses CURLOPT_BUFFERSIZE.
    if (code == CURLE_OK && engine_.spare.size() < kSpareTransfers) engine_.spare.push_back(std::move(owned));
    owned.reset();
    --queues_[tasks_[index].call.limit.key].running;
    finish(index, std::move(result));
  }
}

void CurlExchange::finish(std::size_t index, AttemptResult result) {
  auto& task = tasks_[index];
  auto& response = result.response;
  if (result.timed_out && task.cut_short) {
    response.deadline_passed = true;
    return end(index, std::move(response));
  }
  const auto verdict = task.call.judge ? task.call.judge(response) : judge_by_status(response);
  const auto now = context_.clock.steady_now();
  if (verdict.throttled && task.throttles == 0) task.throttled_since = now;
  ++(verdict.throttled ? task.throttles : task.faults);
  if (!verdict.retry || result.permanent || task.faults >= task.call.max_attempts) {
    return end(index, std::move(response));
  }
  std::optional<milliseconds> retry_after;
  if (const auto header = response.header("Retry-After")) {
    retry_after = parse_retry_after(*header, std::chrono::floor<std::chrono::seconds>(context_.clock.now()));
  }
  const int tries = verdict.throttled ? task.throttles : task.faults;
  const auto delay = retry_delay(tries, verdict, retry_after, context_.random);
  const auto& settings = context_.settings;
  const bool impatient = verdict.throttled && delay >= settings.throttle_patience - (now - task.throttled_since);
  if (impatient || delay >= settings.deadline - now) {
    response.deadline_passed = true;
    return end(index, std::move(response));
  }
  if (context_.log.enabled(LogLevel::debug)) {
    const auto what = verdict.throttled ? fmt::format("put off for the {}. time", task.throttles)
                                        : fmt::format("attempt {} of {} failed", task.faults, task.call.max_attempts);
    context_.log.debug(fmt::format("{}: {}, the next one in {} ms", summary(task.call, response), what, delay.count()));
  }
  if (response.status == kTooManyRequests && retry_after && task.call.limit.at_once > 0) {
    auto& queue = queues_[task.call.limit.key];
    queue.not_before = std::max(queue.not_before, now + *retry_after);
  }
  responses_[index] = std::move(response);
  delayed_.emplace(now + delay, index);
}

void CurlExchange::end(std::size_t index, HttpResponse response) {
  responses_[index] = std::move(response);
  tasks_[index].call = {};  // frees the body and what its functions hold
  --open_;
}

void CurlExchange::wait() {
  static constexpr milliseconds kLongest{60'000};
  const auto now = context_.clock.steady_now();
  auto next = now + kLongest;
  if (!delayed_.empty()) next = std::min(next, delayed_.top().first);
  const auto most = static_cast<std::size_t>(std::max(1, context_.settings.in_flight));
  if (running_.size() < most) {
    for (const auto& [key, queue] : queues_) {
      if (!queue.ready.empty() && queue.has_room()) next = std::min(next, queue.not_before);
    }
  }
  const auto duration = std::max(milliseconds(0), std::chrono::ceil<milliseconds>(next - now));
  if (running_.empty()) {
    context_.clock.sleep_for(duration);
    return;
  }
  const auto result = curl_multi_poll(engine_.multi.get(), nullptr, 0, static_cast<int>(duration.count()), nullptr);
  if (result != CURLM_OK) throw Error("NetworkError", fmt::format("libcurl: {}", curl_multi_strerror(result)));
}

}  // namespace burst::net
