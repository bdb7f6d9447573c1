// SPDX-License-Identifier: Apache-2.0
// Tests of workload identity federation with tokens from files and URLs.
#include "google_fixture.h"

namespace burst::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GoogleExternalAccount : public GoogleWorld {
 protected:
  static constexpr auto* kSubjectUrl = "http://169.254.169.254/metadata/identity/oauth2/token?resource=r";
  static json json_source(const json& source) {
    auto with_format = source;
    with_format["format"] = {{"type", "json"}, {"subject_token_field_name", "id_token"}};
    return with_format;
  }
};

TEST_F(GoogleExternalAccount, ExchangesAFilesToken) {
  file("/token") = "subject.to/ken\n";
  answer(kStsUri, 200, token_json("ya29.federated", 3600));
  const auto token = fetch(external_account({{"file", "/token"}}));
  EXPECT_EQ(token.token.reveal(), "ya29.federated");
  EXPECT_EQ(token.expires.time_since_epoch().count(), now() + 3600);
  ASSERT_EQ(world_.http.requests.size(), 1U);
  EXPECT_EQ(sent().method, "POST");
  EXPECT_EQ(sent().url, kStsUri);
  EXPECT_EQ(sent().headers, (HttpHeaders{{"Content-Type", "application/x-www-form-urlencoded"}}));
  // As google-auth-library 11 for Node.js sends it.
  EXPECT_EQ(sent().body,
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&audience=%2F%2Fiam.googleapis.com%2F"
            "projects%2F1%2Flocations%2Fglobal%2FworkloadIdentityPools%2Fp%2Fproviders%2Fq&scope=https%3A%2F%2Fwww."
            "googleapis.com%2Fauth%2Fcloud-platform&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3A"
            "access_token&subject_token=subject.to%2Fken&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3A"
            "jwt");
}

TEST_F(GoogleExternalAccount, ReadsTheFileAtEachCall) {
  answer(kStsUri, 200, token_json("t"));
  file("/token") = json{{"id_token", "one"}}.dump();
  fetch(external_account(json_source({{"file", "/token"}})));
  file("/token") = json{{"id_token", "two"}}.dump();
  fetch(external_account(json_source({{"file", "/token"}})));
  EXPECT_THAT(sent(0).body, HasSubstr("&subject_token=one&"));
  EXPECT_THAT(sent(1).body, HasSubstr("&subject_token=two&"));
}

TEST_F(GoogleExternalAccount, ExchangesAUrlsToken) {
  answer(kSubjectUrl, 200, R"({"id_token":"from-url","other":1})");
  answer(kStsUri, 200, token_json("t"));
  auto source = json_source({{"url", kSubjectUrl}, {"headers", {{"Metadata", "True"}}}});
  EXPECT_EQ(fetch(external_account(source)).token.reveal(), "t");
  ASSERT_EQ(world_.http.requests.size(), 2U);
  EXPECT_EQ(sent(0).method, "GET");
  EXPECT_EQ(sent(0).url, kSubjectUrl);
  EXPECT_EQ(sent(0).headers, (HttpHeaders{{"Metadata", "True"}}));
  EXPECT_THAT(sent(1).body, HasSubstr("&subject_token=from-url&"));
  answer("https://idp.example.com/t", 200, "plain");
  fetch(external_account({{"url", "https://idp.example.com/t"}, {"format", {{"type", "text"}}}}));
  EXPECT_THAT(sent(3).body, HasSubstr("&subject_token=plain&"));
}

TEST_F(GoogleExternalAccount, GoesOnToAServiceAccount) {
  file("/token") = "s";
  answer(kStsUri, 200, token_json("federated"));
  answer(kImpersonationUri, 200, impersonated_json("ya29.sa"));
  auto account = external_account({{"file", "/token"}});
  account["service_account_impersonation_url"] = kImpersonationUri;
  account["service_account_impersonation"] = {{"token_lifetime_seconds", 2800}};
  EXPECT_EQ(fetch(account).token.reveal(), "ya29.sa");
  ASSERT_EQ(world_.http.requests.size(), 2U);
  EXPECT_EQ(sent(1).url, kImpersonationUri);
  EXPECT_EQ(sent(1).headers.back().second, "Bearer federated");
  EXPECT_EQ(json::parse(sent(1).body),
            (json{{"scope", {"https://www.googleapis.com/auth/cloud-platform"}}, {"lifetime", "2800s"}}));
  account["service_account_impersonation"] = {{"token_lifetime_seconds", 599}};
  EXPECT_THAT(failure(account),
              HasSubstr("service_account_impersonation.token_lifetime_seconds: expected 600 to 43200"));
  account["service_account_impersonation"] = {{"token_lifetime_seconds", "2800"}};
  EXPECT_THAT(failure(account), HasSubstr("token_lifetime_seconds: expected an integer"));
  EXPECT_EQ(world_.http.requests.size(), 2U);
  account["service_account_impersonation_url"] = "";
  EXPECT_EQ(failure(account), "found federated");
}

TEST_F(GoogleExternalAccount, NamesItsClientToTheTokenService) {
  file("/token") = "s";
  answer(kStsUri, 200, token_json("t"));
  auto account = external_account({{"file", "/token"}});
  account["client_id"] = "c";
  account["client_secret"] = "s";
  fetch(account);
  EXPECT_EQ(sent().headers.back(), (std::pair<std::string, std::string>{"Authorization", "Basic Yzpz"}));
}

TEST_F(GoogleExternalAccount, SaysWhichSubjectTokenIsWrong) {
  const std::string from = "NoCredentials: credentials file \"/k.json\": subject token file \"/token\": ";
  const auto plain = external_account({{"file", "/token"}});
  const auto structured = external_account(json_source({{"file", "/token"}}));
  EXPECT_EQ(failure(plain), from + "no such file");
  file("/token") = " \n";
  EXPECT_EQ(failure(plain), from + "it holds no token");
  EXPECT_EQ(failure(structured), from + "expected a JSON object");
  file("/token") = R"({"access_token":"hidden"})";
  EXPECT_EQ(failure(structured), from + "expected a string in \"id_token\"");
  file("/token") = R"({"id_token":7})";
  EXPECT_EQ(failure(structured), from + "expected a string in \"id_token\"");
  world_.files.unreadable = {"/token"};
  EXPECT_EQ(failure(plain), "FileError: reading \"/token\": permission denied");
  const auto url = external_account({{"url", kSubjectUrl}});
  EXPECT_EQ(
      failure(url),
      "NoCredentials: credentials file \"/k.json\": subject token from 169.254.169.254: connecting to nowhere: no "
      "answer in 1000 ms");
  answer(kSubjectUrl, 403, "hidden");
  EXPECT_EQ(failure(url),
            "NoCredentials: credentials file \"/k.json\": subject token from 169.254.169.254: status 403");
}

TEST_F(GoogleExternalAccount, RefusesWhatItDoesNotDo) {
  const std::string from = "NoCredentials: credentials file \"/k.json\": ";
  EXPECT_EQ(failure(external_account({{"executable", {{"command", "/bin/hidden"}}}})),
            from + "credential_source.executable: sources that run a program are not supported");
  EXPECT_EQ(failure(external_account({{"certificate", json::object()}})),
            from + "credential_source.certificate: sources with a certificate are not supported");
  EXPECT_EQ(failure(external_account(json::object())),
            from + "credential_source: expected file, url or environment_id");
  EXPECT_EQ(failure(external_account("x")), from + "credential_source: expected an object");
  EXPECT_EQ(failure(external_account({{"file", "/a"}, {"url", "https://b"}})),
            from + "credential_source.url: expected either file or url, found both");
  EXPECT_EQ(failure(external_account({{"file", "/a"}, {"format", {{"type", "xml"}}}})),
            from + "credential_source.format.type: expected text or json");
  EXPECT_EQ(failure(external_account({{"file", "/a"}, {"format", {{"type", "json"}}}})),
            from + "credential_source.format.subject_token_field_name: expected a string, it is missing or empty");
  EXPECT_EQ(failure(external_account({{"url", "https://b"}, {"headers", {{"a", 1}}}})),
            from + "credential_source.headers: expected an object of strings");
  auto workforce = external_account({{"file", "/a"}});
  workforce["workforce_pool_user_project"] = "p";
  EXPECT_EQ(failure(workforce), from +
                                    "workforce_pool_user_project: workforce pools are not supported, workload identity "
                                    "pools are");
  for (const auto* key : {"audience", "subject_token_type", "token_url"}) {
    auto account = external_account({{"file", "/a"}});
    account.erase(key);
    EXPECT_EQ(failure(account), from + key + ": expected a string, it is missing or empty");
  }
  EXPECT_TRUE(world_.http.requests.empty());
}

TEST_F(GoogleExternalAccount, TakesTokensOverTlsOrFromThisMachine) {
  EXPECT_EQ(failure(external_account({{"url", "http://idp.example.com/t"}})),
            "NoCredentials: credentials file \"/k.json\": credential_source.url: expected an https URL: plain http is "
            "for this machine and link-local addresses");
  auto account = external_account({{"file", "/a"}});
  account["token_url"] = "http://169.254.169.254/token";
  EXPECT_THAT(failure(account), HasSubstr("token_url: expected an https URL: plain http is for this machine"));
  account = external_account({{"file", "/a"}});
  account["service_account_impersonation_url"] = "http://iamcredentials.googleapis.com/";
  EXPECT_THAT(failure(account), HasSubstr("service_account_impersonation_url: expected an https URL"));
  EXPECT_TRUE(world_.http.requests.empty());
}

TEST_F(GoogleExternalAccount, NeverRepeatsTheSubjectToken) {
  file("/token") = "hidden.subject.token";
  answer(kStsUri, 400,
         R"({"error":"invalid_grant","error_description":"can't verify hidden.subject.token of the audience"})");
  EXPECT_EQ(failure(external_account({{"file", "/token"}})),
            "invalid_grant: credentials file '/k.json': token from sts.googleapis.com: invalid_grant: can't verify *** "
            "of the audience");
}

}  // namespace
}  // namespace burst::auth
