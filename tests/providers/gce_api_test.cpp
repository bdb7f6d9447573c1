// SPDX-License-Identifier: Apache-2.0
// Calls of Compute Engine against canned replies: where they go, what they carry, how they are judged.
#include "providers/gce/gce_api.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burst/error.h"
#include "fakes/fake_services.h"

namespace burst::gce {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

/// Gives `token-1`, and the next one after each rejection.
class FakeTokens : public auth::GoogleTokenSource {
 public:
  int number = 1;
  std::vector<std::string> rejections;
  Secret token() override { return Secret("token-" + std::to_string(number)); }
  void rejected(const Secret& token) override {
    rejections.push_back(token.reveal());
    ++number;
  }
};

/// Keeps the limits of calls.
class LimitRecorder : public HttpClient {
 public:
  std::vector<RequestLimit> limits;
  std::vector<HttpResponse> send(std::vector<HttpCall> calls) override {
    for (const auto& call : calls) limits.push_back(call.limit);
    HttpResponse response;
    response.status = 200;
    response.body = R"({"name": "operation-1", "status": "DONE"})";
    return {calls.size(), response};
  }
};

struct GceApiTest : testing::Test {
  FakeServices world;
  Config config;
  std::shared_ptr<FakeTokens> tokens = std::make_shared<FakeTokens>();
  std::vector<HttpResponse> replies;  ///< in order; the last one again and again

  GceApi api() {
    world.http.handler = [this](const HttpRequest&) {
      HttpResponse reply = replies.front();
      if (replies.size() > 1) replies.erase(replies.begin());
      return reply;
    };
    return GceApi("my-project", tokens, config, world.services());
  }
  static HttpResponse reply(int status, const std::string& body) {
    HttpResponse response;
    response.status = status;
    response.body = body;
    return response;
  }
  static HttpResponse error(int status, const std::string& reason) {
    return reply(status, R"({"error": {"code": 0, "message": "no", "errors": [{"reason": ")" + reason + R"("}]}})");
  }
  std::string header(std::size_t request, const std::string& name) const {
    std::string found;
    for (const auto& [key, value] : world.http.requests.at(request).headers)
      if (key == name) found += value;
    return found;
  }
  static constexpr const char* kDone = R"({"name": "operation-1", "status": "DONE"})";
  const ApiCall deletion{"instances.delete", "zones/us-central1-a/instances/p-g-1"};
};

struct EndpointCase {
  const char* variable;
  const char* endpoint;
};

TEST_F(GceApiTest, TheEndpointIsGooglesOrTheOneThatGcloudTakes) {
  for (const auto& row :
       {EndpointCase{"", "https://compute.googleapis.com/compute/v1/"},
        EndpointCase{"http://127.0.0.1:80/compute/v1/", "http://127.0.0.1:80/compute/v1/"},
        EndpointCase{"http://127.0.0.1:80/compute/v1", "http://127.0.0.1:80/compute/v1/"},
        EndpointCase{"https://compute.us.rep.googleapis.com", "https://compute.us.rep.googleapis.com/compute/v1/"},
        EndpointCase{"https://x/", "https://x/compute/v1/"}}) {
    world.environment.variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"] = row.variable;
    EXPECT_EQ(compute_endpoint(world.environment), row.endpoint);
  }
  for (const char* wrong : {"ftp://x/", "127.0.0.1:80", "https://x/?a=b"}) {
    world.environment.variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"] = wrong;
    EXPECT_THROW(compute_endpoint(world.environment), Error) << wrong;
  }
}

TEST_F(GceApiTest, AChangeCarriesItsTokenAndOneRequestIdForAllAttempts) {
  replies = {error(503, "backendError"), reply(200, kDone)};
  const auto results = api().send({deletion});
  ASSERT_THAT(world.http.requests, SizeIs(2));
  const auto& request = world.http.requests[0];
  EXPECT_EQ(request.method, "DELETE");
  EXPECT_THAT(request.url,
              StartsWith("https://compute.googleapis.com/compute/v1/projects/my-project/zones/us-central1-a/"
                         "instances/p-g-1?requestId="));
  EXPECT_EQ(request.url, world.http.requests[1].url);
  EXPECT_EQ(header(1, "Authorization"), "Bearer token-1");
  EXPECT_TRUE(results[0].ok());
  EXPECT_TRUE(results[0].operation->done);
}

TEST_F(GceApiTest, ARefusedTokenIsReplacedOnce) {
  replies = {error(401, "authError"), reply(200, kDone)};
  EXPECT_TRUE(api().send({deletion})[0].ok());
  EXPECT_EQ(header(1, "Authorization"), "Bearer token-2");
  EXPECT_EQ(tokens->rejections, std::vector<std::string>{"token-1"});

  world.http.requests.clear();
  replies = {error(401, "authError")};
  const auto refused = api().send({deletion});
  EXPECT_EQ(refused[0].error->code, "authError");
  EXPECT_THAT(world.http.requests, SizeIs(2));
}

TEST_F(GceApiTest, OnlyWhatMayPassIsAskedAgain) {
  for (const auto& [status, reason] : {std::pair{403, "rateLimitExceeded"}, {429, "x"}, {500, "x"}, {0, ""}}) {
    world.http.requests.clear();
    replies = {status == 0 ? HttpResponse{} : error(status, reason), reply(200, kDone)};
    EXPECT_TRUE(api().send({deletion})[0].ok()) << reason;
    EXPECT_THAT(world.http.requests, SizeIs(2)) << reason;
  }
  for (const auto& [status, reason] : {std::pair{403, "quotaExceeded"},
                                       {403, "forbidden"},
                                       {400, "invalid"},
                                       {404, "notFound"},
                                       {409, "alreadyExists"},
                                       {400, "resourceInUseByAnotherResource"}}) {
    world.http.requests.clear();
    replies = {error(status, reason)};
    const auto result = api().send({deletion})[0];
    EXPECT_EQ(result.error->code, reason);
    EXPECT_FALSE(result.unknown) << reason;
    EXPECT_THAT(world.http.requests, SizeIs(1)) << reason;
  }
}

TEST_F(GceApiTest, AnErrorNamesMethodPlaceAndOperation) {
  replies = {reply(200, R"({"name": "operation-7", "status": "DONE",
                            "error": {"errors": [{"code": "QUOTA_EXCEEDED", "message": "CPUs"}]}})")};
  EXPECT_EQ(api().send({deletion})[0].error,
            (ApiError{"QUOTA_EXCEEDED",
                      "instances.delete in my-project, zones/us-central1-a: QUOTA_EXCEEDED: CPUs "
                      "(operation operation-7)"}));
}

TEST_F(GceApiTest, AnOperationIsFollowedToItsEnd) {
  replies = {reply(200, R"({"name": "operation-1", "status": "PENDING"})"),
             reply(200, R"({"name": "operation-1", "status": "RUNNING"})"), error(503, "backendError"),
             reply(200, R"({"name": "operation-1", "status": "DONE", "error": {"errors": [{"code": "X"}]}})")};
  const auto result =
      api().run({{"regionInstances.bulkInsert", "regions/us-central1/instances/bulkInsert", {}, "{}"}})[0];
  EXPECT_EQ(result.error->code, "X");
  EXPECT_FALSE(result.unknown);
  ASSERT_THAT(world.http.requests, SizeIs(4));
  EXPECT_EQ(world.http.requests[1].method, "POST");
  EXPECT_THAT(world.http.requests[1].url,
              EndsWith("/projects/my-project/regions/us-central1/operations/operation-1/wait"));
}

TEST_F(GceApiTest, AnOperationWhoseEndIsNotSeenIsUnknown) {
  replies = {reply(200, R"({"name": "operation-1", "status": "PENDING"})"), HttpResponse{}};
  const auto result = api().run({deletion})[0];
  EXPECT_TRUE(result.unknown);
  EXPECT_FALSE(result.ok());
}

TEST_F(GceApiTest, AListIsReadPageByPage) {
  replies = {reply(200, R"({"items": [{"name": "a"}], "nextPageToken": "t/2"})"),
             reply(200, R"({"items": [{"name": "b"}]})")};
  std::vector<std::string> names;
  api().list({{"regionInstanceGroupManagers.list", "regions/r/instanceGroupManagers", {{"filter", "name eq \"a.*\""}}}},
             [&](std::size_t, std::string_view body) {
               auto page = parse_instance_groups(body);
               for (const auto& group : page.items) names.push_back(group.name);
               return page.next_token;
             });
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_THAT(world.http.requests[0].url, HasSubstr("?filter=name%20eq%20%22a.%2A%22&maxResults=500"));
  EXPECT_THAT(world.http.requests[1].url, EndsWith("&pageToken=t%2F2"));
  EXPECT_EQ(world.http.requests[0].method, "GET");
  EXPECT_THAT(world.http.requests[0].url, testing::Not(HasSubstr("requestId")));
}

TEST_F(GceApiTest, AListThatCannotBeReadThrowsAndIsNeverEmpty) {
  const ApiCall call{"regionInstanceGroupManagers.list", "regions/r/instanceGroupManagers"};
  const auto read = [](std::size_t, std::string_view body) { return parse_instance_groups(body).next_token; };
  for (const auto& [bad, code] : {std::pair{reply(200, "{\"items\": ["), "InvalidReply"},
                                  {error(403, "forbidden"), "forbidden"},
                                  {error(404, "notFound"), "notFound"},
                                  {reply(502, "<html>"), "HTTP502"},
                                  {HttpResponse{}, "ConnectionError"}}) {
    replies = {bad};
    try {
      api().list({call}, read);
      FAIL() << code;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_THAT(error.what(), HasSubstr("regionInstanceGroupManagers.list in my-project"));
    }
  }
  replies = {error(404, "notFound")};
  EXPECT_NO_THROW(api().list({call}, read, true));
}

TEST_F(GceApiTest, CallsShareGooglesLimitsUnlessTheConfigurationHasTheirOwn) {
  LimitRecorder http;
  config.request_limits["instances.delete"] = {5, 2};
  Services services = world.services();
  const GceApi limited(
      "my-project", tokens, config,
      {services.clock, services.environment, services.files, http, services.log, services.processes, services.random});
  limited.send({deletion, {"instances.bulkInsert", "zones/z/instances/bulkInsert"}});
  (void)limited.get({"regionInstanceGroupManagers.get", "regions/r/instanceGroupManagers/m"});
  ASSERT_THAT(http.limits, SizeIs(3));
  EXPECT_EQ(http.limits[0].key, "gce/my-project/instances.delete");
  EXPECT_EQ(http.limits[0].burst, 5);
  EXPECT_EQ(http.limits[0].per_second, 2);
  EXPECT_EQ(http.limits[1].key, "gce/my-project/mutate");
  EXPECT_EQ(http.limits[2].key, "gce/my-project/read");
  EXPECT_LE(http.limits[2].burst + 60 * http.limits[2].per_second, 1500) << "a minute, as Google publishes it";
}

TEST_F(GceApiTest, NoSecretStandsInAnError) {
  replies = {error(403, "forbidden")};
  EXPECT_THAT(api().send({deletion})[0].error->message, testing::Not(HasSubstr("token-")));
}

}  // namespace
}  // namespace burst::gce
