// SPDX-License-Identifier: Apache-2.0
// Tests of taking on a role.
#include "auth/aws_sts.h"

#include "aws_fixture.h"

namespace burst::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const AwsCredentials kSource{"AKIASOURCE", Secret("hidden"), Secret(), std::nullopt};

class AwsSts : public AwsWorld {
 protected:
  std::string authorization() {
    HttpResponse lookup;
    lookup.headers = world_.http.requests.back().headers;
    return std::string(lookup.header("Authorization").value_or(""));
  }
};

TEST_F(AwsSts, AssumesARoleByASignedForm) {
  sts({reply(200, sts_reply("AssumeRole", "ASIA1"))});
  const AwsRole role{"arn:aws:iam::1:role/a b", "me", "ext/1", 900};
  const auto found = assume_role(role, kSource, "us-east-1", world_.services());
  EXPECT_EQ(found.access_key_id, "ASIA1");
  EXPECT_EQ(found.secret_access_key.reveal(), "s3cret");
  EXPECT_EQ(found.session_token.reveal(), "t0ken");
  EXPECT_EQ(found.expires->time_since_epoch().count(), 1'780'003'600);
  const auto& request = world_.http.requests.back();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.body,
            "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b&RoleSessionName=me&"
            "ExternalId=ext%2F1&DurationSeconds=900");
  EXPECT_THAT(authorization(),
              StartsWith("AWS4-HMAC-SHA256 Credential=AKIASOURCE/20260528/us-east-1/sts/aws4_request, "));
}

TEST_F(AwsSts, NamesASessionAfterTheTime) {
  sts({reply(200, sts_reply("AssumeRole", "ASIA1"))});
  assume_role({"arn", "", "", {}}, kSource, "", world_.services());  // an empty region is us-east-1
  EXPECT_THAT(world_.http.requests.back().body, HasSubstr("&RoleSessionName=slurm-burst-1780000000"));
  EXPECT_THAT(world_.http.requests.back().body, Not(HasSubstr("ExternalId")));
}

TEST_F(AwsSts, SendsAWebIdentityTokenUnsignedAndReadsItEachTime) {
  sts({reply(200, sts_reply("AssumeRoleWithWebIdentity", "ASIAW"))});
  for (const std::string token : {"first", "second"}) {
    world_.files.content["/token"] = token + "\n";
    const auto found = assume_role_with_web_identity({"arn", "me", "", {}}, "/token", "us-east-1", world_.services());
    EXPECT_EQ(found.access_key_id, "ASIAW");
    EXPECT_THAT(world_.http.requests.back().body, ::testing::EndsWith("&WebIdentityToken=" + token));
    EXPECT_EQ(authorization(), "");
  }
  world_.files.content.clear();
  EXPECT_THROW(assume_role_with_web_identity({"arn", "", "", {}}, "/token", "us-east-1", world_.services()), Error);
}

TEST_F(AwsSts, TriesAgainWhenThrottled) {
  sts({reply(400, sts_error("Throttling")), reply(503, "busy"), reply(200, sts_reply("AssumeRole", "ASIA1"))});
  EXPECT_EQ(assume_role({"arn", "", "", {}}, kSource, "us-east-1", world_.services()).access_key_id, "ASIA1");
  EXPECT_EQ(world_.http.requests.size(), 3U);
}

TEST_F(AwsSts, PassesItsRefusalOnAndDoesNotAskAgain) {
  sts({reply(403, sts_error("AccessDenied"))});
  try {
    assume_role({"arn:r", "", "", {}}, kSource, "us-east-1", world_.services());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "AccessDenied");
    EXPECT_STREQ(error.what(), "assuming role 'arn:r': AccessDenied: said no (request req-1)");
  }
  EXPECT_EQ(world_.http.requests.size(), 1U);
}

TEST_F(AwsSts, DoesNotTakeAnEmptyReplyForCredentials) {
  for (const std::string body : {"", "<html/>", "<AssumeRoleResponse><AssumeRoleResult/></AssumeRoleResponse>"}) {
    sts({reply(200, body)});
    EXPECT_THROW(assume_role({"arn", "", "", {}}, kSource, "us-east-1", world_.services()), Error) << body;
  }
}

}  // namespace
}  // namespace burst::auth
