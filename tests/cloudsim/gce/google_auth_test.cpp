// SPDX-License-Identifier: Apache-2.0
#include "gce/google_auth.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "ec2/sigv4.h"

namespace cloudsim::gce {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kScope = "https://www.googleapis.com/auth/cloud-platform";
constexpr std::string_view kAudience =
    "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x";

std::string encoded(std::string_view text, std::string_view plain = "-._~") {
  std::string out;
  for (const char c : text) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      plain.find(c) != std::string_view::npos;
    out += kept ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string form(const std::map<std::string, std::string>& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    out += (out.empty() ? "" : "&") + name + "=" + encoded(value);
  }
  return out;
}

std::string base64url(std::string_view text) {
  std::string out(text.size() * 2 + 8, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(size));
  out.erase(std::min(out.find('='), out.size()));
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

std::string sign(const std::string& pem, const std::string& text) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new_mem_buf(pem.data(), -1), BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get());
  std::string out(512, '\0');
  std::size_t size = out.size();
  EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                 reinterpret_cast<const unsigned char*>(text.data()), text.size());
  out.resize(size);
  return out;
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class GceAuth : public testing::Test {
 protected:
  GceAuth() { auth_.start("http://sim"); }

  std::pair<int, Json> post(const std::string& path, const std::map<std::string, std::string>& fields) {
    return answer({"POST", path, "", {{"content-type", "application/x-www-form-urlencoded"}}, form(fields)});
  }
  std::pair<int, Json> answer(const HttpRequest& request) {
    EXPECT_TRUE(GoogleAuth::action_of(request));
    const auto reply = auth_.answer(request);
    return {reply.status, Json::parse(reply.body)};
  }
  Json key() { return *auth_.control({"GET", "/_control/gce/service_account_key", "", {}, ""}); }

  /// The answer to an assertion with these claims changed.
  std::pair<int, Json> jwt(const Json& changes = Json::object(), const Json& header_changes = Json::object()) {
    const auto file = key();
    Json header{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", file["private_key_id"]}};
    Json claims{{"iss", file["client_email"]},
                {"aud", file["token_uri"]},
                {"scope", kScope},
                {"iat", seconds_now()},
                {"exp", seconds_now() + 3600}};
    header.update(header_changes);
    claims.update(changes);
    const auto text = base64url(header.dump()) + "." + base64url(claims.dump());
    const auto assertion = text + "." + base64url(sign(file["private_key"], text));
    return post("/token", {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", assertion}});
  }
  static HttpRequest with_token(const std::string& token) {
    return {"GET", "/compute/v1/projects/p/zones", "", {{"authorization", "Bearer " + token}}, ""};
  }
  bool lets_in(const std::string& token) { return auth_.authorized(with_token(token)); }

  std::map<std::string, std::string> exchange() const {
    return {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
            {"audience", std::string(kAudience)},
            {"scope", std::string(kScope)},
            {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
            {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
            {"subject_token", "cloudsim-subject-token"}};
  }
  std::pair<int, Json> impersonate(const std::string& email, const Json& body, const std::string& token) {
    return answer({"POST",
                   "/v1/projects/-/serviceAccounts/" + email + ":generateAccessToken",
                   "",
                   {{"authorization", "Bearer " + token}, {"content-type", "application/json"}},
                   body.dump()});
  }

  GoogleAuth auth_{7};
};

TEST_F(GceAuth, GivesATokenForAGoodAssertion) {
  const auto [status, body] = jwt();
  ASSERT_EQ(status, 200) << body;
  EXPECT_EQ(body["expires_in"], 3600);
  EXPECT_EQ(body["token_type"], "Bearer");
  EXPECT_TRUE(lets_in(body["access_token"]));
  EXPECT_EQ(jwt({{"aud", "https://oauth2.googleapis.com/token"}}).first, 200);
}

TEST_F(GceAuth, RefusesABadAssertionAsGoogleDoes) {
  const auto timeframe =
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and "
      "exp values in the JWT claim.";
  const auto now = seconds_now();
  const std::vector<std::pair<Json, std::string>> cases{
      {{{"iss", "other@p.iam.gserviceaccount.com"}}, "Invalid grant: account not found"},
      {{{"exp", now - 10}, {"iat", now - 3000}}, timeframe},
      {{{"exp", now + 3700}}, timeframe},
      {{{"iat", now + 3000}}, timeframe},
      {{{"iat", "now"}}, timeframe},
      {{{"exp", 1e300}}, timeframe},
      {{{"aud", "https://example.com/token"}},
       "Invalid JWT: Failed audience check. The right audience is https://oauth2.googleapis.com/token"},
  };
  for (const auto& [claims, description] : cases) {
    const auto [status, body] = jwt(claims);
    EXPECT_EQ(status, 400) << claims;
    EXPECT_EQ(body, (Json{{"error", "invalid_grant"}, {"error_description", description}})) << claims;
  }
  EXPECT_EQ(jwt({{"scope", "everything"}}).second["error"], "invalid_scope");
  EXPECT_EQ(jwt(Json::object(), {{"alg", "HS256"}}).second["error"], "invalid_grant");
  EXPECT_EQ(jwt(Json::object(), {{"alg", 1}}).first, 400);
  EXPECT_EQ(jwt(Json::object(), {{"kid", "0123"}}).second["error_description"], "Invalid JWT Signature.");
}

TEST_F(GceAuth, RefusesAnAssertionOfAnotherKey) {
  const auto good = key();
  auth_.set_knob("service_account_key", RsaKey::generate().private_pem());
  const auto text =
      base64url(R"({"alg":"RS256"})") + "." +
      base64url(Json{{"iss", good["client_email"]}, {"aud", good["token_uri"]}, {"scope", kScope}}.dump());
  const auto [status, body] = post("/token", {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                                              {"assertion", text + "." + base64url(sign(good["private_key"], text))}});
  EXPECT_EQ(status, 400);
  EXPECT_EQ(body["error_description"], "Invalid JWT Signature.");
  EXPECT_NE(key()["private_key"], good["private_key"]);
  EXPECT_THROW(auth_.set_knob("service_account_key", "no key"), std::invalid_argument);
}

TEST_F(GceAuth, RefusesOtherGrantsAndRequests) {
  EXPECT_EQ(post("/token", {{"grant_type", "password"}}).second["error"], "unsupported_grant_type");
  EXPECT_EQ(post("/token", {}).second["error"], "invalid_request");
  EXPECT_EQ(answer({"POST", "/token", "", {}, "x"}).first, 400);
  EXPECT_EQ(answer({"GET", "/token", "", {}, ""}).first, 404);
}

TEST_F(GceAuth, RefreshesATokenForTheRightClientOnly) {
  std::map<std::string, std::string> fields{{"grant_type", "refresh_token"},
                                            {"client_id", "cloudsim.apps.googleusercontent.com"},
                                            {"client_secret", "cloudsim-client-secret"},
                                            {"refresh_token", "1//cloudsim-refresh-token"}};
  EXPECT_TRUE(lets_in(post("/token", fields).second["access_token"]));
  for (const auto& [name, error] : {std::pair{"client_id", "invalid_client"},
                                    {"client_secret", "invalid_client"},
                                    {"refresh_token", "invalid_grant"}}) {
    auto wrong = fields;
    wrong[name] = "x";
    EXPECT_EQ(post("/token", wrong).second["error"], error) << name;
  }
}

TEST_F(GceAuth, TokensEndWithTheirLifetimeAndOnDemand) {
  const std::string token = jwt().second["access_token"];
  auth_.control({"POST", "/_control/gce/tokens/expire", "", {}, ""});
  EXPECT_FALSE(lets_in(token));
  EXPECT_TRUE(lets_in(jwt().second["access_token"]));
  auth_.set_knob("token_seconds", 0);
  const auto short_lived = jwt().second;
  EXPECT_EQ(short_lived["expires_in"], 0);
  EXPECT_FALSE(lets_in(short_lived["access_token"]));
  auth_.reset();
  EXPECT_EQ(jwt().second["expires_in"], 3600);
}

TEST_F(GceAuth, AsksForATokenWithTheRightScope) {
  EXPECT_TRUE(lets_in(jwt({{"scope", "https://www.googleapis.com/auth/compute"}}).second["access_token"]));
  EXPECT_FALSE(
      lets_in(jwt({{"scope", "https://www.googleapis.com/auth/devstorage.full_control"}}).second["access_token"]));
  EXPECT_FALSE(lets_in("ya29.guess"));
  HttpRequest bare{"GET", "/compute/v1/projects/p/zones", "", {}, ""};
  EXPECT_FALSE(auth_.authorized(bare));
  EXPECT_EQ(auth_.refusal_of(bare).reason, "required");
  EXPECT_EQ(auth_.refusal_of(with_token("x")).reason, "authError");
  EXPECT_EQ(auth_.refusal_of(with_token("x")).status_text, "UNAUTHENTICATED");
  const std::string narrow = jwt({{"scope", "https://www.googleapis.com/auth/userinfo.email"}}).second["access_token"];
  EXPECT_FALSE(lets_in(narrow));
  EXPECT_EQ(auth_.refusal_of(with_token(narrow)).status, 403);
  auth_.set_knob("verify_tokens", false);
  EXPECT_TRUE(auth_.authorized(bare));
}

TEST_F(GceAuth, ExchangesTheKnownSubjectToken) {
  const auto [status, body] = post("/v1/token", exchange());
  ASSERT_EQ(status, 200) << body;
  EXPECT_EQ(body["issued_token_type"], "urn:ietf:params:oauth:token-type:access_token");
  EXPECT_TRUE(lets_in(body["access_token"]));
  Json as_json;
  for (const auto& [name, value] : exchange()) {
    as_json[name == "grant_type" ? "grantType" : name] = value;
  }
  EXPECT_EQ(answer({"POST", "/v1/token", "", {{"content-type", "application/json"}}, as_json.dump()}).first, 200);
}

TEST_F(GceAuth, RefusesABadExchange) {
  const std::vector<std::pair<std::string, std::string>> cases{{"grant_type", "unsupported_grant_type"},
                                                               {"audience", "invalid_request"},
                                                               {"requested_token_type", "invalid_request"},
                                                               {"subject_token_type", "invalid_request"},
                                                               {"subject_token", "invalid_grant"}};
  for (const auto& [name, error] : cases) {
    auto fields = exchange();
    fields[name] = "x";
    const auto [status, body] = post("/v1/token", fields);
    EXPECT_EQ(status, 400) << name;
    EXPECT_EQ(body["error"], error) << name;
    fields.erase(name);
    EXPECT_EQ(post("/v1/token", fields).second["error"], "invalid_request") << name;
  }
}

/// The serialized GetCallerIdentity request, signed with `secret`.
std::string aws_subject_token(const std::string& secret, const std::string& target) {
  const std::string host = "sts.us-east-1.amazonaws.com";
  const std::string stamp = "20260131T000000Z";
  const HttpRequest request{"POST",
                            "/",
                            "Action=GetCallerIdentity&Version=2011-06-15",
                            {{"host", host}, {"x-amz-date", stamp}, {"x-goog-cloud-target-resource", target}},
                            ""};
  ec2::SignatureClaim claim{"AKIACLOUDSIM00000001",
                            "20260131",
                            "us-east-1",
                            "sts",
                            {"host", "x-amz-date", "x-goog-cloud-target-resource"},
                            ""};
  const auto signature =
      ec2::expected_signature(claim, stamp, ec2::canonical_request(request, claim.signed_headers), secret);
  const auto authorization = fmt::format(
      "AWS4-HMAC-SHA256 Credential=AKIACLOUDSIM00000001/20260131/us-east-1/sts/aws4_request, "
      "SignedHeaders=host;x-amz-date;x-goog-cloud-target-resource, Signature={}",
      signature);
  Json headers = Json::array();
  for (const auto& [name, value] : request.headers) {
    headers.push_back({{"key", name}, {"value", value}});
  }
  headers.push_back({{"key", "Authorization"}, {"value", authorization}});
  return encoded(
      Json{{"url", "https://" + host + "?" + request.query}, {"method", "POST"}, {"headers", headers}}.dump());
}

TEST_F(GceAuth, ExchangesASignedRequestToAws) {
  auth_.set_aws_verifier([](const HttpRequest& request) {
    const auto claim = ec2::parse_authorization(request.header("authorization"));
    return claim && ec2::expected_signature(*claim, request.header("x-amz-date"),
                                            ec2::canonical_request(request, claim->signed_headers),
                                            "cloudsim-secret-key") == claim->signature;
  });
  auto fields = exchange();
  fields["subject_token_type"] = "urn:ietf:params:aws:token-type:aws4_request";
  fields["subject_token"] = aws_subject_token("cloudsim-secret-key", std::string(kAudience));
  const auto [status, body] = post("/v1/token", fields);
  EXPECT_EQ(status, 200) << body;
  for (const auto& wrong :
       {aws_subject_token("another-key", std::string(kAudience)),
        aws_subject_token("cloudsim-secret-key", "//iam.googleapis.com/other"), std::string("{}"), std::string("x")}) {
    fields["subject_token"] = wrong;
    EXPECT_EQ(post("/v1/token", fields).second["error"], "invalid_grant");
  }
}

TEST_F(GceAuth, GivesTokensOfOtherServiceAccounts) {
  const std::string token = jwt().second["access_token"];
  const std::string email = "runner@p.iam.gserviceaccount.com";
  const auto [status, body] = impersonate(email, {{"scope", {kScope}}, {"lifetime", "600s"}}, token);
  ASSERT_EQ(status, 200) << body;
  EXPECT_TRUE(lets_in(body["accessToken"]));
  EXPECT_TRUE(body["expireTime"].get<std::string>().ends_with("Z"));
  EXPECT_EQ(impersonate(email, {{"scope", {kScope}}}, "x").first, 401);
  EXPECT_EQ(impersonate(email, Json::object(), token).first, 400);
  EXPECT_EQ(impersonate(email, {{"scope", {kScope}}, {"lifetime", "7200s"}}, token).first, 400);
  EXPECT_EQ(impersonate(email, {{"scope", {kScope}}, {"lifetime", 600}}, token).first, 400);
  EXPECT_EQ(impersonate(email, {{"scope", {kScope}}, {"scopes", 1}}, token).first, 400);
  auth_.set_knob("not_impersonable", {email});
  const auto refused = impersonate(email, {{"scope", {kScope}}}, token);
  EXPECT_EQ(refused.first, 403);
  EXPECT_EQ(refused.second["error"]["status"], "PERMISSION_DENIED");
}

}  // namespace
}  // namespace cloudsim::gce
