// SPDX-License-Identifier: Apache-2.0
// Tests of credentials from a program.
#include "auth/aws_credential_process.h"

#include "aws_fixture.h"

namespace burst::auth {
namespace {

class AwsCredentialProcess : public AwsWorld {
 protected:
  AwsCredentials run(const ProcessResult& result, const std::string& command = "prog") {
    world_.processes.handler = [=](const ProcessRequest&) { return result; };
    return run_credential_process(command, "p", world_.processes);
  }
  std::string refusal(const ProcessResult& result, const std::string& command = "prog") {
    try {
      return run(result, command).access_key_id;
    } catch (const Error& error) {
      return error.what();
    }
  }
};

TEST_F(AwsCredentialProcess, SplitsItsCommandWithoutAShell) {
  const auto found = run({0, false, R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"s"})", ""},
                         R"("/opt/my tool" --for 'a b' $HOME)");
  EXPECT_EQ(found, (AwsCredentials{"A", Secret("s"), Secret(), std::nullopt}));
  EXPECT_EQ(world_.processes.requests.at(0).argv, (std::vector<std::string>{"/opt/my tool", "--for", "a b", "$HOME"}));
}

TEST_F(AwsCredentialProcess, MayGiveTemporaryKeys) {
  const auto found = run({0, false,
                          R"({"Version":1,"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"t",)"
                          R"("Expiration":"2030-01-01T00:00:00+00:00"})",
                          ""});
  EXPECT_EQ(found.session_token.reveal(), "t");
  EXPECT_EQ(found.expires->time_since_epoch().count(), 1'893'456'000);
}

TEST_F(AwsCredentialProcess, SaysWhatIsWrongWithoutShowingKeys) {
  const std::string from = "credential_process of profile \"p\": ";
  EXPECT_EQ(refusal({3, false, "hidden", "no\nnetwork"}), from + "exit status 3: no network");
  EXPECT_EQ(refusal({137, true, "hidden", ""}), from + "no answer in 60 s");
  EXPECT_EQ(refusal({0, false, "hidden", ""}), from + "expected a JSON object");
  EXPECT_EQ(refusal({0, false, R"({"Version":2,"AccessKeyId":"hidden"})", ""}), from + "expected \"Version\": 1");
  EXPECT_EQ(refusal({0, false, R"({"AccessKeyId":"hidden"})", ""}), from + "expected \"Version\": 1");
  EXPECT_EQ(refusal({0, false, R"({"Version":1,"AccessKeyId":"hidden"})", ""}), from + "SecretAccessKey is missing");
  EXPECT_EQ(refusal({}, "'open"), from + "expected a command, quotes closed");
  EXPECT_EQ(refusal({}, "  "), from + "expected a command, quotes closed");
}

}  // namespace
}  // namespace burst::auth
