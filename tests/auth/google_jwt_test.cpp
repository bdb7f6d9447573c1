// SPDX-License-Identifier: Apache-2.0
// Tests of the assertions that a service account's key signs, and of their encoding.
#include "auth/google_jwt.h"

#include <vector>

#include "auth/google_base64.h"
#include "google_fixture.h"

namespace burst::auth {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr sys_seconds kNow{seconds{1'780'000'000}};

GoogleServiceAccountKey key_of(const std::string& pem) {
  return {"a@p.iam.gserviceaccount.com", "kid-1", Secret(pem), "https://oauth2.googleapis.com/token"};
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool verifies(EVP_PKEY* key, const std::string& text, const std::string& signature) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
}

TEST(GoogleJwt, SaysWhoAsksForWhatWhereAndWhen) {
  const auto assertion = sign_google_assertion(key_of(rsa_key().pem), kNow);
  ASSERT_TRUE(assertion);
  const auto parts = split(assertion->reveal());
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(json::parse(from_base64_url(parts[0])), (json{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "kid-1"}}));
  EXPECT_EQ(json::parse(from_base64_url(parts[1])), (json{{"iss", "a@p.iam.gserviceaccount.com"},
                                                          {"scope", "https://www.googleapis.com/auth/cloud-platform"},
                                                          {"aud", "https://oauth2.googleapis.com/token"},
                                                          {"iat", 1'780'000'000},
                                                          {"exp", 1'780'003'600}}));
}

TEST(GoogleJwt, BearsASignatureThatTheKeyVerifies) {
  const auto assertion = sign_google_assertion(key_of(rsa_key().pem), kNow);
  ASSERT_TRUE(assertion);
  const auto parts = split(assertion->reveal());
  ASSERT_EQ(parts.size(), 3U);
  const auto signature = from_base64_url(parts[2]);
  EXPECT_EQ(signature.size(), 256U);
  EXPECT_TRUE(verifies(rsa_key().key.get(), parts[0] + "." + parts[1], signature));
  EXPECT_FALSE(verifies(rsa_key().key.get(), parts[0] + "." + parts[1] + "x", signature));
  EXPECT_EQ(assertion->reveal().find_first_of("+/="), std::string::npos);
}

TEST(GoogleJwt, NamesNoKeyWithoutAnId) {
  auto key = key_of(rsa_key().pem);
  key.id.clear();
  const auto header = split(sign_google_assertion(key, kNow)->reveal()).at(0);
  EXPECT_EQ(json::parse(from_base64_url(header)), (json{{"alg", "RS256"}, {"typ", "JWT"}}));
}

TEST(GoogleJwt, TakesNoOtherKeys) {
  const TestKey curve(EVP_EC_gen("P-256"));
  for (const auto& pem : {std::string(), std::string("no key"), rsa_key().pem.substr(0, 400), curve.pem,
                          rsa_key().encrypted_pem()}) {  // the last one without asking the terminal for a passphrase
    EXPECT_FALSE(sign_google_assertion(key_of(pem), kNow)) << pem;
  }
  EXPECT_TRUE(sign_google_assertion(key_of(rsa_key().pem), kNow));
}

TEST(GoogleBase64, FollowsTheRfcsExamples) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xfb\xff\xfe"), "+//+");
  EXPECT_EQ(base64_url("\xfb\xff\xfe"), "-__-");
  EXPECT_EQ(base64_url("fo"), "Zm8");
}

}  // namespace
}  // namespace burst::auth
