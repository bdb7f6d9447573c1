// SPDX-License-Identifier: Apache-2.0
// The same files and variables give botocore and us the same keys, or neither any.
#include "aws_fixture.h"
#include "botocore_reference.h"

namespace burst::auth {
namespace {

struct Case {
  std::string what, config, credentials, profile;
  std::map<std::string, std::string> environment;
};

const std::string kKeysA = "aws_access_key_id = AKIAA\naws_secret_access_key = sa/+=\n";  // NOLINT: tests
const std::string kKeysB = "aws_access_key_id = AKIAB\naws_secret_access_key = sb\n";     // NOLINT: tests
const std::string kProcess =                                                              // NOLINT: tests
    R"(credential_process = /bin/echo '{"Version": 1, "AccessKeyId": "AKIAP",' "\"SecretAccessKey\": \"s p\"}")"
    "\n";

std::vector<Case> cases() {
  return {
      {"nothing", "", "", "", {}},
      {"environment", "", "[default]\n" + kKeysA, "", {{"AWS_ACCESS_KEY_ID", "E"}, {"AWS_SECRET_ACCESS_KEY", "es"}}},
      {"environment and token",
       "",
       "",
       "",
       {{"AWS_ACCESS_KEY_ID", "E"}, {"AWS_SECRET_ACCESS_KEY", "es"}, {"AWS_SESSION_TOKEN", "t"}}},
      {"both tokens",
       "",
       "",
       "",
       {{"AWS_ACCESS_KEY_ID", "E"},
        {"AWS_SECRET_ACCESS_KEY", "es"},
        {"AWS_SESSION_TOKEN", "t"},
        {"AWS_SECURITY_TOKEN", "u"}}},
      {"half an environment", "", "[default]\n" + kKeysA, "", {{"AWS_ACCESS_KEY_ID", "E"}}},
      {"the other half", "", "[default]\n" + kKeysA, "", {{"AWS_SECRET_ACCESS_KEY", "es"}}},
      {"credentials file", "", "[default]\n" + kKeysA, "", {}},
      {"config file", "[default]\n" + kKeysB, "", "", {}},
      {"both files", "[default]\n" + kKeysB, "[default]\n" + kKeysA, "", {}},
      {"profile of the configuration", "[profile p]\n" + kKeysB, "[default]\n" + kKeysA, "p", {}},
      {"profile against the environment",
       "[profile p]\n" + kKeysB,
       "",
       "p",
       {{"AWS_ACCESS_KEY_ID", "E"}, {"AWS_SECRET_ACCESS_KEY", "es"}}},
      {"AWS_PROFILE", "[profile p]\n" + kKeysB, "[default]\n" + kKeysA, "", {{"AWS_PROFILE", "p"}}},
      {"AWS_DEFAULT_PROFILE first",
       "",
       "[p]\n" + kKeysB + "[q]\n" + kKeysA,
       "",
       {{"AWS_PROFILE", "p"}, {"AWS_DEFAULT_PROFILE", "q"}}},
      {"profile in quotes", "[profile \"my p\"]\n" + kKeysB, "", "my p", {}},
      {"section without the word profile", "[p]\n" + kKeysB, "", "p", {}},
      {"unknown profile", "", "[default]\n" + kKeysA, "p", {}},
      {"profile without keys", "[profile p]\nregion = x\n", "[default]\n" + kKeysA, "p", {}},
      {"process", "[default]\n" + kProcess, "", "", {}},
      {"process before the config file's keys", "[default]\n" + kProcess + kKeysB, "", "", {}},
      {"credentials file before a process", "[default]\n" + kProcess, "[default]\n" + kKeysA, "", {}},
      {"process in the credentials file", "", "[default]\n" + kProcess, "", {}},
      {"process that fails", "[default]\ncredential_process = /bin/false\n", "", "", {}},
      {"old token key", "", "[default]\n" + kKeysA + "aws_security_token = t\n", "", {}},
      {"token key", "", "[default]\n" + kKeysA + "aws_session_token = t\n", "", {}},
      {"id without secret", "", "[default]\naws_access_key_id = A\n", "", {}},
      {"secret without id", "", "[default]\naws_secret_access_key = A\n", "", {}},
      {"keys over both files", "[default]\naws_secret_access_key = s\n", "[default]\naws_access_key_id = A\n", "", {}},
      {"role without source", "[profile p]\nrole_arn = r\n", "", "p", {}},
      {"role in a circle", "[profile p]\nrole_arn = r\nsource_profile = p\n", "", "p", {}},
      {"capitals in keys", "", "[default]\nAWS_ACCESS_KEY_ID = A\nAws_Secret_Access_Key = s\n", "", {}},
      {"colons", "", "[default]\naws_access_key_id: A\naws_secret_access_key: s:t\n", "", {}},
      {"comments and blank lines",
       "",
       "# c\n\n[default]\n; c\naws_access_key_id = A\n\n#c\naws_secret_access_key = s # d\n",
       "",
       {}},
      {"continued value", "", "[default]\naws_access_key_id =\n  A\naws_secret_access_key = s\n", "", {}},
      {"nested block", "[default]\ns3 =\n  a = b\n  c = d\n" + kKeysB, "", "", {}},
      {"indented section", "", "  [default]\n  aws_access_key_id = A\n  aws_secret_access_key = s\n", "", {}},
      {"text after a section", "", "[default] # x\n" + kKeysA, "", {}},
      {"defaults of all", "", "[DEFAULT]\naws_secret_access_key = d\n[default]\naws_access_key_id = A\n", "", {}},
      {"carriage returns", "", "[default]\r\naws_access_key_id = A\r\naws_secret_access_key = s\r\n", "", {}},
      {"key twice", "", "[default]\n" + kKeysA + "aws_access_key_id = B\n", "", {}},
      {"section twice", "", "[default]\n" + kKeysA + "[default]\n" + kKeysB, "", {}},
      {"no section", "", kKeysA, "", {}},
      {"a line without a value", "", "[default]\nnonsense\n" + kKeysA, "", {}},
      {"empty id", "", "[default]\naws_access_key_id =\naws_secret_access_key = s\n", "", {}},
  };
}

/// Credential programs of the cases: /bin/echo and /bin/false.
ProcessResult run_echo(const ProcessRequest& request) {
  if (request.argv.at(0) != "/bin/echo") return {1, false, "", "failed"};
  ProcessResult result;
  for (std::size_t i = 1; i < request.argv.size(); ++i) result.output += (i > 1 ? " " : "") + request.argv[i];
  return result;
}

TEST(AwsCredentialsLikeBotocore, FindTheSameKeysOrNone) {
  const TemporaryFolder folder;
  const auto all = cases();
  auto questions = nlohmann::json::array();
  auto ours = nlohmann::json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& one = all[i];
    auto environment = one.environment;
    environment["AWS_CONFIG_FILE"] = folder.write("config" + std::to_string(i), one.config);
    environment["AWS_SHARED_CREDENTIALS_FILE"] = folder.write("credentials" + std::to_string(i), one.credentials);
    environment["AWS_EC2_METADATA_DISABLED"] = "true";
    questions.push_back({{"environment", environment}, {"profile", one.profile}});

    FakeServices world;
    world.environment.variables = {environment.begin(), environment.end()};
    world.files.content = {{environment["AWS_CONFIG_FILE"], one.config},
                           {environment["AWS_SHARED_CREDENTIALS_FILE"], one.credentials}};
    world.processes.handler = run_echo;
    try {
      const auto found = make_aws_credential_source({one.profile, "us-east-1"}, world.services())->get();
      ours.push_back({{"id", found.access_key_id},
                      {"secret", found.secret_access_key.reveal()},
                      {"token", found.session_token.reveal()}});
    } catch (const Error& error) {
      ours.push_back({{"error", error.what()}});
    }
  }
  const auto theirs = ask_botocore("credentials", questions);
  ASSERT_EQ(theirs.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (theirs[i].contains("error")) {
      EXPECT_TRUE(ours[i].contains("error")) << all[i].what << ": " << ours[i] << " " << theirs[i];
    } else {
      EXPECT_EQ(ours[i], theirs[i]) << all[i].what;
    }
  }
}

}  // namespace
}  // namespace burst::auth
