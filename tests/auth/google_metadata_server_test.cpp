// SPDX-License-Identifier: Apache-2.0
// Tests of tokens from the metadata server.
#include "auth/google_metadata_server.h"

#include "google_fixture.h"

namespace burst::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GoogleMetadata : public GoogleWorld {
 protected:
  static constexpr auto* kByName =
      "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token";
  static constexpr auto* kByAddress =
      "http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token";
  const HttpHeaders flavor_{{"Metadata-Flavor", "Google"}};
  std::string note_;

  std::string fetch_metadata() {
    try {
      const auto found = fetch_google_metadata_token(world_.services(), note_);
      return found ? found->token.reveal() : "nothing";
    } catch (const Error& error) {
      return error.code() + ": " + error.what();
    }
  }
  std::vector<std::string> urls() {
    std::vector<std::string> urls;
    for (const auto& request : world_.http.requests) urls.push_back(request.url);
    return urls;
  }
};

TEST_F(GoogleMetadata, GivesTheMachinesToken) {
  metadata("ya29.vm", 3000);
  const auto found = fetch_google_metadata_token(world_.services(), note_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->token.reveal(), "ya29.vm");
  EXPECT_EQ(found->expires.time_since_epoch().count(), now() + 3000);
  ASSERT_EQ(world_.http.requests.size(), 1U);
  EXPECT_EQ(sent().method, "GET");
  EXPECT_EQ(sent().url, kByName);
  EXPECT_EQ(sent().headers, flavor_);
}

TEST_F(GoogleMetadata, IsAskedByAddressWhenItsNameLeadsNowhere) {
  answer(kByAddress, 200, token_json("t"), flavor_);
  EXPECT_EQ(fetch_metadata(), "t");
  EXPECT_EQ(urls(), (std::vector<std::string>{kByName, kByAddress}));
}

TEST_F(GoogleMetadata, IsWhereTheEnvironmentSays) {
  metadata("not this one");
  variable("GCE_METADATA_HOST") = "127.0.0.1:8080";
  answer(std::string("http://127.0.0.1:8080") + kMetadataPath, 200, token_json("t"), flavor_);
  EXPECT_EQ(fetch_metadata(), "t");
  answers_.erase(std::string("http://127.0.0.1:8080") + kMetadataPath);
  EXPECT_EQ(fetch_metadata(), "nothing");
  EXPECT_EQ(world_.http.requests.size(), 2U);
  for (const auto* host : {"http://x", "x/y", "a b", "u@h", "x:y"}) {
    variable("GCE_METADATA_HOST") = host;
    EXPECT_EQ(fetch_metadata(),
              std::string("NoCredentials: GCE_METADATA_HOST: expected HOST or HOST:PORT, found \"") + host + "\"");
  }
}

TEST_F(GoogleMetadata, IsOnlyGooglesOwn) {
  answer(kByName, 200, token_json("hidden"));
  answer(kByAddress, 401, "", {{"Metadata-Flavor", "Other"}});
  EXPECT_EQ(fetch_metadata(), "nothing");
  EXPECT_EQ(note_,
            "metadata server: metadata.google.internal is not Google's: status 200 without Metadata-Flavor, "
            "169.254.169.254 is not Google's: status 401 without Metadata-Flavor");
}

TEST_F(GoogleMetadata, IsGivenUpAfterOneTryEachWhereNobodyAnswers) {
  EXPECT_EQ(fetch_metadata(), "nothing");
  EXPECT_EQ(urls(), (std::vector<std::string>{kByName, kByAddress}));
  EXPECT_EQ(
      note_,
      "metadata server: connecting to nowhere: no answer in 1000 ms, connecting to nowhere: no answer in 1000 ms");
}

TEST_F(GoogleMetadata, SaysWhyItGivesNone) {
  answer(kByName, 404, "hidden", flavor_);
  EXPECT_EQ(fetch_metadata(),
            "NoCredentials: metadata server metadata.google.internal: the machine has no service account");
  EXPECT_EQ(world_.http.requests.size(), 1U);
  answer(kByName, 403, "Your client does not\nhave permission", flavor_);
  EXPECT_EQ(
      fetch_metadata(),
      "NoCredentials: metadata server metadata.google.internal: status 403: Your client does not have permission");
  world_.http.requests.clear();
  answer(kByName, 503, "", flavor_);
  EXPECT_THAT(fetch_metadata(), HasSubstr("status 503"));
  EXPECT_EQ(world_.http.requests.size(), 7U);
  answer(kByName, 200, R"({"access_token":"hidden"})", flavor_);
  EXPECT_THAT(fetch_metadata(), HasSubstr("metadata.google.internal: expires_in: expected a positive number"));
  EXPECT_THAT(fetch_metadata(), Not(HasSubstr("hidden")));
}

}  // namespace
}  // namespace burst::auth
