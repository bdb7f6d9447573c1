// SPDX-License-Identifier: Apache-2.0
// Tests of reading AWS's shared files.
#include "auth/aws_profile_file.h"

#include "aws_fixture.h"

namespace burst::auth {
namespace {

using ::testing::HasSubstr;

TEST(AwsIni, ReadsSectionsKeysAndComments) {
  const auto sections = parse_aws_ini(
      "# comment\n[a]\nKEY = value # kept\n; comment\nurl: http://x/?a=b\nempty =\n\n[ b ]\r\nk=v\r\n", "f");
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections.at("a"), (AwsProfile{{"key", "value # kept"}, {"url", "http://x/?a=b"}, {"empty", ""}}));
  EXPECT_EQ(sections.at(" b "), (AwsProfile{{"k", "v"}}));
}

TEST(AwsIni, ContinuesAValueOnDeeperLines) {
  const auto sections = parse_aws_ini("[a]\ns3 =\n  x = 1\n  y = 2\nk = v\n", "f");
  EXPECT_EQ(sections.at("a"), (AwsProfile{{"s3", "\nx = 1\ny = 2"}, {"k", "v"}}));
}

TEST(AwsIni, LaysTheDefaultSectionUnderAllOthers) {
  const auto sections = parse_aws_ini("[DEFAULT]\nregion=r\nk=d\n[a]\nk=v\n", "f");
  EXPECT_EQ(sections, (AwsProfileMap{{"a", {{"region", "r"}, {"k", "v"}}}}));
}

TEST(AwsIni, NamesTheLineOfAMistakeAndNotItsContent) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"k = hidden\n", "line 1: expected a section like [default]"},
      {"[a]\nhidden\n", "line 2: expected KEY = VALUE"},
      {"[a]\n= hidden\n", "line 2: expected KEY = VALUE"},
      {"[a]\n\nk=1\nK = hidden\n", "line 4: k stands twice"},
      {"[a]\n[b]\n[a]\n", "line 3: section [a] stands twice"},
  };
  for (const auto& [text, expected] : rows) {
    try {
      parse_aws_ini(text, "/f");
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "reading \"/f\": " + expected);
      EXPECT_EQ(error.code(), "InvalidConfig");
    }
  }
}

class AwsProfileFiles : public AwsWorld {};

TEST_F(AwsProfileFiles, TakesProfilesOfBothFiles) {
  config(
      "[default]\nregion=r1\n[profile a]\nregion=r2\nx=config\n[profile \"b c\"]\nx=1\n[services s]\n[plain]\nx=1\n");
  credentials("[a]\nx=credentials\n[plain2]\nx=1\n");
  const auto profiles = load_aws_profiles(world_.environment, world_.files);
  std::string names;
  for (const auto& [name, values] : profiles.merged) names += name + ";";
  EXPECT_EQ(names, "a;b c;default;plain2;");
  EXPECT_EQ(profiles.merged.at("a"), (AwsProfile{{"region", "r2"}, {"x", "credentials"}}));
  EXPECT_EQ(profiles.config.at("a").at("x"), "config");
}

TEST_F(AwsProfileFiles, AreFoundWhereTheVariablesSay) {
  variable("AWS_CONFIG_FILE") = "~/c";
  variable("AWS_SHARED_CREDENTIALS_FILE") = "/k";
  world_.files.content = {{"/home/x/c", "[default]\nregion=here\n"}, {"/k", "[other]\nregion=there\n"}};
  EXPECT_EQ(aws_profile_region("", world_.services()), "here");
  EXPECT_EQ(aws_profile_region("other", world_.services()), "there");
  variable("AWS_PROFILE") = "other";
  EXPECT_EQ(aws_profile_region("", world_.services()), "there");
  EXPECT_EQ(aws_profile_region("default", world_.services()), "here");
  EXPECT_EQ(aws_profile_region("absent", world_.services()), "");
}

TEST_F(AwsProfileFiles, ThatCannotBeReadAreNotedAndPassedOver) {
  world_.files.unreadable = {"/home/x/.aws/config"};
  credentials("[default]\nregion=r\n");
  const auto profiles = load_aws_profiles(world_.environment, world_.files);
  EXPECT_EQ(profiles.merged.size(), 1U);
  EXPECT_THAT(profiles.notes, ::testing::ElementsAre(HasSubstr("permission denied")));
}

TEST_F(AwsProfileFiles, AreLookedForInTheUsersHomeWithoutHome) {
  world_.environment.variables.clear();
  const auto profiles = load_aws_profiles(world_.environment, world_.files);
  EXPECT_TRUE(profiles.config_path.starts_with("/")) << profiles.config_path;
  EXPECT_TRUE(profiles.config_path.ends_with("/.aws/config")) << profiles.config_path;
}

}  // namespace
}  // namespace burst::auth
