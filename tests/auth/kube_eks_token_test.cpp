// SPDX-License-Identifier: Apache-2.0
// Tests of EKS tokens: byte for byte what botocore presigns, when they are renewed, whose they are.
#include "auth/aws_endpoint.h"
#include "auth/kube_pem.h"
#include "aws_fixture.h"
#include "botocore_reference.h"
#include "kube_fixture.h"

namespace burst::auth {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(KubeEksToken, IsWhatBotocorePresigns) {
  struct Case {
    std::string cluster, region, id, secret, token;
    long now;
  };
  const std::vector<Case> all{
      {"gpu", "eu-north-1", "AKIAEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "", 1'780'000'000},
      {"a-Cluster_9", "us-east-1", "ASIAEXAMPLE", "s/+=", "FwoGZXIvYXdzE//+/==", 1'440'938'160},
      {"x", "us-gov-west-1", "AKIAX", "s", "t", 1'893'456'000},
      {"x", "cn-north-1", "AKIAX", "s", "", 1'893'456'001},
  };
  auto questions = nlohmann::json::array();
  for (const auto& one : all) {
    questions.push_back({{"cluster", one.cluster},
                         {"region", one.region},
                         {"id", one.id},
                         {"secret", one.secret},
                         {"token", one.token},
                         {"now", one.now}});
  }
  const auto theirs = ask_botocore("eks_token", questions);
  ASSERT_EQ(theirs.size(), all.size());
  const FakeEnvironment environment;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& one = all[i];
    const AwsCredentials credentials{one.id, Secret(one.secret), Secret(one.token), {}};
    const auto ours = make_eks_token({one.cluster, one.region, "", ""}, aws_endpoint("sts", one.region, environment),
                                     credentials, std::chrono::sys_seconds(seconds(one.now)));
    EXPECT_EQ(ours.reveal(), theirs[i].get<std::string>()) << i;
  }
}

TEST(KubeEksToken, FindsTheRegionInTheServersName) {
  EXPECT_EQ(eks_region_of_server("https://ABC.gr7.eu-north-1.eks.amazonaws.com"), "eu-north-1");
  EXPECT_EQ(eks_region_of_server("https://ABC.yl4.cn-north-1.eks.amazonaws.com.cn:443"), "cn-north-1");
  for (const auto* other : {"https://10.0.0.1:6443", "https://eks.amazonaws.com", "https://.eks.amazonaws.com", "x",
                            "https://region.eks.example.com"}) {
    EXPECT_EQ(eks_region_of_server(other), "") << other;
  }
}

class KubeEksSource : public AwsWorld {
 protected:
  KubeEksSource() {
    variable("AWS_ACCESS_KEY_ID") = "AKIAE";
    variable("AWS_SECRET_ACCESS_KEY") = "s3cret";
  }
  std::shared_ptr<KubeCredentialSource> eks(const EksTokenSettings& settings, const std::string& server = "https://a") {
    return make_eks_credential_source(settings, server, world_.services());
  }
  static constexpr std::string_view kPrefix = "k8s-aws-v1.";
  /// The URL in a token.
  static std::string url(KubeCredentialSource& source) {
    const auto token = source.get()->token.reveal();
    EXPECT_THAT(token, StartsWith(kPrefix));
    auto text = token.substr(kPrefix.size());
    for (auto& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
    text.resize((text.size() + 3) / 4 * 4, '=');
    return decode_base64(text).value_or("");
  }
};

TEST_F(KubeEksSource, MakesATokenEachFourteenMinutes) {
  const auto source = eks({"gpu", "eu-north-1", "", ""});
  const auto first = url(*source);
  EXPECT_THAT(first, StartsWith("https://sts.eu-north-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&"));
  EXPECT_THAT(first, HasSubstr("&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature="));
  world_.clock.advance(minutes(14) - seconds(1));
  EXPECT_EQ(url(*source), first);
  world_.clock.advance(seconds(1));
  EXPECT_NE(url(*source), first);
  EXPECT_TRUE(world_.http.requests.empty());
}

TEST_F(KubeEksSource, MakesATokenNoLongerLivedThanItsCredentials) {
  variable("AWS_CREDENTIAL_EXPIRATION") = "2026-05-28T20:31:40Z";  // in five minutes
  const auto source = eks({"gpu", "eu-north-1", "", ""});
  const auto first = url(*source);
  world_.clock.advance(minutes(4) - seconds(1));
  EXPECT_EQ(url(*source), first);
  variable("AWS_CREDENTIAL_EXPIRATION") = "2026-05-28T22:00:00Z";
  world_.clock.advance(seconds(1));
  EXPECT_NE(url(*source), first);
}

TEST_F(KubeEksSource, AfterARejectionTheCredentialsAreFetchedAnew) {
  const auto source = eks({"gpu", "eu-north-1", "", ""});
  EXPECT_THAT(url(*source), HasSubstr("AKIAE%2F"));
  variable("AWS_ACCESS_KEY_ID") = "AKIANEW";
  EXPECT_TRUE(source->rejected(*source->get()));
  EXPECT_THAT(url(*source), HasSubstr("AKIANEW%2F"));
  EXPECT_FALSE(source->rejected(*source->get()));
}

TEST_F(KubeEksSource, IsOfTheNamedProfileAndRole) {
  config("[profile p]\naws_access_key_id = AKIAP\naws_secret_access_key = s3cret\nregion = eu-west-3\n");
  EXPECT_THAT(url(*eks({"gpu", "", "p", ""})), HasSubstr("sts.eu-west-3.amazonaws.com/"));
  EXPECT_THAT(url(*eks({"gpu", "us-east-1", "p", ""})), HasSubstr("AKIAP%2F"));
  sts({reply(200, sts_reply("AssumeRole", "ASIAROLE"))});
  const auto role = url(*eks({"gpu", "us-east-1", "", "arn:aws:iam::1:role/r"}));
  EXPECT_THAT(role, HasSubstr("ASIAROLE%2F"));
  EXPECT_THAT(role, HasSubstr("X-Amz-Security-Token=t0ken"));
  ASSERT_EQ(world_.http.requests.size(), 1U);
  EXPECT_THAT(world_.http.requests[0].body, HasSubstr("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"));
}

TEST_F(KubeEksSource, FindsItsRegion) {
  const auto* server = "https://ABC.gr7.eu-north-1.eks.amazonaws.com";
  variable("AWS_DEFAULT_REGION") = "us-west-1";
  EXPECT_THAT(url(*eks({"gpu", "us-east-2", "", ""}, server)), HasSubstr("sts.us-east-2."));
  EXPECT_THAT(url(*eks({"gpu", "", "", ""}, server)), HasSubstr("sts.eu-north-1."));
  EXPECT_THAT(url(*eks({"gpu", "", "", ""})), HasSubstr("sts.us-west-1."));
  variable("AWS_REGION") = "us-west-2";
  EXPECT_THAT(url(*eks({"gpu", "", "", ""})), HasSubstr("sts.us-west-2."));
  world_.environment.variables.erase("AWS_REGION");
  world_.environment.variables.erase("AWS_DEFAULT_REGION");
  try {
    eks({"gpu", "", "", ""});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "InvalidConfig");
    EXPECT_THAT(error.what(), StartsWith("EKS cluster \"gpu\": no region: "));
  }
}

}  // namespace
}  // namespace burst::auth
