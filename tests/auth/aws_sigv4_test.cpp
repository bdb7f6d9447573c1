// SPDX-License-Identifier: Apache-2.0
// Tests of Signature Version 4 against AWS's published examples and botocore's signer.
#include "auth/aws_sigv4.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "botocore_reference.h"
#include "burst/error.h"

namespace burst::auth {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const sys_seconds kExampleTime{seconds(1'440'938'160)};  // 2015-08-30 12:36:00
const AwsCredentials kExampleKeys{"AKIDEXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), Secret(),
                                  std::nullopt};

std::string header(const HttpRequest& request, std::string_view name) {
  HttpResponse lookup;
  lookup.headers = request.headers;
  return std::string(lookup.header(name).value_or(""));
}

struct Example {
  std::string name, method, url, body, service, signed_headers, signature;
  HttpHeaders headers;
};

// The SigV4 test suite that AWS published, and the worked example of the IAM guide.
const std::vector<Example> kExamples{
    {"get-vanilla",
     "GET",
     "https://example.amazonaws.com/",
     "",
     "service",
     "host;x-amz-date",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
     {}},
    {"get-vanilla-query-order-key-case",
     "GET",
     "https://example.amazonaws.com/?Param2=value2&Param1=value1",
     "",
     "service",
     "host;x-amz-date",
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
     {}},
    {"get-vanilla-empty-query-key",
     "GET",
     "https://example.amazonaws.com/?Param1=value1",
     "",
     "service",
     "host;x-amz-date",
     "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
     {}},
    {"post-vanilla",
     "POST",
     "https://example.amazonaws.com/",
     "",
     "service",
     "host;x-amz-date",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
     {}},
    {"post-x-www-form-urlencoded",
     "POST",
     "https://example.amazonaws.com/",
     "Param1=value1",
     "service",
     "content-type;host;x-amz-date",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
     {{"Content-Type", "application/x-www-form-urlencoded"}}},
    {"IAM ListUsers",
     "GET",
     "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
     "",
     "iam",
     "content-type;host;x-amz-date",
     "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
     {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}}},
};

TEST(AwsSigV4, GivesTheSignaturesThatAwsPublished) {
  for (const auto& example : kExamples) {
    HttpRequest request{example.method, example.url, example.headers, example.body};
    sign_aws_request(request, kExampleKeys, {"us-east-1", example.service}, kExampleTime);
    EXPECT_EQ(header(request, "Authorization"),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/" + example.service +
                  "/aws4_request, SignedHeaders=" + example.signed_headers + ", Signature=" + example.signature)
        << example.name;
    EXPECT_EQ(header(request, "X-Amz-Date"), "20150830T123600Z");
  }
}

TEST(AwsSigV4, ReplacesWhatAnEarlierAttemptSet) {
  auto keys = kExampleKeys;
  HttpRequest fresh{"GET", "https://example.amazonaws.com:443/", {{"X-Mine", "1"}}, ""};
  auto again = fresh;
  keys.session_token = Secret("old");
  sign_aws_request(again, keys, {"us-east-1", "service"}, kExampleTime - seconds(900));
  EXPECT_EQ(header(again, "X-Amz-Security-Token"), "old");
  sign_aws_request(again, kExampleKeys, {"us-east-1", "service"}, kExampleTime);
  sign_aws_request(fresh, kExampleKeys, {"us-east-1", "service"}, kExampleTime);
  EXPECT_EQ(again.headers, fresh.headers);
  EXPECT_EQ(header(fresh, "Host"), "example.amazonaws.com");
}

TEST(AwsSigV4, DoesNotSignWhatChangesOnTheWay) {
  HttpRequest request{"GET", "https://example.amazonaws.com/", {{"User-Agent", "x"}, {"Expect", "y"}}, ""};
  sign_aws_request(request, kExampleKeys, {"us-east-1", "service"}, kExampleTime);
  EXPECT_THAT(header(request, "Authorization"), EndsWith(kExamples[0].signature));
}

TEST(AwsSigV4, RefusesAUrlWithoutAHost) {
  for (const std::string url : {"", "/path", "https:///", "ftp://host/", "https://[::1/"}) {
    HttpRequest request{"GET", url + "?token=hidden", {}, ""};
    try {
      sign_aws_request(request, kExampleKeys, {"us-east-1", "service"}, kExampleTime);
      FAIL() << url;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "InvalidRequest");
      EXPECT_THAT(error.what(), Not(HasSubstr("hidden")));
    }
  }
}

/// Requests with every oddity that the two signers could see differently; the same ones in every run.
class Generator {
 public:
  HttpRequest request() {
    HttpRequest made;
    made.method = pick({"GET", "POST", "PUT", "DELETE", "get"});
    made.url =
        pick({"https://", "http://"}) +
        pick({"ec2.us-east-1.amazonaws.com", "Example.COM:8443", "127.0.0.1:5000", "[::1]:80", "h:443"}) +
        pick({"", "/", "/a/b", "/a//b/", "/a/./b/../c", "/..", "/%7Euser/a%20b", "/x,y;z/~_-.*'()", "/\xC3\xA9"}) +
        pick({"", "?", "?b=2&a=1&a=0", "?a", "?a=&&b==c", "?x=%20y&X=1", "?Action=Do&Version=2016-11-15"});
    for (int i = number(4); i > 0; --i) {
      made.headers.emplace_back(pick({"X-B", "x-a", "Content-Type", "User-Agent", "X-Amz-Target", "Expect"}),
                                pick({"v", "", "  two   blanks ", "a,b", "text/plain; charset=utf-8", "\"q  q\""}));
    }
    if (made.method != "GET" && made.method != "get")
      made.body = pick({"", "a=b&c=d", "\xC3\xA9\n", std::string(5000, 'x')});
    return made;
  }
  HttpRequest presignable() {
    auto made = request();
    made.method = "GET";
    made.body.clear();
    made.url = "https://sts.us-east-1.amazonaws.com" + pick({"/", "", "/a b", "/%20"}) +
               pick({"", "?Action=GetCallerIdentity&Version=2011-06-15", "?a=%2Fx&b=c+d&e=", "?k=%C3%A9~*"});
    if (number(2) == 0) made.headers = {{"x-k8s-aws-id", "my-cluster"}};
    return made;
  }
  std::string token() { return pick({"", "plain", "FwoGZXIvYXdzEBYaD/+=ab c"}); }
  int number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

 private:
  std::string pick(const std::vector<std::string>& choices) { return choices[random_() % choices.size()]; }
  std::mt19937 random_{20151};  // its sequence is fixed by the standard
};

TEST(AwsSigV4, AgreesWithBotocore) {
  Generator generator;
  auto cases = nlohmann::json::array();
  std::vector<std::string> ours;
  for (int i = 0; i < 400; ++i) {
    const bool presign = i % 4 == 0;
    auto request = presign ? generator.presignable() : generator.request();
    auto keys = kExampleKeys;
    keys.session_token = Secret(generator.token());
    const auto now = kExampleTime + seconds(generator.number(1'000'000'000));
    const seconds valid(60 + generator.number(600));
    auto headers = nlohmann::json::array();
    for (const auto& [name, value] : request.headers) headers.push_back({name, value});
    cases.push_back({{"now", now.time_since_epoch().count()},
                     {"id", keys.access_key_id},
                     {"secret", keys.secret_access_key.reveal()},
                     {"token", keys.session_token.reveal()},
                     {"method", request.method},
                     {"url", request.url},
                     {"body", request.body},
                     {"headers", headers},
                     {"service", "ec2"},
                     {"region", "eu-west-3"},
                     {"presign", presign},
                     {"valid", valid.count()}});
    const SigningScope scope{"eu-west-3", "ec2"};
    if (presign) {
      ours.push_back(presign_aws_url(request, keys, scope, now, valid));
    } else {
      sign_aws_request(request, keys, scope, now);
      ours.push_back(header(request, "Authorization"));
    }
  }
  const auto theirs = ask_botocore("sign", cases);
  ASSERT_EQ(theirs.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i], theirs[i]) << cases[i].dump();
}

}  // namespace
}  // namespace burst::auth
