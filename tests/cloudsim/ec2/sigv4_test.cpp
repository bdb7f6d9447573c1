// SPDX-License-Identifier: Apache-2.0
// Signatures that AWS publishes: the example of its documentation and vectors of its test suite.
#include "ec2/sigv4.h"

#include <memory>

#include <gtest/gtest.h>

namespace cloudsim::ec2 {
namespace {

constexpr const char* kSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
constexpr const char* kTime = "20150830T123600Z";

HttpRequest request_of(std::string method, std::string query, HttpHeaders headers, std::string body = "") {
  return {std::move(method), "/", std::move(query), std::move(headers), std::move(body)};
}

SignatureClaim claim_for(const std::string& service, std::vector<std::string> headers) {
  return {"AKIDEXAMPLE", "20150830", "us-east-1", service, std::move(headers), ""};
}

std::string signature_of(const HttpRequest& request, const SignatureClaim& claim) {
  return expected_signature(claim, kTime, canonical_request(request, claim.signed_headers), kSecret);
}

TEST(SigV4, GivesTheSignatureOfTheDocumentedExample) {
  const auto request = request_of("GET", "Action=ListUsers&Version=2010-05-08",
                                  {{"content-type", "application/x-www-form-urlencoded; charset=utf-8"},
                                   {"host", "iam.amazonaws.com"},
                                   {"x-amz-date", kTime}});
  EXPECT_EQ(signature_of(request, claim_for("iam", {"content-type", "host", "x-amz-date"})),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

TEST(SigV4, GivesTheSignaturesOfTheTestSuite) {
  const HttpHeaders plain{{"host", "example.amazonaws.com"}, {"x-amz-date", kTime}};
  const auto claim = claim_for("service", {"host", "x-amz-date"});
  EXPECT_EQ(signature_of(request_of("GET", "", plain), claim),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  EXPECT_EQ(signature_of(request_of("GET", "Param2=value2&Param1=value1", plain), claim),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
  EXPECT_EQ(signature_of(request_of("POST", "", plain), claim),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
  auto form = plain;
  form.insert(form.begin(), {"content-type", "application/x-www-form-urlencoded"});
  EXPECT_EQ(signature_of(request_of("POST", "", form, "Param1=value1"),
                         claim_for("service", {"content-type", "host", "x-amz-date"})),
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
}

TEST(SigV4, FoldsBlanksAndJoinsRepeatedHeaders) {
  const auto request = request_of("GET", "", {{"my-header", "a   b"}, {"other", "x"}, {"my-header", "c"}});
  EXPECT_NE(canonical_request(request, {"my-header"}).find("\nmy-header:a b,c\n"), std::string::npos);
}

TEST(SigV4, TakesTheAuthorizationHeaderApart) {
  const auto claim = parse_authorization(
      "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/ec2/aws4_request, SignedHeaders=host;x-amz-date, "
      "Signature=abc");
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->access_key_id, "AKID");
  EXPECT_EQ(claim->date, "20260101");
  EXPECT_EQ(claim->region, "eu-west-1");
  EXPECT_EQ(claim->service, "ec2");
  EXPECT_EQ(claim->signed_headers, (std::vector<std::string>{"host", "x-amz-date"}));
  EXPECT_EQ(claim->signature, "abc");
}

TEST(SigV4, RefusesOtherAuthorizationHeaders) {
  for (const auto* const text :
       {"", "Basic abc", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=AKID/20260101, SignedHeaders=h, Signature=s",
        "AWS4-HMAC-SHA256 Credential=A/d/r/s/aws4_request, SignedHeaders=host",
        "AWS4-HMAC-SHA256 Credential=A/d/r/s/aws4_other, SignedHeaders=host, Signature=s"}) {
    EXPECT_FALSE(parse_authorization(text)) << text;
  }
}

}  // namespace
}  // namespace cloudsim::ec2
