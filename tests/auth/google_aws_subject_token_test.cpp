// SPDX-License-Identifier: Apache-2.0
// Tests of workload identity federation with an AWS identity.
#include "auth/percent_encoding.h"
#include "botocore_reference.h"
#include "google_fixture.h"

namespace burst::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GoogleAws : public GoogleWorld {
 protected:
  static constexpr auto* kRoles = "http://169.254.169.254/latest/meta-data/iam/security-credentials";
  static constexpr auto* kZone = "http://169.254.169.254/latest/meta-data/placement/availability-zone";
  static constexpr auto* kSession = "http://169.254.169.254/latest/api/token";

  GoogleAws() { answer(kStsUri, 200, token_json("t")); }

  /// As `gcloud iam workload-identity-pools create-cred-config --aws --enable-imdsv2` writes it.
  static json aws_account() {
    auto account =
        external_account({{"environment_id", "aws1"},
                          {"region_url", kZone},
                          {"url", kRoles},
                          {"imdsv2_session_token_url", kSession},
                          {"regional_cred_verification_url",
                           "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"}});
    account["subject_token_type"] = "urn:ietf:params:aws:token-type:aws4_request";
    return account;
  }
  void keys(const std::string& session_token = "") {
    variable("AWS_REGION") = "us-east-2";
    variable("AWS_ACCESS_KEY_ID") = "AKIA1";
    variable("AWS_SECRET_ACCESS_KEY") = "s3cret/";
    if (!session_token.empty()) variable("AWS_SESSION_TOKEN") = session_token;
  }
  void role(const std::string& host) {
    const std::string roles = host + "latest/meta-data/iam/security-credentials/";
    answer(host + "latest/api/token", 200, "imds-token");
    answer(roles, 200, "role-a");
    answer(roles + "role-a", 200,
           R"({"Code":"Success","AccessKeyId":"ASIAROLE","SecretAccessKey":"s","Token":"role-token",)"
           R"("Expiration":"2026-05-29T00:00:00Z"})");
  }
  /// The subject token in the last request, as it came out of the form.
  std::string subject() {
    const auto& body = world_.http.requests.back().body;
    const std::string key = "&subject_token=";
    const auto begin = body.find(key) + key.size();
    return decode_query_value(body.substr(begin, body.find('&', begin) - begin));
  }
  json request() { return json::parse(decode_query_value(subject())); }
  std::string header(const std::string& name) {
    const auto signed_request = request();
    for (const auto& one : signed_request.at("headers")) {
      if (one.at("key") == name) return one.at("value");
    }
    return "";
  }
};

TEST_F(GoogleAws, SendsASignedRequestThatOnlyThisProviderCanUse) {
  keys("session");
  EXPECT_EQ(fetch(aws_account()).token.reveal(), "t");
  ASSERT_EQ(world_.http.requests.size(), 1U);
  EXPECT_THAT(sent().body, HasSubstr("&subject_token_type=urn%3Aietf%3Aparams%3Aaws%3Atoken-type%3Aaws4_request"));
  const auto signed_request = request();
  EXPECT_EQ(signed_request.size(), 3U);
  EXPECT_EQ(signed_request.at("url"),
            "https://sts.us-east-2.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15");
  EXPECT_EQ(signed_request.at("method"), "POST");
  std::vector<std::string> names;
  for (const auto& one : signed_request.at("headers")) names.push_back(one.at("key"));
  EXPECT_EQ(names, (std::vector<std::string>{"Authorization", "host", "x-amz-date", "x-amz-security-token",
                                             "x-goog-cloud-target-resource"}));
  EXPECT_EQ(header("host"), "sts.us-east-2.amazonaws.com");
  EXPECT_EQ(header("x-amz-date"), "20260528T202640Z");
  EXPECT_EQ(header("x-amz-security-token"), "session");
  EXPECT_EQ(header("x-goog-cloud-target-resource"), aws_account().at("audience"));
  EXPECT_THAT(header("Authorization"),
              HasSubstr("Credential=AKIA1/20260528/us-east-2/sts/aws4_request, "
                        "SignedHeaders=host;x-amz-date;x-amz-security-token;x-goog-cloud-target-resource, Signature="));
  EXPECT_EQ(subject().find_first_of("{}\" :"), std::string::npos);  // quoted once before the form quotes it
}

TEST_F(GoogleAws, SignsAsBotocoreDoes) {
  for (const std::string session : {"", "session/+="}) {
    keys(session);
    fetch(aws_account());
    const auto headers = json::array({json::array({"x-goog-cloud-target-resource", aws_account().at("audience")})});
    const json question{{"method", "POST"}, {"url", request().at("url")}, {"body", ""},       {"headers", headers},
                        {"id", "AKIA1"},    {"secret", "s3cret/"},        {"token", session}, {"region", "us-east-2"},
                        {"service", "sts"}, {"presign", false},           {"now", now()}};
    const auto theirs = ask_botocore("sign", json::array({question}));
    ASSERT_EQ(theirs.size(), 1U);
    EXPECT_EQ(theirs.at(0), header("Authorization"));
  }
}

TEST_F(GoogleAws, TakesRegionAndKeysFromTheInstance) {
  role("http://169.254.169.254/");
  answer(kZone, 200, "eu-west-3b");
  EXPECT_EQ(failure(aws_account()), "found t");
  EXPECT_EQ(sent(0).method, "PUT");
  EXPECT_EQ(sent(0).headers, (HttpHeaders{{"X-aws-ec2-metadata-token-ttl-seconds", "300"}}));
  EXPECT_EQ(sent(1).url, kZone);
  EXPECT_EQ(sent(1).headers, (HttpHeaders{{"X-aws-ec2-metadata-token", "imds-token"}}));
  EXPECT_EQ(header("host"), "sts.eu-west-3.amazonaws.com");
  EXPECT_THAT(header("Authorization"), HasSubstr("Credential=ASIAROLE/20260528/eu-west-3/sts/"));
  EXPECT_EQ(header("x-amz-security-token"), "role-token");
}

TEST_F(GoogleAws, AsksTheMetadataServiceThatTheFileNames) {
  variable("AWS_DEFAULT_REGION") = "us-west-1";
  role("http://[fd00:ec2::254]/");
  auto account = aws_account();
  account["credential_source"]["url"] = "http://[fd00:ec2::254]/latest/meta-data/iam/security-credentials/";
  EXPECT_EQ(failure(account), "found t");
  EXPECT_EQ(header("host"), "sts.us-west-1.amazonaws.com");
  role("http://127.0.0.1:9/");
  variable("AWS_EC2_METADATA_SERVICE_ENDPOINT") = "http://127.0.0.1:9";
  world_.http.requests.clear();
  EXPECT_EQ(failure(account), "found t");
  EXPECT_EQ(sent(0).url, "http://127.0.0.1:9/latest/api/token");
  account["credential_source"]["url"] = "http://169.254.169.254/other";
  EXPECT_THAT(failure(account), HasSubstr("credential_source.url: expected a URL that ends in /latest/meta-data/iam/"));
  account["credential_source"]["url"] = "http://example.com/latest/meta-data/iam/security-credentials";
  EXPECT_THAT(failure(account), HasSubstr("credential_source.url: expected an https URL"));
}

TEST_F(GoogleAws, SaysWhatIsMissing) {
  const std::string from = "NoCredentials: credentials file \"/k.json\": ";
  auto account = aws_account();
  EXPECT_EQ(failure(account), from + "session token for AWS metadata: connecting to nowhere: no answer in 1000 ms");
  account["credential_source"].erase("imdsv2_session_token_url");
  answer(kZone, 401, "hidden");
  EXPECT_EQ(failure(account), from + "AWS region from metadata: status 401");
  account["credential_source"].erase("region_url");
  EXPECT_EQ(failure(account), from +
                                  "credential_source.region_url: expected a URL: neither AWS_REGION nor "
                                  "AWS_DEFAULT_REGION is set");
  variable("AWS_REGION") = "us-east-1.example.com/";
  EXPECT_EQ(failure(account),
            "InvalidRegion: credentials file \"/k.json\": expected the name of an AWS region like us-east-1, found "
            "\"us-east-1.example.com/\"");
  variable("AWS_REGION") = "us-east-1";
  EXPECT_THAT(failure(account), HasSubstr(from + "no AWS credentials found: environment: "));
  account["credential_source"].erase("regional_cred_verification_url");
  EXPECT_THAT(failure(account), HasSubstr("credential_source.regional_cred_verification_url: expected a string"));
  account["credential_source"]["regional_cred_verification_url"] = "http://sts.{region}.amazonaws.com";
  EXPECT_THAT(failure(account), HasSubstr("regional_cred_verification_url: expected an https URL"));
  for (const auto* version : {"aws2", "aws", "azure1"}) {
    account["credential_source"]["environment_id"] = version;
    EXPECT_EQ(failure(account), from + "credential_source.environment_id: expected aws1");
  }
}

TEST_F(GoogleAws, NeverRepeatsTheSignedRequest) {
  keys();
  answers_[kStsUri] = [](const HttpRequest& request) {
    const std::string key = "&subject_token=";
    const auto begin = request.body.find(key) + key.size();
    const auto subject = decode_query_value(request.body.substr(begin, request.body.find('&', begin) - begin));
    return reply(400, json{{"error", "invalid_request"}, {"error_description", "not signed: " + subject}}.dump());
  };
  EXPECT_THAT(failure(aws_account()), HasSubstr("invalid_request: not signed: ***"));
  EXPECT_THAT(failure(aws_account()), Not(HasSubstr("Signature")));
}

}  // namespace
}  // namespace burst::auth
