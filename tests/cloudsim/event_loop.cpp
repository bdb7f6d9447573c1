// SPDX-License-Identifier: Apache-2.0
// One thread over epoll, a sorted list of timers and a signalfd.
#include "event_loop.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace cloudsim {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// The generation tells an event of a closed descriptor from one of its successor with the same number.
std::uint64_t key_of(int fd, std::uint32_t generation) {
  return (static_cast<std::uint64_t>(generation) << 32U) | static_cast<std::uint32_t>(fd);
}

}  // namespace

EventLoop::EventLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) {
    fail("epoll_create1");
  }
}

EventLoop::~EventLoop() {
  if (signals_ >= 0) {
    close(signals_);
  }
  close(epoll_);
}

void EventLoop::watch(int fd, std::uint32_t events, FdCallback callback) {
  const std::uint32_t generation = ++generation_;
  epoll_event event{};
  event.events = events;
  event.data.u64 = key_of(fd, generation);
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    fail("epoll_ctl");
  }
  watches_[fd] = {generation, std::make_shared<FdCallback>(std::move(callback))};
}

void EventLoop::change(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key_of(fd, watches_.at(fd).generation);
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) != 0) {
    fail("epoll_ctl");
  }
}

void EventLoop::forget(int fd) {
  watches_.erase(fd);
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::after(Millis delay, Callback callback) {
  timers_.emplace(std::pair{Clock::now() + delay, ++timer_count_}, std::move(callback));
}

void EventLoop::on_signals(const std::vector<int>& signals, std::function<void(int)> callback) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) {
    sigaddset(&set, signal);
  }
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) {
    fail("signalfd");
  }
  watch(signals_, EPOLLIN, [this, callback = std::move(callback)](std::uint32_t) {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      callback(static_cast<int>(info.ssi_signo));
    }
  });
}

int EventLoop::milliseconds_to_next_timer() const {
  if (timers_.empty()) {
    return -1;
  }
  const auto left = std::chrono::ceil<Millis>(timers_.begin()->first.first - Clock::now()).count();
  return static_cast<int>(std::clamp<Millis::rep>(left, 0, 60'000));
}

void EventLoop::run_due_timers() {
  // Timers set by these callbacks wait for the next turn, so that a chain of zero delays can't starve the sockets.
  const std::uint64_t last = timer_count_;
  const auto now = Clock::now();
  for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now;) {
    if (it->first.second > last) {
      ++it;
      continue;
    }
    const Callback callback = std::move(it->second);
    const auto key = it->first;
    timers_.erase(it);
    callback();
    it = timers_.upper_bound(key);
  }
}

void EventLoop::dispatch(std::uint64_t key, std::uint32_t events) {
  const auto found = watches_.find(static_cast<int>(key & 0xffffffffU));
  if (found == watches_.end() || found->second.generation != static_cast<std::uint32_t>(key >> 32U)) {
    return;
  }
  const auto callback = found->second.callback;  // keeps it alive when it forgets itself
  (*callback)(events);
}

void EventLoop::run() {
  running_ = true;
  std::array<epoll_event, 128> events{};
  while (running_) {
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), milliseconds_to_next_timer());
    if (count < 0 && errno != EINTR) {
      fail("epoll_wait");
    }
    for (int i = 0; i < count; ++i) {
      const auto& event = events.at(static_cast<std::size_t>(i));
      dispatch(event.data.u64, event.events);
    }
    run_due_timers();
  }
}

}  // namespace cloudsim
