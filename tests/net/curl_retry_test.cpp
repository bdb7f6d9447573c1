// SPDX-License-Identifier: Apache-2.0
// Tests of the retry loop, the deadline and the rate limits; time is fake wherever nothing is on the wire.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curl_fixture.h"

namespace burst::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

milliseconds total(const std::vector<milliseconds>& sleeps) {
  return std::accumulate(sleeps.begin(), sleeps.end(), milliseconds(0));
}

/// Answers with these statuses in turn, then with 200.
struct Script {
  std::vector<int> statuses;
  httplib::Headers headers;
  std::atomic<std::size_t> next = 0;
  void operator()(httplib::Response& response) {
    const auto turn = next++;
    response.status = turn < statuses.size() ? statuses[turn] : 200;
    response.headers = headers;
  }
};

class CurlRetry : public ::testing::Test {
 protected:
  void serve(std::vector<int> statuses, httplib::Headers headers = {}) {
    script_.statuses = std::move(statuses);
    script_.headers = std::move(headers);
    server_.server.Get("/", [this](const httplib::Request&, httplib::Response& response) { script_(response); });
    server_.start();
  }

  Script script_;
  TestServer<> server_;
  Client<FakeClock> client_;
};

TEST_F(CurlRetry, TriesAgainOnThrottlingAndServerErrors) {
  serve({429, 503, 500});
  int signed_attempts = 0;
  auto call = call_to(server_.url("/"));
  call.sign = [&](HttpRequest&) { ++signed_attempts; };
  EXPECT_EQ(client_.http->send_one(call).status, 200);
  EXPECT_EQ(server_.requests(), 4);
  EXPECT_EQ(signed_attempts, 4);
  EXPECT_LE(total(client_.clock.sleeps), milliseconds(100 + 200 + 400));
  EXPECT_THAT(client_.log.text(), HasSubstr("answered with status 429: attempt 1 of 8 failed, the next one in "));
}

TEST_F(CurlRetry, LeavesOtherStatusesAsTheyAre) {
  serve({404});
  EXPECT_EQ(client_.http->send_one(call_to(server_.url("/"))).status, 404);
  EXPECT_EQ(server_.requests(), 1);
}

TEST_F(CurlRetry, EndsAfterTheLastAttemptWithItsReply) {
  serve({503, 503, 503, 503});
  auto call = call_to(server_.url("/"));
  call.max_attempts = 3;
  EXPECT_EQ(client_.http->send_one(call).status, 503);
  EXPECT_EQ(server_.requests(), 3);
}

TEST_F(CurlRetry, AsksAThrottlingServerForTwoMinutes) {
  serve(std::vector<int>(1000, 503));
  Client<FakeClock> client{std::chrono::hours(1)};
  auto call = call_to(server_.url("/"));
  call.max_attempts = 2;
  call.judge = [](const HttpResponse& response) { return RetryVerdict{response.status == 503, {}, true}; };
  const auto response = client.http->send_one(call);
  EXPECT_EQ(response.status, 503);
  EXPECT_TRUE(response.deadline_passed);
  EXPECT_GT(total(client.clock.sleeps), seconds(90));
  EXPECT_LE(total(client.clock.sleeps), seconds(120));
  EXPECT_GT(server_.requests(), 8);
  EXPECT_LT(server_.requests(), 40) << "no storm: ten seconds a time, once the delays have grown to 20 s at most";
}

TEST_F(CurlRetry, AsksAThrottlingServerNoLongerThanThereIsTime) {
  serve(std::vector<int>(1000, 503));
  auto call = call_to(server_.url("/"));
  call.judge = [](const HttpResponse& response) { return RetryVerdict{response.status == 503, {}, true}; };
  EXPECT_TRUE(client_.http->send_one(call).deadline_passed);
  EXPECT_LE(total(client_.clock.sleeps), seconds(60));
}

TEST_F(CurlRetry, WhatWasPutOffIsNoFault) {
  serve({429, 429, 429, 429, 429, 503, 429, 200});
  auto call = call_to(server_.url("/"));
  call.max_attempts = 2;
  call.judge = [](const HttpResponse& response) {
    return RetryVerdict{response.status != 200, milliseconds(5), response.status == 429};
  };
  EXPECT_EQ(client_.http->send_one(call).status, 200);
  EXPECT_THAT(client_.log.text(), HasSubstr("put off for the 5. time"));
  EXPECT_THAT(client_.log.text(), HasSubstr("attempt 1 of 2 failed"));
}

TEST_F(CurlRetry, WaitsAsLongAsRetryAfterSays) {
  serve({503}, {{"Retry-After", "7"}});
  EXPECT_EQ(client_.http->send_one(call_to(server_.url("/"))).status, 200);
  EXPECT_GE(total(client_.clock.sleeps), seconds(7));
  EXPECT_LE(total(client_.clock.sleeps), milliseconds(7100));
}

TEST_F(CurlRetry, LeavesTheLastWordToTheJudge) {
  serve({404, 404, 503}, {{"Retry-After", "50"}});
  auto call = call_to(server_.url("/"));
  call.judge = [](const HttpResponse& response) { return RetryVerdict{response.status == 404, milliseconds(30)}; };
  EXPECT_EQ(client_.http->send_one(call).status, 503);
  EXPECT_EQ(server_.requests(), 3);
  EXPECT_EQ(total(client_.clock.sleeps), milliseconds(60));
}

TEST_F(CurlRetry, ShowsTheJudgeAFailedAttempt) {
  auto call = call_to("http://127.0.0.1:" + std::to_string(closed_port()) + "/");
  std::vector<int> judged;
  call.judge = [&](const HttpResponse& response) {
    judged.push_back(response.status);
    return RetryVerdict{judged.size() < 3, {}};
  };
  EXPECT_EQ(client_.http->send_one(call).status, 0);
  EXPECT_EQ(judged, (std::vector<int>{0, 0, 0}));
}

TEST_F(CurlRetry, RetriesOneCallWithoutSendingTheOthersAgain) {
  serve({503});
  const auto responses = client_.http->send(std::vector<HttpCall>(5, call_to(server_.url("/"))));
  for (const auto& response : responses) EXPECT_EQ(response.status, 200);
  EXPECT_EQ(server_.requests(), 6);
}

TEST_F(CurlRetry, DoesNotWaitForATimeBeyondTheDeadline) {
  serve({503}, {{"Retry-After", "3600"}});
  const auto response = client_.http->send_one(call_to(server_.url("/")));
  EXPECT_EQ(response.status, 503);
  EXPECT_TRUE(response.deadline_passed);
  EXPECT_TRUE(client_.clock.sleeps.empty());
  EXPECT_EQ(server_.requests(), 1);
}

TEST_F(CurlRetry, SendsNothingAfterTheDeadline) {
  serve({});
  client_.clock.advance(std::chrono::minutes(2));
  const auto response = client_.http->send_one(call_to(server_.url("/")));
  EXPECT_EQ(response.status, 0);
  EXPECT_TRUE(response.deadline_passed);
  EXPECT_THAT(response.transport_error, HasSubstr("not sent to 127.0.0.1:"));
  EXPECT_EQ(server_.requests(), 0);
}

TEST_F(CurlRetry, HoldsTheRateOfABucketOverSeveralSends) {
  serve({});
  auto call = call_to(server_.url("/"));
  call.limit = {"ec2/CreateTags", 3, 10};
  client_.http->send(std::vector<HttpCall>(3, call));
  EXPECT_EQ(total(client_.clock.sleeps), milliseconds(0));
  client_.http->send(std::vector<HttpCall>(4, call));
  EXPECT_GE(total(client_.clock.sleeps), milliseconds(400));
  EXPECT_LE(total(client_.clock.sleeps), milliseconds(540));
  EXPECT_EQ(server_.requests(), 7);
}

TEST_F(CurlRetry, TakesATokenForEachAttempt) {
  serve({503, 503});
  auto call = call_to(server_.url("/"));
  call.limit = {"ec2/RunInstances", 1, 1};
  call.judge = [](const HttpResponse& response) { return RetryVerdict{response.status == 503, milliseconds(0)}; };
  EXPECT_EQ(client_.http->send_one(call).status, 200);
  EXPECT_GE(total(client_.clock.sleeps), seconds(2));
}

TEST_F(CurlRetry, LetsOtherCallsPassThoseThatWaitForATokenThatNeverComes) {
  serve({});
  std::vector<HttpCall> calls(3, call_to(server_.url("/")));
  calls[0].limit = calls[1].limit = {"stuck", 1, 0};
  const auto responses = client_.http->send(std::move(calls));
  EXPECT_EQ(responses[0].status, 200);
  EXPECT_EQ(responses[1].status, 0);
  EXPECT_TRUE(responses[1].deadline_passed);
  EXPECT_EQ(responses[2].status, 200);
}

TEST(CurlDeadline, EndsCallsThatAServerNeverAnswers) {
  TestServer server;
  std::atomic<bool> done = false;
  server.server.Get("/", [&](const httplib::Request&, httplib::Response&) { done.wait(false); });
  server.start();
  const auto begin = std::chrono::steady_clock::now();
  Client<RealClock> client(seconds(1), 1);
  const auto responses = client.http->send(std::vector<HttpCall>(3, call_to(server.url("/"))));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10));  // the calls' own timeout is 20 s
  done = true;
  done.notify_all();
  for (const auto& response : responses) {
    EXPECT_EQ(response.status, 0);
    EXPECT_TRUE(response.deadline_passed);
  }
  EXPECT_THAT(responses[0].transport_error, HasSubstr("waiting for 127.0.0.1:"));
  EXPECT_THAT(responses[1].transport_error, HasSubstr("not sent to 127.0.0.1:"));
  EXPECT_EQ(server.requests(), 1);
}

}  // namespace
}  // namespace burst::net
