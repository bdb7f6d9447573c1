// SPDX-License-Identifier: Apache-2.0
// Tests of credentials from the instance metadata service.
#include "auth/aws_imds.h"

#include "aws_fixture.h"

namespace burst::auth {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;

class AwsImds : public AwsWorld {
 protected:
  std::optional<AwsCredentials> fetch() { return fetch_imds_credentials(world_.services(), note_); }
  std::string note_;
};

TEST_F(AwsImds, GivesTheRolesKeysWithASessionToken) {
  instance_role("ASIA1");
  const auto found = fetch();
  ASSERT_TRUE(found) << note_;
  EXPECT_EQ(found->access_key_id, "ASIA1");
  EXPECT_EQ(found->secret_access_key.reveal(), "s3cret");
  EXPECT_EQ(found->session_token.reveal(), "t0ken");
  EXPECT_EQ(found->expires->time_since_epoch().count(), 1'780'012'800);
  ASSERT_EQ(world_.http.requests.size(), 3U);
  EXPECT_EQ(world_.http.requests[0].method, "PUT");
  EXPECT_EQ(world_.http.requests[0].headers, (HttpHeaders{{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}}));
  for (const int i : {1, 2}) {
    EXPECT_EQ(world_.http.requests[static_cast<std::size_t>(i)].headers,
              (HttpHeaders{{"x-aws-ec2-metadata-token", "imds-token"}}));
  }
}

TEST_F(AwsImds, AsksWithoutATokenWhereThereAreNone) {
  for (const int status : {0, 403, 404, 405}) {
    instance_role("ASIA1");
    answer("http://169.254.169.254/latest/api/token", status, "");
    world_.http.requests.clear();
    EXPECT_TRUE(fetch()) << status;
    EXPECT_TRUE(world_.http.requests.back().headers.empty());
  }
}

TEST_F(AwsImds, GivesUpWhenTheTokenRequestIsMalformed) {
  instance_role("ASIA1");
  answer("http://169.254.169.254/latest/api/token", 400, "");
  EXPECT_FALSE(fetch());
  EXPECT_EQ(note_, "instance metadata at 169.254.169.254: status 400 to a token request");
  EXPECT_EQ(world_.http.requests.size(), 1U);
}

TEST_F(AwsImds, IsFoundWhereTheVariablesSay) {
  const std::vector<std::tuple<std::string, std::string, std::string>> rows{
      {"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:5000/i-1", "http://127.0.0.1:5000/i-1/latest/api/token"},
      {"AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:5000/", "http://127.0.0.1:5000/latest/api/token"},
      {"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv6", "http://[fd00:ec2::254]/latest/api/token"},
      {"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv4", "http://169.254.169.254/latest/api/token"},
  };
  for (const auto& [name, value, url] : rows) {
    world_.environment.variables = {{name, value}};
    world_.http.requests.clear();
    EXPECT_FALSE(fetch());
    EXPECT_EQ(world_.http.requests.at(0).url, url);
  }
}

TEST_F(AwsImds, IsNotAskedWhenDisabled) {
  instance_role("ASIA1");
  variable("AWS_EC2_METADATA_DISABLED") = "True";
  EXPECT_FALSE(fetch());
  EXPECT_EQ(note_, "instance metadata: AWS_EC2_METADATA_DISABLED is set");
  EXPECT_TRUE(world_.http.requests.empty());
}

TEST_F(AwsImds, AsksAsOftenAsTheVariableSays) {
  variable("AWS_METADATA_SERVICE_NUM_ATTEMPTS") = "3";
  EXPECT_FALSE(fetch());
  EXPECT_EQ(world_.http.requests.size(), 6U);
  world_.http.requests.clear();
  variable("AWS_METADATA_SERVICE_NUM_ATTEMPTS") = "many";
  EXPECT_FALSE(fetch());
  EXPECT_EQ(world_.http.requests.size(), 2U);
}

TEST_F(AwsImds, SaysWhyThereIsNone) {
  EXPECT_FALSE(fetch());
  EXPECT_EQ(note_, "instance metadata at 169.254.169.254: connecting to nowhere: no answer in 1000 ms");
  instance_role("ASIA1");
  answer(kImds, 404, "not found");
  EXPECT_FALSE(fetch());
  EXPECT_EQ(note_, "instance metadata at 169.254.169.254: the instance has no role");
  instance_role("ASIA1");
  answer(std::string(kImds) + "role-a", 200,
         R"({"Code":"AssumeRoleUnauthorizedAccess","Message":"EC2 cannot assume"})");
  EXPECT_FALSE(fetch());
  EXPECT_EQ(note_,
            "instance metadata at 169.254.169.254: role role-a: AssumeRoleUnauthorizedAccess: EC2 cannot assume");
  answer(std::string(kImds) + "role-a", 200, R"({"AccessKeyId":"A","SecretAccessKey":"hidden","Token":"hidden"})");
  EXPECT_FALSE(fetch());
  EXPECT_THAT(note_, HasSubstr("Expiration is missing"));
  EXPECT_THAT(note_, Not(HasSubstr("hidden")));
}

TEST_F(AwsImds, GoesOnWithKeysThatTheServiceFailedToRenew) {
  const auto now = std::chrono::floor<std::chrono::seconds>(world_.clock.now());
  instance_role("ASIA1", "2026-05-28T20:00:00Z");  // before the fake clock's 20:26:40
  const auto found = fetch();
  ASSERT_TRUE(found);
  EXPECT_GE(*found->expires, now + minutes(17));
  EXPECT_LE(*found->expires, now + minutes(25));
  EXPECT_THAT(world_.log.text(), HasSubstr("going on with them"));
}

}  // namespace
}  // namespace burst::auth
