// SPDX-License-Identifier: Apache-2.0
// Calls of the Kubernetes API, without a network.
#include "providers/kubernetes/kubernetes_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burst/error.h"
#include "fakes/fake_services.h"

namespace burst::kubernetes {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;

HttpResponse reply(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

HttpResponse refusal(int status, const std::string& reason, const std::string& message) {
  return reply(status, R"({"kind": "Status", "reason": ")" + reason + R"(", "message": ")" + message + R"("})");
}

/// Keeps the last call, and what its judge says of `answer` each time.
class JudgedHttp : public HttpClient {
 public:
  HttpResponse answer;
  int times = 0;
  HttpCall last;
  std::vector<RetryVerdict> verdicts;
  std::vector<HttpResponse> send(std::vector<HttpCall> calls) override {
    last = std::move(calls.front());
    for (int i = 0; i < times; ++i) verdicts.push_back(last.judge(answer));
    HttpResponse none;
    none.transport_error = "not sent";
    return {calls.size(), none};
  }
};

class KubernetesApiTest : public testing::Test {
 protected:
  KubernetesApi api(HttpClient* http = nullptr, const std::string& name_space = "slurm") {
    auth::KubeCluster cluster;
    cluster.server = "https://10.0.0.1:6443";
    auto services = fakes_.services();
    if (http != nullptr) {
      return {std::make_shared<auth::KubeAccess>(cluster, "ours", nullptr),
              name_space,
              4,
              config_,
              {fakes_.clock, fakes_.environment, fakes_.files, *http, fakes_.log, fakes_.processes, fakes_.random}};
    }
    return {std::make_shared<auth::KubeAccess>(cluster, "ours", nullptr), name_space, 4, config_, services};
  }
  ApiCall post(const std::string& name) { return {"POST", api().pods_path(), "{}", "pod " + name}; }

  FakeServices fakes_;
  Config config_;
};

TEST_F(KubernetesApiTest, TheContextsNamespaceServesAGroupThatNamesNone) {
  EXPECT_EQ(api(nullptr, "").name_space(), "ours");
  EXPECT_EQ(api().pods_path("gpu-3"), "/api/v1/namespaces/slurm/pods/gpu-3");
}

TEST_F(KubernetesApiTest, ACallGoesToTheServerAsJson) {
  fakes_.http.handler = [](const HttpRequest&) { return reply(201, R"({"kind": "Pod"})"); };
  const auto results = api().send({post("gpu-3")});
  EXPECT_TRUE(results[0].ok());
  EXPECT_EQ(results[0].body, R"({"kind": "Pod"})");
  const auto& request = fakes_.http.requests.at(0);
  EXPECT_EQ(request.url, "https://10.0.0.1:6443/api/v1/namespaces/slurm/pods");
  EXPECT_THAT(request.headers,
              ElementsAre(std::pair("Accept", "application/json"), std::pair("Content-Type", "application/json")));
}

TEST_F(KubernetesApiTest, CallsShareALimitByServerAndAction) {
  JudgedHttp http;
  config_.request_limits = {{"pods.delete", {10, 5}}};
  api(&http).send({{"DELETE", api().pods_path("gpu-3"), "{}"}});
  EXPECT_EQ(http.last.limit.key, "kubernetes/https://10.0.0.1:6443/pods.delete");
  EXPECT_EQ(http.last.limit.at_once, 4);
  EXPECT_EQ(http.last.limit.burst, 10);
  EXPECT_EQ(http.last.limit.per_second, 5);
  api(&http).send({post("gpu-3")});
  EXPECT_FALSE(http.last.limit.has_rate());
}

TEST_F(KubernetesApiTest, RetryAfterIsObeyedToTheSecondAndForAsLongAsThereIsTime) {
  JudgedHttp http;
  http.answer = refusal(429, "TooManyRequests", "later");
  http.answer.headers = {{"Retry-After", "3"}};
  http.times = 50;
  api(&http).send({post("gpu-3")});
  ASSERT_THAT(http.verdicts, SizeIs(50));
  for (const auto& verdict : http.verdicts) {
    EXPECT_TRUE(verdict.retry);
    EXPECT_EQ(verdict.after, std::chrono::seconds{3});
    EXPECT_TRUE(verdict.throttled) << "no fault that is counted";
  }
}

TEST_F(KubernetesApiTest, AServerThatIsNotItselfIsGivenUpAfterEightAttempts) {
  fakes_.http.handler = [](const HttpRequest&) { return refusal(500, "InternalError", "etcdserver: timeout"); };
  const auto results = api().send({post("gpu-3")});
  EXPECT_THAT(fakes_.http.requests, SizeIs(8));
  EXPECT_EQ(results[0].error->code, "ApiUnavailable");
  EXPECT_TRUE(results[0].unknown);
}

TEST_F(KubernetesApiTest, ARefusalIsFinalAndNamesMethodObjectAndNamespace) {
  fakes_.http.handler = [](const HttpRequest&) { return refusal(409, "AlreadyExists", "it exists"); };
  const auto results = api().send({post("gpu-3")});
  EXPECT_THAT(fakes_.http.requests, SizeIs(1));
  EXPECT_FALSE(results[0].unknown);
  EXPECT_EQ(results[0].error->message, "POST pod gpu-3 in namespace slurm: it exists");
}

TEST_F(KubernetesApiTest, ASinkThatWantsNoMoreLeavesTheRestUnsent) {
  fakes_.http.handler = [](const HttpRequest&) { return refusal(403, "Forbidden", "exceeded quota"); };
  std::vector<std::size_t> seen;
  const auto results = api().send({post("a"), post("b"), post("c")}, [&](std::size_t call, const CallResult& result) {
    seen.push_back(call);
    return result.ok();
  });
  EXPECT_THAT(fakes_.http.requests, SizeIs(1));
  EXPECT_THAT(seen, ElementsAre(0U));
  EXPECT_TRUE(results[0].sent);
  EXPECT_EQ(results[0].error->code, "QuotaExceeded");
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_FALSE(results[i].sent);
    EXPECT_FALSE(results[i].unknown);
    EXPECT_EQ(results[i].error->code, "NotSent");
  }
}

TEST_F(KubernetesApiTest, AReplyThatIsCutIsAskedForAgain) {
  int turn = 0;
  fakes_.http.handler = [&](const HttpRequest&) { return reply(200, turn++ == 0 ? R"({"items": [)" : "{}"); };
  EXPECT_TRUE(api().send({{"GET", api().pods_path("a")}})[0].ok());
  EXPECT_EQ(turn, 2);
}

TEST_F(KubernetesApiTest, AForgottenListBeginsAnewAFewTimes) {
  std::vector<std::string> pages;
  int restarts = 0;
  fakes_.http.handler = [](const HttpRequest& request) {
    if (request.url.find("continue=") != std::string::npos) return refusal(410, "Expired", "too old");
    return reply(200, "{}");
  };
  const auto read = [&](std::string_view body) {
    pages.emplace_back(body);
    return std::string("a token&more");
  };
  try {
    api().list(api().pods_path() + "?labelSelector=x", ListOf::objects, read, [&] { ++restarts; });
    FAIL() << "a part was taken for the whole";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "Expired");
  }
  EXPECT_EQ(restarts, 5);
  EXPECT_THAT(pages, SizeIs(6));
  EXPECT_THAT(fakes_.http.requests[1].url, HasSubstr("/pods?labelSelector=x&limit=500&continue=a%20token%26more"));
}

TEST_F(KubernetesApiTest, AListOfMetadataAsksForNoMoreAndTakesWholeObjectsToo) {
  fakes_.http.handler = [](const HttpRequest&) { return reply(200, "{}"); };
  api().list(
      api().pods_path() + "?x=y", ListOf::metadata, [](std::string_view) { return std::string(); }, [] {});
  ASSERT_THAT(fakes_.http.requests, SizeIs(1));
  EXPECT_THAT(fakes_.http.requests[0].url, HasSubstr("?x=y&limit=1000"));
  EXPECT_THAT(fakes_.http.requests[0].headers,
              Contains(Pair("Accept",
                            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
                            "application/json")));
}

TEST_F(KubernetesApiTest, AListThatLacksItsEndIsAskedForAgain) {
  const std::string whole = R"({"items":[")" + std::string(70'000, 'x') + R"("]})";
  fakes_.http.handler = [&, asked = 0](const HttpRequest&) mutable {
    return reply(200, ++asked == 1 ? whole.substr(0, 69'000) : whole + "\n");
  };
  std::vector<std::string> pages;
  api().list(
      api().pods_path() + "?x=y", ListOf::objects,
      [&](std::string_view body) {
        pages.emplace_back(body);
        return std::string();
      },
      [] {});
  EXPECT_THAT(pages, ElementsAre(whole + "\n"));
}

TEST_F(KubernetesApiTest, AListThatIsRefusedThrowsTheTablesCode) {
  fakes_.http.handler = [](const HttpRequest&) { return refusal(403, "Forbidden", "cannot list"); };
  try {
    api().list(
        api().pods_path() + "?x=y", ListOf::objects, [](std::string_view) { return std::string(); }, [] {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "Forbidden");
    EXPECT_THAT(error.what(), StartsWith("GET pods in namespace slurm: cannot list"));
  }
}

}  // namespace
}  // namespace burst::kubernetes
