// SPDX-License-Identifier: Apache-2.0
// Tests of requests, replies and connections over real sockets.
#include "net/curl_http.h"

#include <barrier>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curl_fixture.h"

namespace burst::net {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CurlHttp, SendsTheRequestAsItIs) {
  httplib::Request seen;
  TestServer server;
  server.server.Post("/echo", [&](const httplib::Request& request, httplib::Response& response) {
    seen = request;
    response.status = 201;
    response.set_header("X-Answer", "yes");
    response.set_content("done", "text/plain");
  });
  server.start();
  Client<RealClock> client;
  auto call = call_to(server.url("/echo?a=b"));
  call.request.method = "POST";
  call.request.body = std::string("x\0y", 3);
  call.request.headers = {{"Content-Type", "application/x-test"}, {"X-One", "1"}};
  const auto response = client.http->send_one(call);
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "done");
  EXPECT_EQ(response.transport_error, "");
  EXPECT_FALSE(response.deadline_passed);
  EXPECT_EQ(response.header("x-answer"), "yes");
  EXPECT_EQ(response.header("x-other"), std::nullopt);
  EXPECT_EQ(seen.body, call.request.body);
  EXPECT_EQ(seen.get_param_value("a"), "b");
  EXPECT_EQ(seen.get_header_value("Content-Type"), "application/x-test");
  EXPECT_EQ(seen.get_header_value("User-Agent"), "slurm-burst/test");
  EXPECT_EQ(seen.get_header_value("X-One"), "1");
  EXPECT_FALSE(seen.has_header("Expect"));
}

TEST(CurlHttp, SendsEveryMethod) {
  RawServer server("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  Client<RealClock> client;
  for (const std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}) {
    auto call = call_to("http://" + server.address() + "/m");
    call.request.method = method;
    EXPECT_EQ(client.http->send_one(call).status, 204) << method;
    const auto head = server.heads().back();
    EXPECT_THAT(head, StartsWith(method + " /m HTTP/1.1\r\n"));
    EXPECT_THAT(head, Not(HasSubstr("Content-Type")));
    const bool carries = method[0] == 'P';
    EXPECT_EQ(head.find("Content-Length: 0\r\n") != std::string::npos, carries) << head;
  }
}

TEST(CurlHttp, SendsAHeaderWithoutValue) {
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  Client<RealClock> client;
  auto call = call_to("http://" + server.address() + "/");
  call.request.headers = {{"X-Empty", ""}};
  EXPECT_EQ(client.http->send_one(call).status, 200);
  EXPECT_THAT(server.heads().at(0), HasSubstr("\r\nX-Empty:\r\n"));
}

TEST(CurlHttp, SendsAllCallsSideBySideAndKeepsTheirOrder) {
  static constexpr int kCalls = 60;
  std::barrier all_here(kCalls);  // a request is answered when all are there
  TestServer server;
  server.server.Get(R"(/(\d+))", [&](const httplib::Request& request, httplib::Response& response) {
    all_here.arrive_and_wait();
    response.set_content(request.matches[1].str(), "text/plain");
  });
  server.start();
  Client<RealClock> client;
  std::vector<HttpCall> calls;
  calls.reserve(kCalls);
  for (int i = 0; i < kCalls; ++i) calls.push_back(call_to(server.url("/" + std::to_string(i))));
  const auto responses = client.http->send(std::move(calls));
  ASSERT_EQ(responses.size(), static_cast<std::size_t>(kCalls));
  for (int i = 0; i < kCalls; ++i) EXPECT_EQ(responses[static_cast<std::size_t>(i)].body, std::to_string(i));
  EXPECT_TRUE(client.http->send({}).empty());
}

TEST(CurlHttp, HoldsTheLimitOfRequestsInFlight) {
  static constexpr int kLimit = 4;
  static constexpr std::size_t kCalls = 20;
  std::barrier limit_here(kLimit);  // proves that the limit is reached; `most` that it is not passed
  TestServer server;
  std::atomic<int> current = 0;
  std::atomic<int> most = 0;
  server.server.Get("/", [&](const httplib::Request&, httplib::Response&) {
    const int now = ++current;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    limit_here.arrive_and_wait();
    --current;
    limit_here.arrive_and_wait();
  });
  server.start();
  Client<RealClock> client(std::chrono::minutes(1), kLimit);
  const auto responses = client.http->send(std::vector<HttpCall>(kCalls, call_to(server.url("/"))));
  for (const auto& response : responses) EXPECT_EQ(response.status, 200) << response.transport_error;
  EXPECT_EQ(most, kLimit);
}

TEST(CurlHttp, KeepsConnectionsBetweenCallsAndSends) {
  TestServer server;
  server.server.Get("/", [](const httplib::Request&, httplib::Response&) {});
  server.start();
  Client<RealClock> client;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client.http->send_one(call_to(server.url("/"))).status, 200);
  EXPECT_EQ(server.connections(), 1U);
  for (int i = 0; i < 3; ++i) client.http->send(std::vector<HttpCall>(5, call_to(server.url("/"))));
  EXPECT_LE(server.connections(), 5U);
  EXPECT_EQ(server.requests(), 25);
}

TEST(CurlHttp, SaysWhereAConnectionWasRefused) {
  const auto address = "127.0.0.1:" + std::to_string(closed_port());
  Client<RealClock> client;
  auto call = call_to("http://user:hidden@" + address + "/path?secret=hidden");
  call.max_attempts = 1;
  const auto response = client.http->send_one(call);
  EXPECT_EQ(response.status, 0);
  EXPECT_EQ(response.transport_error, "connecting to " + address + ": Connection refused");
  EXPECT_FALSE(response.deadline_passed);
}

TEST(CurlHttp, ReportsADroppedConnection) {
  RawServer server("");
  Client<RealClock> client;
  auto call = call_to("http://" + server.address() + "/");
  call.max_attempts = 1;
  const auto response = client.http->send_one(call);
  EXPECT_EQ(response.status, 0);
  EXPECT_THAT(response.transport_error, StartsWith("reading the reply of " + server.address() + ": "));
}

TEST(CurlHttp, DoesNotTakeHalfAReplyForAWholeOne) {
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
  Client<RealClock> client;
  auto call = call_to("http://" + server.address() + "/");
  call.max_attempts = 1;
  const auto response = client.http->send_one(call);
  EXPECT_EQ(response.status, 0);
  EXPECT_EQ(response.body, "");
  EXPECT_THAT(response.transport_error, StartsWith("reading the reply of "));
}

TEST(CurlHttp, EndsAnAttemptAtItsTimeout) {
  TestServer server;
  std::atomic<bool> done = false;
  server.server.Get("/", [&](const httplib::Request&, httplib::Response&) { done.wait(false); });
  server.start();
  Client<RealClock> client;
  auto call = call_to(server.url("/"));
  call.timeout = std::chrono::milliseconds(100);
  call.max_attempts = 1;
  const auto response = client.http->send_one(call);
  done = true;
  done.notify_all();
  EXPECT_EQ(response.status, 0);
  EXPECT_FALSE(response.deadline_passed);
  EXPECT_EQ(response.transport_error,
            "waiting for 127.0.0.1:" + std::to_string(server.port()) + ": no reply in 100 ms");
}

TEST(CurlHttp, DoesNotFollowRedirects) {
  TestServer server;
  server.server.Get("/", [](const httplib::Request&, httplib::Response& response) { response.set_redirect("/next"); });
  server.start();
  Client<RealClock> client;
  const auto response = client.http->send_one(call_to(server.url("/")));
  EXPECT_EQ(response.status, 302);
  EXPECT_EQ(response.header("Location"), "/next");
  EXPECT_EQ(server.requests(), 1);
}

TEST(CurlHttp, SpeaksHttpOnly) {
  Client<RealClock> client;
  const auto response = client.http->send_one(call_to("file:///etc/hostname"));
  EXPECT_EQ(response.status, 0);
  EXPECT_EQ(response.body, "");
  EXPECT_NE(response.transport_error, "");
}

TEST(CurlHttp, UnpacksCompressedReplies) {
  const std::string text(100'000, 'a');
  TestServer server;
  server.server.Get(
      "/", [&](const httplib::Request&, httplib::Response& response) { response.set_content(text, "text/plain"); });
  server.start();
  Client<RealClock> client;
  const auto response = client.http->send_one(call_to(server.url("/")));
  EXPECT_TRUE(response.header("Content-Encoding").has_value());
  EXPECT_EQ(response.body, text);
}

TEST(CurlHttp, RefusesAReplyThatIsTooBigAndDoesNotAskAgain) {
  TestServer server;
  server.server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("application/octet-stream", [](std::size_t offset, httplib::DataSink& sink) {
      const std::string block(1U << 20U, 'x');
      if (offset >= 80 * block.size()) {
        sink.done();
        return true;
      }
      return sink.write(block.data(), block.size());
    });
  });
  server.start();
  Client<RealClock> client;
  const auto response = client.http->send_one(call_to(server.url("/")));
  EXPECT_EQ(response.status, 0);
  EXPECT_EQ(response.body, "");
  EXPECT_THAT(response.transport_error, HasSubstr("more than 64 MiB"));
  EXPECT_EQ(server.requests(), 1);
}

TEST(CurlHttp, RefusesALineBreakInAHeader) {
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  Client<RealClock> client;
  auto call = call_to("http://" + server.address() + "/");
  call.request.headers = {{"X-Token", "hidden\r\nX-Injected: 1"}};
  try {
    client.http->send_one(call);
    FAIL() << "sent";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "InvalidRequest");
    EXPECT_THAT(error.what(), Not(HasSubstr("hidden")));
  }
  EXPECT_TRUE(server.heads().empty());
}

TEST(CurlHttp, MaySendFromWithinSign) {
  TestServer server;
  server.server.Get("/token", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("t0ken", "text/plain");
  });
  server.server.Get("/", [](const httplib::Request& request, httplib::Response& response) {
    response.status = request.get_header_value("X-Token") == "t0ken" ? 200 : 403;
  });
  server.start();
  Client<RealClock> client;
  auto call = call_to(server.url("/"));
  call.sign = [&](HttpRequest& request) {
    request.headers = {{"X-Token", client.http->send_one(call_to(server.url("/token"))).body}};
  };
  for (const auto& response : client.http->send(std::vector<HttpCall>(8, call))) EXPECT_EQ(response.status, 200);
  EXPECT_EQ(server.requests(), 16);
}

TEST(CurlHttp, EndsEverythingWhenSignThrowsAndServesOn) {
  TestServer server;
  server.server.Get("/", [](const httplib::Request&, httplib::Response&) {});
  server.start();
  Client<RealClock> client;
  std::vector<HttpCall> calls(5, call_to(server.url("/")));
  calls[3].sign = [](HttpRequest&) { throw Error("NoCredentials", "none"); };
  EXPECT_THROW(client.http->send(std::move(calls)), Error);
  EXPECT_EQ(client.http->send_one(call_to(server.url("/"))).status, 200);
}

TEST(CurlHttp, ServesSeveralThreads) {
  TestServer server;
  server.server.Get(R"(/(\d+))", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.matches[1].str(), "text/plain");
  });
  server.start();
  Client<RealClock> client;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  threads.reserve(6);
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        std::vector<HttpCall> calls;
        calls.reserve(10);
        for (int i = 0; i < 10; ++i) calls.push_back(call_to(server.url("/" + std::to_string(t * 1000 + i))));
        for (auto& call : calls) call.limit = {"shared", 1000, 1000};
        const auto responses = client.http->send(std::move(calls));
        for (int i = 0; i < 10; ++i) {
          if (responses[static_cast<std::size_t>(i)].body == std::to_string(t * 1000 + i)) ++right;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 300);
}

TEST(CurlHttpProxy, IsTakenFromOurEnvironment) {
  RawServer proxy("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied");
  Client<RealClock> client;
  client.environment.variables["HTTP_PROXY"] = "http://" + proxy.address();
  EXPECT_EQ(client.http->send_one(call_to("http://nowhere.invalid/x")).body, "proxied");
  EXPECT_THAT(proxy.heads().at(0), StartsWith("GET http://nowhere.invalid/x HTTP/1.1\r\n"));
}

TEST(CurlHttpProxy, IsNotTakenFromTheProcess) {
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);  // NOLINT(concurrency-mt-unsafe): no other thread reads
  ::setenv("ALL_PROXY", "http://127.0.0.1:1", 1);   // NOLINT(concurrency-mt-unsafe)
  Client<RealClock> client;
  auto call = call_to("http://" + server.address() + "/");
  call.max_attempts = 1;
  const auto response = client.http->send_one(call);
  ::unsetenv("http_proxy");  // NOLINT(concurrency-mt-unsafe)
  ::unsetenv("ALL_PROXY");   // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(response.status, 200) << response.transport_error;
}

TEST(CurlHttpProxy, IsNotUsedForHostsOfNoProxy) {
  RawServer server("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ndirect");
  Client<RealClock> client;
  client.environment.variables = {{"http_proxy", "http://127.0.0.1:1"}, {"no_proxy", "127.0.0.1"}};
  EXPECT_EQ(client.http->send_one(call_to("http://" + server.address() + "/")).body, "direct");
}

TEST(CurlHttpProxy, OfACallComesFirst) {
  RawServer proxy("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied");
  Client<RealClock> client;
  client.environment.variables = {{"http_proxy", "http://127.0.0.1:1"}, {"no_proxy", "*"}};
  auto call = call_to("http://nowhere.invalid/x");
  call.proxy = "http://" + proxy.address();
  EXPECT_EQ(client.http->send_one(call).body, "proxied");
}

TEST(CurlHttpProxy, IsTunnelledThroughForHttps) {
  RawServer proxy("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  Client<RealClock> client;
  client.environment.variables["https_proxy"] = "http://" + proxy.address();
  auto call = call_to("https://nowhere.invalid/x");
  call.max_attempts = 1;
  const auto response = client.http->send_one(call);
  EXPECT_EQ(response.status, 0);  // the proxy's own refusal is not the server's reply
  EXPECT_THAT(response.transport_error, HasSubstr("(a proxy is set: " + proxy.address() + ")"));
  EXPECT_THAT(proxy.heads().at(0), StartsWith("CONNECT nowhere.invalid:443 HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace burst::net
