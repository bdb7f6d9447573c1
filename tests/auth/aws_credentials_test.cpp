// SPDX-License-Identifier: Apache-2.0
// Tests of the chain of places that credentials come from, and of the cache before it.
#include "auth/aws_credentials.h"

#include <thread>

#include "aws_fixture.h"

namespace burst::auth {
namespace {

using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class AwsChain : public AwsWorld {
 protected:
  void environment_keys() {
    variable("AWS_ACCESS_KEY_ID") = "AKIAENV";
    variable("AWS_SECRET_ACCESS_KEY") = "env-secret";
  }
  std::string last_body() { return world_.http.requests.back().body; }
};

TEST_F(AwsChain, TakesEachPlaceWhenThoseBeforeItAreEmpty) {
  environment_keys();
  credentials("[default]\naws_access_key_id=AKIAFILE\naws_secret_access_key=s\n");
  config("[default]\naws_access_key_id=AKIACONFIG\naws_secret_access_key=s\ncredential_process=prog\n");
  world_.processes.handler = [](const ProcessRequest&) {
    return ProcessResult{0, false, R"({"Version":1,"AccessKeyId":"AKIAPROC","SecretAccessKey":"s"})", ""};
  };
  variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") = "/c";
  answer("http://169.254.170.2/c", 200, keys_json("ASIACONTAINER", "2026-05-29T00:00:00Z"));
  instance_role("ASIAROLE");

  EXPECT_EQ(get().access_key_id, "AKIAENV");
  variable("AWS_ACCESS_KEY_ID") = "";
  EXPECT_EQ(get().access_key_id, "AKIAFILE");
  credentials("[other]\n");
  EXPECT_EQ(get().access_key_id, "AKIAPROC");
  config("[default]\naws_access_key_id=AKIACONFIG\naws_secret_access_key=s\n");
  EXPECT_EQ(get().access_key_id, "AKIACONFIG");
  EXPECT_TRUE(world_.http.requests.empty());
  config("[default]\nregion=us-east-1\n");
  EXPECT_EQ(get().access_key_id, "ASIACONTAINER");
  world_.environment.variables.erase("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  EXPECT_EQ(get().access_key_id, "ASIAROLE");
}

TEST_F(AwsChain, ReadsTheEnvironmentsKeys) {
  environment_keys();
  EXPECT_EQ(get(), (AwsCredentials{"AKIAENV", Secret("env-secret"), Secret(), std::nullopt}));
  variable("AWS_SESSION_TOKEN") = "t1";
  EXPECT_EQ(get().session_token.reveal(), "t1");
  variable("AWS_SECURITY_TOKEN") = "t2";
  EXPECT_EQ(get().session_token.reveal(), "t2");
  variable("AWS_CREDENTIAL_EXPIRATION") = "2030-01-01T00:00:00Z";
  EXPECT_EQ(get().expires->time_since_epoch().count(), 1'893'456'000);
  variable("AWS_CREDENTIAL_EXPIRATION") = "2020-01-01T00:00:00Z";
  EXPECT_THAT(failure(), StartsWith("ExpiredToken: "));
  variable("AWS_SECRET_ACCESS_KEY") = "";
  EXPECT_EQ(failure(), "NoCredentials: environment: AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY");
}

TEST_F(AwsChain, NamesEveryPlaceInOneLine) {
  world_.files.unreadable = {"/home/x/.aws/config"};
  EXPECT_EQ(failure(),
            "NoCredentials: no AWS credentials found: environment: AWS_ACCESS_KEY_ID is not set; reading "
            "'/home/x/.aws/config': permission denied; profile 'default': not in '/home/x/.aws/credentials' and "
            "'/home/x/.aws/config'; container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI are not set; "
            "instance metadata at 169.254.169.254: connecting to nowhere: no answer in 1000 ms");
}

TEST_F(AwsChain, WithANamedProfileLeavesTheEnvironmentsKeysAside) {
  environment_keys();
  variable("AWS_WEB_IDENTITY_TOKEN_FILE") = "/token";
  variable("AWS_ROLE_ARN") = "arn";
  credentials("[p]\naws_access_key_id=AKIAP\naws_secret_access_key=s\naws_session_token=t\n");
  EXPECT_EQ(get("p"), (AwsCredentials{"AKIAP", Secret("s"), Secret("t"), std::nullopt}));
  variable("AWS_PROFILE") = "p";  // a variable, unlike the configuration, does not
  EXPECT_EQ(get().access_key_id, "AKIAENV");
}

TEST_F(AwsChain, WithANamedProfileWithoutKeysGoesOnToTheInstance) {
  config("[profile p]\nregion=us-east-1\n");
  instance_role("ASIAROLE");
  EXPECT_EQ(get("p").access_key_id, "ASIAROLE");
}

TEST_F(AwsChain, RefusesAProfileThatIsNowhere) {
  instance_role("ASIAROLE");
  EXPECT_EQ(failure("p"), "NoCredentials: no profile 'p' in '/home/x/.aws/credentials' and '/home/x/.aws/config'");
  variable("AWS_PROFILE") = "q";
  EXPECT_THAT(failure(), StartsWith("NoCredentials: no profile 'q' in "));
  EXPECT_TRUE(world_.http.requests.empty());
}

TEST_F(AwsChain, AssumesRolesOneUponTheOther) {
  credentials("[base]\naws_access_key_id=AKIABASE\naws_secret_access_key=s\n");
  config(
      "[profile a]\nrole_arn=arn:a\nsource_profile=b\nrole_session_name=me\nexternal_id=x\nduration_seconds=1000\n"
      "[profile b]\nrole_arn=arn:b\nsource_profile=base\n");
  sts({reply(200, sts_reply("AssumeRole", "ASIAB")), reply(200, sts_reply("AssumeRole", "ASIAA"))});
  EXPECT_EQ(get("a").access_key_id, "ASIAA");
  ASSERT_EQ(world_.http.requests.size(), 2U);
  EXPECT_THAT(world_.http.requests[0].body, HasSubstr("RoleArn=arn%3Ab"));
  EXPECT_THAT(world_.http.requests[0].headers.back().second, HasSubstr("Credential=AKIABASE/"));
  EXPECT_THAT(last_body(), AllOf(HasSubstr("RoleArn=arn%3Aa"), HasSubstr("RoleSessionName=me"),
                                 HasSubstr("ExternalId=x"), HasSubstr("DurationSeconds=1000")));
  EXPECT_THAT(world_.http.requests[1].headers.back().second, HasSubstr("Credential=ASIAB/"));
}

TEST_F(AwsChain, AssumesARoleWithTheProfilesOwnKeys) {
  config("[profile a]\nrole_arn=arn:a\nsource_profile=a\naws_access_key_id=AKIAOWN\naws_secret_access_key=s\n");
  sts({reply(200, sts_reply("AssumeRole", "ASIAA"))});
  EXPECT_EQ(get("a").access_key_id, "ASIAA");
  EXPECT_THAT(world_.http.requests[0].headers.back().second, HasSubstr("Credential=AKIAOWN/"));
}

TEST_F(AwsChain, AssumesARoleFromACredentialSource) {
  sts({reply(200, sts_reply("AssumeRole", "ASIAA"))});
  const auto profile = [&](const std::string& source) {
    config("[profile a]\nrole_arn=arn:a\ncredential_source=" + source + "\n");
  };
  environment_keys();
  profile("Environment");
  EXPECT_EQ(get("a").access_key_id, "ASIAA");
  EXPECT_THAT(world_.http.requests.back().headers.back().second, HasSubstr("Credential=AKIAENV/"));
  instance_role("ASIAROLE");
  profile("Ec2InstanceMetadata");
  EXPECT_EQ(get("a").access_key_id, "ASIAA");
  EXPECT_THAT(world_.http.requests.back().headers.back().second, HasSubstr("Credential=ASIAROLE/"));
  variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") = "http://localhost/c";
  answer("http://localhost/c", 200, keys_json("ASIACONTAINER", "2026-05-29T00:00:00Z"));
  profile("EcsContainer");
  EXPECT_EQ(get("a").access_key_id, "ASIAA");
  EXPECT_THAT(world_.http.requests.back().headers.back().second, HasSubstr("Credential=ASIACONTAINER/"));
}

TEST_F(AwsChain, TakesAWebIdentityFromVariablesThenFromTheProfile) {
  world_.files.content["/t1"] = "one";
  world_.files.content["/t2"] = "two";
  config("[default]\nweb_identity_token_file=/t2\nrole_arn=arn:2\nrole_session_name=two\n");
  sts({reply(200, sts_reply("AssumeRoleWithWebIdentity", "ASIAW"))});
  EXPECT_EQ(get().access_key_id, "ASIAW");
  EXPECT_THAT(last_body(), HasSubstr("RoleArn=arn%3A2&RoleSessionName=two&WebIdentityToken=two"));
  variable("AWS_WEB_IDENTITY_TOKEN_FILE") = "/t1";
  variable("AWS_ROLE_ARN") = "arn:1";
  variable("AWS_ROLE_SESSION_NAME") = "one";
  EXPECT_EQ(get().access_key_id, "ASIAW");
  EXPECT_THAT(last_body(), HasSubstr("RoleArn=arn%3A1&RoleSessionName=one&WebIdentityToken=one"));
}

TEST_F(AwsChain, RefusesWhatAProfileDescribesWrongly) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"role_arn=r\n", "role_arn without source_profile or credential_source"},
      {"role_arn=r\nsource_profile=x\ncredential_source=Environment\n",
       "both source_profile and credential_source are given"},
      {"role_arn=r\nsource_profile=absent\n", "there is no source_profile \"absent\""},
      {"role_arn=r\nsource_profile=a\n", "source_profile \"a\" closes a circle"},
      {"role_arn=r\nsource_profile=b\n[profile b]\nrole_arn=q\nsource_profile=a\n",
       "source_profile \"a\" closes a circle"},
      {"role_arn=r\nsource_profile=b\n[profile b]\nregion=x\n", "source_profile \"b\" has no credentials"},
      {"role_arn=r\ncredential_source=Magic\n",
       "credential_source: expected Environment, Ec2InstanceMetadata or EcsContainer, found \"Magic\""},
      {"role_arn=r\ncredential_source=Environment\n", "credential_source Environment: nothing found"},
      {"role_arn=r\nsource_profile=x\nmfa_serial=m\n", "mfa_serial is not supported"},
      {"sso_account_id=1\nsso_role_name=r\nsso_session=s\n", "(IAM Identity Center) are not supported"},
      {"aws_access_key_id=hidden\n", "aws_access_key_id without aws_secret_access_key in \"/home/x/.aws/config\""},
      {"web_identity_token_file=/t\n", "without AWS_ROLE_ARN or role_arn"},
  };
  instance_role("ASIAROLE");
  for (const auto& [profile, expected] : rows) {
    config("[profile a]\n" + profile);
    EXPECT_THAT(failure("a"), AllOf(StartsWith("NoCredentials: "), HasSubstr(expected), Not(HasSubstr("hidden"))));
  }
  EXPECT_TRUE(world_.http.requests.empty());  // none of them fell back on the instance's role
}

TEST_F(AwsChain, ShowsNoSecretInAnyFailure) {
  credentials(
      "[default]\naws_access_key_id=AKIA\naws_secret_access_key=hidden\naws_session_token=hidden\n"
      "[a]\nrole_arn=r\nsource_profile=default\n");
  sts({reply(403, sts_error("AccessDenied"))});
  EXPECT_THAT(failure("a"), AllOf(StartsWith("AccessDenied: "), Not(HasSubstr("hidden"))));
  EXPECT_THAT(world_.log.text(), Not(HasSubstr("hidden")));
}

class AwsCache : public AwsWorld {
 protected:
  AwsCache() {
    variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") = "/c";
    serve("ASIA1", "2026-05-28T21:26:40Z");  // an hour after the fake clock's start
  }
  void serve(const std::string& id, const std::string& expires) {
    answer("http://169.254.170.2/c", 200, keys_json(id, expires));
  }
  void fail() { answer("http://169.254.170.2/c", 500, "broken"); }
};

TEST_F(AwsCache, AsksOnceWhileTheKeysAreFresh) {
  auto cached = source();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cached->get().access_key_id, "ASIA1");
  world_.clock.advance(minutes(49));
  serve("ASIA2", "2026-05-28T22:26:40Z");
  EXPECT_EQ(cached->get().access_key_id, "ASIA1");
  EXPECT_EQ(world_.http.requests.size(), 1U);
}

TEST_F(AwsCache, RenewsTenMinutesBeforeTheEnd) {
  auto cached = source();
  cached->get();
  world_.clock.advance(minutes(50));
  serve("ASIA2", "2026-05-28T22:26:40Z");
  EXPECT_EQ(cached->get().access_key_id, "ASIA2");
}

TEST_F(AwsCache, GoesOnWithTheOldKeysWhileTheyServe) {
  auto cached = source();
  cached->get();
  world_.clock.advance(minutes(50));
  fail();
  world_.http.requests.clear();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cached->get().access_key_id, "ASIA1");
  EXPECT_EQ(world_.http.requests.size(), 3U);  // one try, not one for each call
  EXPECT_THAT(world_.log.text(), HasSubstr("refreshing AWS credentials failed"));
  world_.clock.advance(minutes(1));
  serve("ASIA2", "2026-05-28T22:26:40Z");
  EXPECT_EQ(cached->get().access_key_id, "ASIA2");
}

TEST_F(AwsCache, FailsWhenTheOldKeysHaveRunOut) {
  auto cached = source();
  cached->get();
  world_.clock.advance(minutes(60));
  fail();
  EXPECT_THROW(cached->get(), Error);
  serve("ASIA2", "2026-05-28T22:26:40Z");
  EXPECT_EQ(cached->get().access_key_id, "ASIA2");
}

TEST_F(AwsCache, RefusesKeysThatHaveExpired) {
  serve("ASIA1", "2026-05-28T20:00:00Z");
  EXPECT_THAT(failure(), StartsWith("ExpiredToken: "));
}

TEST_F(AwsCache, FetchesAnewAfterExpire) {
  auto cached = source();
  cached->get();
  serve("ASIA2", "2026-05-28T22:26:40Z");
  cached->expire();
  EXPECT_EQ(cached->get().access_key_id, "ASIA2");
}

TEST_F(AwsCache, AsksOnceForSeveralThreads) {
  auto cached = source();
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      if (cached->get().access_key_id == "ASIA1") ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(world_.http.requests.size(), 1U);
}

}  // namespace
}  // namespace burst::auth
