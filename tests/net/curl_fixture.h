// SPDX-License-Identifier: Apache-2.0
// What the tests of the HTTP client have in common: a client with a real or a fake clock.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "fakes/fake_services.h"
#include "net/curl_http.h"
#include "test_server.h"

namespace burst::net {

/// The client goes before its server does, when it is declared after it.
template <typename ClockType>
struct Client {
  explicit Client(std::chrono::milliseconds time = std::chrono::minutes(1), int in_flight = 128)
      : http(make_curl_http({clock.steady_now() + time, in_flight, "slurm-burst/test"}, clock, random, environment,
                            log)) {}
  ClockType clock;
  FakeRandom random;
  FakeEnvironment environment;
  FakeLog log;
  std::unique_ptr<HttpClient> http;
};

inline HttpCall call_to(std::string url) {
  HttpCall call;
  call.request.url = std::move(url);
  call.timeout = std::chrono::seconds(20);
  return call;
}

}  // namespace burst::net
