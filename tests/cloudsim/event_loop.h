// SPDX-License-Identifier: Apache-2.0
// One thread that waits for sockets, timers and signals: everything in cloudsim runs on it, so nothing needs a lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cloudsim {

using Millis = std::chrono::milliseconds;

class EventLoop {
 public:
  using Callback = std::function<void()>;
  using FdCallback = std::function<void(std::uint32_t)>;  ///< gets the epoll events

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// `fd` stays its owner's: forget() it before closing it.
  void watch(int fd, std::uint32_t events, FdCallback callback);
  void change(int fd, std::uint32_t events);
  void forget(int fd);

  /// Runs `callback` once, later (never before after() returns, not even with a delay of zero). What a timer works on
  /// may be gone by then: callbacks look it up by its id.
  void after(Millis delay, Callback callback);

  /// Blocks `signals` for this process and calls `callback` with each one that arrives.
  void on_signals(const std::vector<int>& signals, std::function<void(int)> callback);

  void run();  ///< until stop()
  void stop() { running_ = false; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Watch {
    std::uint32_t generation;
    std::shared_ptr<FdCallback> callback;
  };
  int milliseconds_to_next_timer() const;
  void run_due_timers();
  void dispatch(std::uint64_t key, std::uint32_t events);

  int epoll_ = -1;
  int signals_ = -1;
  bool running_ = false;
  std::uint32_t generation_ = 0;
  std::uint64_t timer_count_ = 0;
  std::unordered_map<int, Watch> watches_;
  std::map<std::pair<Clock::time_point, std::uint64_t>, Callback> timers_;
};

}  // namespace cloudsim
