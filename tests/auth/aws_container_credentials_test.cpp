// SPDX-License-Identifier: Apache-2.0
// Tests of credentials from a container's endpoint.
#include "auth/aws_container_credentials.h"

#include "aws_fixture.h"

namespace burst::auth {
namespace {

using ::testing::HasSubstr;

class AwsContainer : public AwsWorld {
 protected:
  std::optional<AwsCredentials> fetch() { return fetch_container_credentials(world_.services()); }
  std::string refusal() {
    try {
      return fetch() ? "found" : "nothing";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

TEST_F(AwsContainer, IsNotAskedUnlessNamed) {
  EXPECT_FALSE(fetch());
  EXPECT_TRUE(world_.http.requests.empty());
}

TEST_F(AwsContainer, PrefersTheRelativeUri) {
  variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") = "/v2/credentials/1";
  variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") = "http://localhost/x";
  answer("http://169.254.170.2/v2/credentials/1", 200, keys_json("ASIAC", "2030-01-01T00:00:00Z"));
  EXPECT_EQ(fetch()->access_key_id, "ASIAC");
  EXPECT_EQ(world_.http.requests.at(0).headers, (HttpHeaders{{"Accept", "application/json"}}));
}

TEST_F(AwsContainer, AllowsPlainHttpForLocalAddressesOnly) {
  for (const std::string host :
       {"localhost", "127.0.0.1:80", "127.1.2.3", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"}) {
    variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") = "http://" + host + "/x";
    answer("http://" + host + "/x", 200, keys_json("A", "2030-01-01T00:00:00Z"));
    EXPECT_EQ(refusal(), "found") << host;
  }
  world_.http.requests.clear();
  for (const std::string host : {"example.com", "169.254.170.22", "127.0.0.1.example.com", "localhost@example.com"}) {
    variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") = "http://" + host + "/x";
    EXPECT_THAT(refusal(), HasSubstr("plain http is for this machine")) << host;
  }
  EXPECT_TRUE(world_.http.requests.empty());
  variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") = "https://example.com/x";
  answer("https://example.com/x", 200, keys_json("A", "2030-01-01T00:00:00Z"));
  EXPECT_EQ(refusal(), "found");
}

TEST_F(AwsContainer, SendsTheAuthorizationToken) {
  variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") = "http://localhost/x";
  answer("http://localhost/x", 200, keys_json("A", "2030-01-01T00:00:00Z"));
  variable("AWS_CONTAINER_AUTHORIZATION_TOKEN") = "from-variable";
  fetch();
  EXPECT_EQ(world_.http.requests.back().headers.back().second, "from-variable");
  variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") = "/token";
  world_.files.content["/token"] = "from-file\n";
  fetch();
  EXPECT_EQ(world_.http.requests.back().headers.back().second, "from-file");
  world_.files.content["/token"] = "hidden\r\nX-Injected: 1";
  EXPECT_EQ(refusal(), "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: expected a token without line breaks");
  world_.files.content.clear();
  EXPECT_THAT(refusal(), HasSubstr("no such file: \"/token\""));
}

TEST_F(AwsContainer, TriesAgainAndThenSaysWhatCame) {
  variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") = "/x";
  EXPECT_EQ(refusal(), "container credentials from 169.254.170.2: connecting to nowhere: no answer in 1000 ms");
  EXPECT_EQ(world_.http.requests.size(), 3U);
  answer("http://169.254.170.2/x", 500, "broken\n");
  EXPECT_THAT(refusal(), HasSubstr("container credentials from 169.254.170.2: status 500: broken"));
  answer("http://169.254.170.2/x", 200, "no json");
  EXPECT_EQ(refusal(), "container credentials from 169.254.170.2: expected a JSON object");
}

}  // namespace
}  // namespace burst::auth
