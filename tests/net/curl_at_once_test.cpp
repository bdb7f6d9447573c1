// SPDX-License-Identifier: Apache-2.0
// Tests of how many calls are under way at once, and of those that are not wanted any more.
#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curl_fixture.h"

namespace burst::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class CurlAtOnce : public ::testing::Test {
 protected:
  HttpCall limited_call(int at_once) {
    auto call = call_to(server_.url("/"));
    call.limit.key = "kubernetes/server";
    call.limit.at_once = at_once;
    return call;
  }

  TestServer<> server_;
  Client<FakeClock> client_;
};

TEST_F(CurlAtOnce, NoMoreCallsOfALimitAreUnderWayThanItSays) {
  std::atomic<int> running = 0, most = 0;
  server_.server.Get("/", [&](const httplib::Request&, httplib::Response&) {
    const int now = ++running;
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(milliseconds(5));  // the time that an answer takes
    --running;
  });
  server_.start();
  for (const auto& response : client_.http->send(std::vector<HttpCall>(60, limited_call(4))))
    EXPECT_EQ(response.status, 200);
  EXPECT_EQ(server_.requests(), 60);
  EXPECT_LE(most, 4);
  EXPECT_GE(most, 2) << "they went one by one";
}

TEST_F(CurlAtOnce, WhoIsToldToComeLaterHoldsTheOthersBack) {
  std::atomic<int> turn = 0;
  std::vector<std::chrono::steady_clock::time_point> times;
  server_.server.Get("/", [&](const httplib::Request&, httplib::Response& response) {
    times.push_back(client_.clock.steady_now());  // one at a time
    if (turn++ > 0) return;
    response.status = 429;
    response.set_header("Retry-After", "7");
  });
  server_.start();
  const auto begin = client_.clock.steady_now();
  for (const auto& response : client_.http->send(std::vector<HttpCall>(3, limited_call(1))))
    EXPECT_EQ(response.status, 200);
  EXPECT_EQ(server_.requests(), 4);
  ASSERT_EQ(times.size(), 4U);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - begin, seconds(7));
}

TEST_F(CurlAtOnce, ACallThatIsNotWantedAnyMoreIsNotSent) {
  server_.server.Get("/", [](const httplib::Request&, httplib::Response& response) { response.status = 403; });
  server_.start();
  bool refused = false;
  auto call = limited_call(1);
  call.wanted = [&] { return !refused; };
  call.judge = [&](const HttpResponse&) {
    refused = true;
    return RetryVerdict{};
  };
  const auto responses = client_.http->send(std::vector<HttpCall>(3, call));
  EXPECT_EQ(responses[0].status, 403);
  for (std::size_t i = 1; i < responses.size(); ++i) {
    EXPECT_EQ(responses[i].status, 0);
    EXPECT_FALSE(responses[i].deadline_passed);
    EXPECT_THAT(responses[i].transport_error, HasSubstr("not sent to 127.0.0.1:"));
  }
  EXPECT_EQ(server_.requests(), 1);
}

TEST_F(CurlAtOnce, ACallThatIsNotWantedAgainKeepsItsReply) {
  server_.server.Get("/", [](const httplib::Request&, httplib::Response& response) { response.status = 503; });
  server_.start();
  int asked = 0;
  auto call = limited_call(1);
  call.wanted = [&] { return ++asked == 1; };
  EXPECT_EQ(client_.http->send_one(call).status, 503);
  EXPECT_EQ(server_.requests(), 1);
}

}  // namespace
}  // namespace burst::net
