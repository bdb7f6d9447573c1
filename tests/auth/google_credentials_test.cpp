// SPDX-License-Identifier: Apache-2.0
// Tests of tokens from keys: service accounts, users, impersonation; and of what is no credentials file.
#include "auth/google_credentials.h"

#include "google_fixture.h"

namespace burst::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class GoogleCredentials : public GoogleWorld {};

TEST_F(GoogleCredentials, OfAServiceAccountAreASignedAssertion) {
  answer(kTokenUri, 200, token_json("ya29.sa", 3599));
  const auto token = fetch(service_account());
  EXPECT_EQ(token.token.reveal(), "ya29.sa");
  EXPECT_EQ(token.expires.time_since_epoch().count(), now() + 3599);
  ASSERT_EQ(world_.http.requests.size(), 1U);
  EXPECT_EQ(sent().method, "POST");
  EXPECT_EQ(sent().url, kTokenUri);
  EXPECT_EQ(sent().headers, (HttpHeaders{{"Content-Type", "application/x-www-form-urlencoded"}}));
  EXPECT_THAT(sent().body,
              MatchesRegex("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=[A-Za-z0-9_-]+"
                           "\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+"));
}

TEST_F(GoogleCredentials, OfAServiceAccountGoToItsOwnEndpointOrTheUsualOne) {
  auto account = service_account();
  account.erase("token_uri");
  answer(kTokenUri, 200, token_json("a"));
  EXPECT_EQ(failure(account), "found a");
  account["token_uri"] = "http://127.0.0.1:8080/token";
  answer("http://127.0.0.1:8080/token", 200, token_json("b"));
  EXPECT_EQ(failure(account), "found b");
  const auto assertion = sent(1).body.substr(sent(1).body.rfind('=') + 1);
  const auto first = assertion.find('.') + 1;
  const auto claims = json::parse(from_base64_url(assertion.substr(first, assertion.find('.', first) - first)));
  EXPECT_EQ(claims.at("aud"), "http://127.0.0.1:8080/token");
}

TEST_F(GoogleCredentials, OfAUserAreTheRefreshToken) {
  answer(kTokenUri, 200, token_json("ya29.user"));
  EXPECT_EQ(fetch(authorized_user()).token.reveal(), "ya29.user");
  ASSERT_EQ(world_.http.requests.size(), 1U);
  EXPECT_EQ(sent().method, "POST");
  EXPECT_EQ(sent().body,
            "grant_type=refresh_token&client_id=id-1.apps.googleusercontent.com&client_secret=c%26s%2F1&"
            "refresh_token=1%2F%2Fr-t");
}

TEST_F(GoogleCredentials, OfAnImpersonatedAccountTakeTwoSteps) {
  answer(kTokenUri, 200, token_json("base"));
  answer(kImpersonationUri, 200, impersonated_json("ya29.imp", "2026-05-28T21:00:00Z"));
  const json content{{"type", "impersonated_service_account"},
                     {"delegates", {"projects/-/serviceAccounts/d@p.iam.gserviceaccount.com"}},
                     {"service_account_impersonation_url", kImpersonationUri},
                     {"source_credentials", authorized_user()}};
  const auto token = fetch(content);
  EXPECT_EQ(token.token.reveal(), "ya29.imp");
  EXPECT_EQ(token.expires.time_since_epoch().count(), 1'780'002'000);
  ASSERT_EQ(world_.http.requests.size(), 2U);
  EXPECT_EQ(sent(1).method, "POST");
  EXPECT_EQ(sent(1).headers, (HttpHeaders{{"Content-Type", "application/json"}, {"Authorization", "Bearer base"}}));
  EXPECT_EQ(json::parse(sent(1).body), (json{{"scope", {"https://www.googleapis.com/auth/cloud-platform"}},
                                             {"lifetime", "3600s"},
                                             {"delegates", content["delegates"]}}));
}

TEST_F(GoogleCredentials, OfOtherTypesAreRefused) {
  EXPECT_EQ(failure_of("no json"), "NoCredentials: credentials file \"/k.json\": expected a JSON object");
  EXPECT_EQ(failure_of("[]"), "NoCredentials: credentials file \"/k.json\": expected a JSON object");
  EXPECT_EQ(failure(json::object()),
            "NoCredentials: credentials file \"/k.json\": type: expected a string, it is missing or empty");
  EXPECT_EQ(failure({{"type", "gdch_service_account"}}),
            "NoCredentials: credentials file \"/k.json\": type: expected service_account, external_account, "
            "authorized_user or impersonated_service_account, found \"gdch_service_account\"");
  EXPECT_EQ(failure({{"type", 1}}),
            "NoCredentials: credentials file \"/k.json\": type: expected a string, found a value of type number");
  auto account = service_account();
  account["universe_domain"] = "googleapis.com";
  answer(kTokenUri, 200, token_json("t"));
  EXPECT_EQ(failure(account), "found t");
  account["universe_domain"] = "example.cloud";
  EXPECT_THAT(failure(account),
              HasSubstr("universe_domain: only googleapis.com is supported, found \"example.cloud\""));
  EXPECT_EQ(world_.http.requests.size(), 1U);
}

TEST_F(GoogleCredentials, NameTheFieldThatIsWrong) {
  for (const auto* key : {"client_email", "private_key"}) {
    auto account = service_account();
    account.erase(key);
    EXPECT_EQ(failure(account), std::string("NoCredentials: credentials file \"/k.json\": ") + key +
                                    ": expected a string, it is missing or empty");
  }
  for (const auto* key : {"client_id", "client_secret", "refresh_token"}) {
    auto user = authorized_user();
    user[key] = "";
    EXPECT_THAT(failure(user), HasSubstr(std::string(key) + ": expected a string, it is missing or empty"));
  }
  json impersonated{{"type", "impersonated_service_account"}, {"service_account_impersonation_url", kImpersonationUri}};
  EXPECT_THAT(failure(impersonated), HasSubstr("source_credentials: expected an object, it is missing"));
  impersonated["source_credentials"] = authorized_user();
  impersonated["source_credentials"].erase("client_id");
  EXPECT_THAT(failure(impersonated), HasSubstr("\"/k.json\": source_credentials.client_id: expected a string"));
  impersonated["delegates"] = "d";
  EXPECT_THAT(failure(impersonated), HasSubstr("delegates: expected a list of strings"));
  EXPECT_TRUE(world_.http.requests.empty());
}

TEST_F(GoogleCredentials, NeverShowAKey) {
  auto account = service_account();
  account["private_key"] = "-----BEGIN PRIVATE KEY-----\nhidden\n-----END PRIVATE KEY-----\n";
  EXPECT_EQ(failure(account), "NoCredentials: credentials file \"/k.json\": private_key: expected an RSA key in PEM");
  account["private_key"] = json{{"key", "hidden"}};
  EXPECT_THAT(failure(account), Not(HasSubstr("hidden")));
  account = service_account();
  account["token_uri"] = "hidden";
  EXPECT_THAT(failure(account), Not(HasSubstr("hidden")));
}

TEST_F(GoogleCredentials, GoOverTlsOrToThisMachine) {
  auto account = service_account();
  for (const auto* url : {"http://oauth2.googleapis.com/token", "http://127.0.0.1.example.com/", "ftp://x/y", "x",
                          "https://a b/", "http://169.254.169.254/token", "http://localhost@example.com/"}) {
    account["token_uri"] = url;
    EXPECT_THAT(failure(account), HasSubstr("token_uri: expected an https URL")) << url;
  }
  EXPECT_TRUE(world_.http.requests.empty());
  for (const auto* url : {"http://localhost/t", "http://127.0.0.1:1/t", "http://[::1]:1/t"}) {
    account["token_uri"] = url;
    answer(url, 200, token_json("t"));
    EXPECT_EQ(failure(account), "found t") << url;
  }
}

TEST_F(GoogleCredentials, RefusedByGoogleSayWhatGoogleSaid) {
  answer(kTokenUri, 400, R"({"error":"invalid_grant","error_description":"Invalid JWT\nSignature."})");
  EXPECT_EQ(failure(service_account()),
            "invalid_grant: credentials file '/k.json': token from oauth2.googleapis.com: invalid_grant: Invalid JWT "
            "Signature.");
  EXPECT_EQ(world_.http.requests.size(), 1U);
  answer(kTokenUri, 200, token_json("base"));
  answer(kImpersonationUri, 403,
         R"({"error":{"code":403,"message":"Permission 'iam.serviceAccounts.getAccessToken' denied","status":)"
         R"("PERMISSION_DENIED"}})");
  EXPECT_EQ(failure({{"type", "impersonated_service_account"},
                     {"service_account_impersonation_url", kImpersonationUri},
                     {"source_credentials", authorized_user()}}),
            "PERMISSION_DENIED: credentials file '/k.json': token from iamcredentials.googleapis.com: "
            "PERMISSION_DENIED: Permission 'iam.serviceAccounts.getAccessToken' denied");
}

TEST_F(GoogleCredentials, NeverRepeatASecretThatTheReplyRepeats) {
  answers_[kTokenUri] = [](const HttpRequest& request) {
    const auto assertion = request.body.substr(request.body.rfind('=') + 1);
    return reply(400, json{{"error", "invalid_request"}, {"error_description", "bad " + assertion + "!"}}.dump());
  };
  EXPECT_THAT(failure(service_account()), HasSubstr("invalid_request: bad ***!"));
  answer(kTokenUri, 400, R"({"error":"1//r-t","error_description":"c&s/1 and 1//r-t"})");
  EXPECT_EQ(failure(authorized_user()),
            "NoCredentials: credentials file '/k.json': token from oauth2.googleapis.com: ***: *** and ***");
}

TEST_F(GoogleCredentials, AreAskedForAgainWhenThatMayHelp) {
  for (const auto& [status, code] : std::map<int, std::string>{{503, "x"},
                                                               {500, "x"},
                                                               {429, "x"},
                                                               {408, "x"},
                                                               {400, "internal_failure"},
                                                               {401, "temporarily_unavailable"}}) {
    world_.http.requests.clear();
    answer(kTokenUri, status, json{{"error", code}}.dump());
    EXPECT_THAT(failure(authorized_user()), StartsWith(code + ": "));
    EXPECT_EQ(world_.http.requests.size(), 7U) << status;
  }
  world_.http.requests.clear();
  answers_.clear();
  EXPECT_EQ(failure(authorized_user()),
            "NoCredentials: credentials file \"/k.json\": token from oauth2.googleapis.com: connecting to nowhere: no "
            "answer in 1000 ms");
  EXPECT_EQ(world_.http.requests.size(), 7U);
}

TEST_F(GoogleCredentials, NeedAReplyWithATokenAndATime) {
  const std::string from = "NoCredentials: credentials file \"/k.json\": token from oauth2.googleapis.com: ";
  for (const auto& [body, why] : std::map<std::string, std::string>{
           {"hidden", "expected a JSON object"},
           {"[]", "expected a JSON object"},
           {R"({"expires_in":3600})", "the reply holds no access_token"},
           {R"({"access_token":"hid\r\nden: 1","expires_in":3600})", "the reply holds no access_token"},
           {R"({"access_token":"hidden"})", "expires_in: expected a positive number"},
           {R"({"access_token":"hidden","expires_in":0})", "expires_in: expected a positive number"},
           {R"({"access_token":"hidden","expires_in":"1h"})", "expires_in: expected a positive number"},
           {R"({"access_token":"hidden","expires_in":[]})", "expires_in: expected a positive number"}}) {
    answer(kTokenUri, 200, body);
    EXPECT_EQ(failure(authorized_user()), from + why);
  }
  answer(kTokenUri, 200, R"({"access_token":"t","expires_in":"300"})");
  EXPECT_EQ(fetch(authorized_user()).expires.time_since_epoch().count(), now() + 300);
  answer(kTokenUri, 302, "");
  EXPECT_EQ(failure(authorized_user()),
            "NoCredentials: credentials file '/k.json': token from oauth2.googleapis.com: status 302");
}

TEST_F(GoogleCredentials, NeedAReplyOfTheImpersonationWithATokenAndATime) {
  const json content{{"type", "impersonated_service_account"},
                     {"service_account_impersonation_url", kImpersonationUri},
                     {"source_credentials", authorized_user()}};
  answer(kTokenUri, 200, token_json("base"));
  for (const auto& [body, why] :
       std::map<std::string, std::string>{{"x", "expected a JSON object"},
                                          {"{}", "the reply holds no accessToken"},
                                          {R"({"accessToken":"hidden"})", "expireTime: expected a time"},
                                          {R"({"accessToken":"hidden","expireTime":"soon"})", "expireTime: "}}) {
    answer(kImpersonationUri, 200, body);
    EXPECT_THAT(failure(content), StartsWith("NoCredentials: credentials file \"/k.json\": " + why));
    EXPECT_THAT(failure(content), Not(HasSubstr("hidden")));
  }
}

}  // namespace
}  // namespace burst::auth
