// SPDX-License-Identifier: Apache-2.0
// Calls of EC2 against canned replies: how refusals are judged, and whose clock counts.
#include "providers/ec2/ec2_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burst/error.h"
#include "fakes/fake_services.h"

namespace burst::ec2 {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class FakeCredentials : public auth::AwsCredentialSource {
 public:
  int expired = 0;
  auth::AwsCredentials get() override { return {"AKIAEXAMPLE", Secret("key"), Secret(), {}}; }
  void expire() override { ++expired; }
};

struct Ec2ApiTest : testing::Test {
  FakeServices world;
  Config config;
  std::shared_ptr<FakeCredentials> credentials = std::make_shared<FakeCredentials>();
  Ec2Api api{"us-east-1", "", credentials, config, world.services()};

  static HttpResponse refusal(int status, const std::string& code, HttpHeaders headers = {}) {
    HttpResponse response;
    response.status = status;
    response.headers = std::move(headers);
    response.body = "<Response><Errors><Error><Code>" + code + "</Code></Error></Errors></Response>";
    return response;
  }
  static HttpResponse no_instances() {
    HttpResponse response;
    response.status = 200;
    response.body = "<DescribeInstancesResponse><reservationSet/></DescribeInstancesResponse>";
    return response;
  }
  static std::string amz_date(const HttpRequest& request) {
    for (const auto& [name, value] : request.headers) {
      if (name == "X-Amz-Date" || name == "x-amz-date") return value;
    }
    return "";
  }
};

// The fake clock stands at 2026-05-28 20:26:40 UTC.
TEST_F(Ec2ApiTest, SignsWithEc2sTimeOnceItsReplyHasShownThatTheClocksDiffer) {
  world.http.handler = [](const HttpRequest& request) {
    return amz_date(request) == "20260528T200640Z"
               ? no_instances()
               : refusal(400, "RequestExpired", {{"Date", "Thu, 28 May 2026 20:06:40 GMT"}});
  };
  EXPECT_THAT(api.describe_instances({{}}), SizeIs(0));
  EXPECT_THAT(world.http.requests, SizeIs(2));
  EXPECT_EQ(credentials->expired, 0);
  EXPECT_THAT(world.log.text(), HasSubstr("EC2's clock in us-east-1 is 1200 s behind this host's"));
  api.describe_instances({{}});
  EXPECT_THAT(world.http.requests, SizeIs(3)) << "what was learned counts for later calls";
  EXPECT_THAT(world.log.lines, SizeIs(1));
}

TEST_F(Ec2ApiTest, WhereTheClocksAgreeTheCredentialsHaveExpired) {
  world.http.handler = [](const HttpRequest&) {
    return refusal(400, "RequestExpired", {{"Date", "Thu, 28 May 2026 20:26:41 GMT"}});
  };
  EXPECT_THROW(api.describe_instances({{}}), Error);
  EXPECT_THAT(world.http.requests, SizeIs(2)) << "once more, with new ones";
  EXPECT_GE(credentials->expired, 1);
  EXPECT_EQ(world.log.text(), "");
}

TEST_F(Ec2ApiTest, AThrottledCallIsAskedMoreOftenThanAFaultyOne) {
  std::size_t throttled = 0;
  world.http.handler = [&](const HttpRequest&) {
    return ++throttled <= 12 ? refusal(503, "RequestLimitExceeded") : no_instances();
  };
  EXPECT_THAT(api.describe_instances({{}}), SizeIs(0));
  world.http.requests.clear();
  world.http.handler = [](const HttpRequest&) { return refusal(500, "InternalError"); };
  EXPECT_THROW(api.describe_instances({{}}), Error);
  EXPECT_THAT(world.http.requests, SizeIs(8));
}

}  // namespace
}  // namespace burst::ec2
