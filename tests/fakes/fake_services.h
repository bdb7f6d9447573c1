// SPDX-License-Identifier: Apache-2.0
// The outside world as tests set it: one FakeServices a test.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "burst/error.h"
#include "burst/services.h"

namespace burst {

/// Time stands still until someone sleeps or the test moves it, in any thread. The members are for a test whose other
/// threads have ended.
class FakeClock : public Clock {
 public:
  std::chrono::sys_time<std::chrono::milliseconds> wall{std::chrono::seconds{1'780'000'000}};
  std::chrono::steady_clock::time_point steady{std::chrono::hours{1}};
  std::vector<std::chrono::milliseconds> sleeps;

  std::chrono::sys_time<std::chrono::milliseconds> now() const override {
    const std::lock_guard lock(mutex_);
    return wall;
  }
  std::chrono::steady_clock::time_point steady_now() const override {
    const std::lock_guard lock(mutex_);
    return steady;
  }
  void sleep_for(std::chrono::milliseconds duration) override {
    const std::lock_guard lock(mutex_);
    sleeps.push_back(duration);
    move(duration);
  }
  void advance(std::chrono::milliseconds duration) {
    const std::lock_guard lock(mutex_);
    move(duration);
  }

 private:
  void move(std::chrono::milliseconds duration) {
    wall += duration;
    steady += duration;
  }

  mutable std::mutex mutex_;
};

class FakeEnvironment : public Environment {
 public:
  std::map<std::string, std::string, std::less<>> variables;
  std::optional<std::string> get(std::string_view name) const override {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
};

class FakeFiles : public Files {
 public:
  std::map<std::string, std::string> content;
  std::set<std::string> unreadable, unwritable;
  std::optional<std::string> read(const std::string& path) const override {
    if (unreadable.contains(path)) throw Error("FileError", "reading \"" + path + "\": permission denied");
    const auto found = content.find(path);
    return found == content.end() ? std::nullopt : std::optional(found->second);
  }
  void write(const std::string& path, std::string_view text, unsigned) override {
    if (unwritable.contains(path)) throw Error("FileError", "writing \"" + path + "\": permission denied");
    content[path] = text;
  }
  void remove(const std::string& path) override { content.erase(path); }
};

class FakeLog : public Log {
 public:
  std::vector<std::pair<LogLevel, std::string>> lines;
  void write(LogLevel level, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    lines.emplace_back(level, message);
  }
  bool enabled(LogLevel) const override { return true; }
  /// All lines joined, for substring checks.
  std::string text() const {
    std::string all;
    for (const auto& [level, line] : lines) all += line + "\n";
    return all;
  }

 private:
  std::mutex mutex_;
};

/// Runs `handler` instead of a program and keeps what was asked.
class FakeProcesses : public Processes {
 public:
  std::function<ProcessResult(const ProcessRequest&)> handler = [](const ProcessRequest&) { return ProcessResult{}; };
  std::vector<ProcessRequest> requests;
  ProcessResult run(const ProcessRequest& request) override {
    {
      const std::lock_guard lock(mutex_);
      requests.push_back(request);
    }
    return handler(request);
  }

 private:
  std::mutex mutex_;
};

/// Answers each call by `handler`, with the call's own sign and judge, as the real loop does, but without delays.
class FakeHttp : public HttpClient {
 public:
  std::function<HttpResponse(const HttpRequest&)> handler = [](const HttpRequest&) { return HttpResponse{}; };
  std::vector<HttpRequest> requests;
  std::vector<HttpResponse> send(std::vector<HttpCall> calls) override {
    std::vector<HttpResponse> responses;
    for (auto& call : calls) {
      HttpResponse response;
      constexpr int patience = 20;  // throttled attempts: the real client has a deadline
      for (int faults = 0, attempts = 0; faults < call.max_attempts && attempts < patience; ++attempts) {
        if (call.wanted && !call.wanted()) {
          if (attempts == 0) response.transport_error = "not sent: not wanted any more";
          break;
        }
        if (call.sign) call.sign(call.request);
        requests.push_back(call.request);
        response = handler(call.request);
        const auto verdict = call.judge ? call.judge(response) : RetryVerdict{};
        if (!verdict.retry) break;
        if (!verdict.throttled) ++faults;
      }
      responses.push_back(std::move(response));
    }
    return responses;
  }
};

class FakeRandom : public Random {
 public:
  std::uint64_t state = 1;
  std::uint64_t next() override { return state = state * 6364136223846793005ULL + 1442695040888963407ULL; }
};

struct FakeServices {
  FakeClock clock;
  FakeEnvironment environment;
  FakeFiles files;
  FakeHttp http;
  FakeLog log;
  FakeProcesses processes;
  FakeRandom random;
  Services services() { return {clock, environment, files, http, log, processes, random}; }
};

}  // namespace burst
