// SPDX-License-Identifier: Apache-2.0
// Tests of where AWS services are reached.
#include "auth/aws_endpoint.h"

#include <gtest/gtest.h>

#include "fakes/fake_services.h"

namespace burst::auth {
namespace {

struct Row {
  std::string service, region, expected;
  std::map<std::string, std::string, std::less<>> environment;
};

TEST(AwsEndpoint, FollowsPartitionVariantAndOverride) {
  const std::vector<Row> rows{
      {"ec2", "us-east-1", "https://ec2.us-east-1.amazonaws.com/", {}},
      {"sts", "eu-central-2", "https://sts.eu-central-2.amazonaws.com/", {}},
      {"ec2", "cn-north-1", "https://ec2.cn-north-1.amazonaws.com.cn/", {}},
      {"ec2", "us-gov-west-1", "https://ec2.us-gov-west-1.amazonaws.com/", {}},
      {"ec2", "us-iso-east-1", "https://ec2.us-iso-east-1.c2s.ic.gov/", {}},
      {"ec2", "us-isob-east-1", "https://ec2.us-isob-east-1.sc2s.sgov.gov/", {}},
      {"ec2", "us-east-1", "https://ec2-fips.us-east-1.amazonaws.com/", {{"AWS_USE_FIPS_ENDPOINT", "TRUE"}}},
      {"ec2", "us-east-1", "https://ec2.us-east-1.amazonaws.com/", {{"AWS_USE_FIPS_ENDPOINT", "false"}}},
      {"sts", "us-gov-east-1", "https://sts.us-gov-east-1.amazonaws.com/", {{"AWS_USE_FIPS_ENDPOINT", "true"}}},
      {"ec2", "eu-west-1", "https://ec2.eu-west-1.api.aws/", {{"AWS_USE_DUALSTACK_ENDPOINT", "true"}}},
      {"ec2",
       "us-east-2",
       "https://ec2-fips.us-east-2.api.aws/",
       {{"AWS_USE_DUALSTACK_ENDPOINT", "true"}, {"AWS_USE_FIPS_ENDPOINT", "true"}}},
      {"ec2",
       "cn-north-1",
       "https://ec2.cn-north-1.api.amazonwebservices.com.cn/",
       {{"AWS_USE_DUALSTACK_ENDPOINT", "true"}}},
      {"ec2", "us-east-1", "http://127.0.0.1:5000/", {{"AWS_ENDPOINT_URL", "http://127.0.0.1:5000"}}},
      {"ec2",
       "us-east-1",
       "http://127.0.0.1:5001/x",
       {{"AWS_ENDPOINT_URL", "http://127.0.0.1:5000"}, {"AWS_ENDPOINT_URL_EC2", "http://127.0.0.1:5001/x"}}},
      {"sts",
       "us-east-1",
       "http://127.0.0.1:5000/",
       {{"AWS_ENDPOINT_URL", "http://127.0.0.1:5000/"}, {"AWS_ENDPOINT_URL_EC2", "http://127.0.0.1:5001"}}},
      {"ec2",
       "us-east-1",
       "https://ec2.us-east-1.amazonaws.com/",
       {{"AWS_ENDPOINT_URL", "http://127.0.0.1:5000"}, {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}}},
  };
  for (const auto& row : rows) {
    FakeEnvironment environment;
    environment.variables = row.environment;
    EXPECT_EQ(aws_endpoint(row.service, row.region, environment), row.expected);
  }
}

TEST(AwsEndpoint, RefusesARegionThatIsNoHostName) {
  const FakeEnvironment environment;
  for (const std::string region : {"", "us_east_1", "us-east-1.evil.example/", "US-EAST-1", "-a", "a b", "a\n"}) {
    try {
      aws_endpoint("ec2", region, environment);
      FAIL() << region;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "InvalidRegion");
    }
  }
}

TEST(AwsEndpoint, RefusesAnOverrideThatIsNoUrlAndAMissingVariant) {
  FakeEnvironment environment;
  environment.variables["AWS_ENDPOINT_URL_EC2"] = "localhost:5000";
  EXPECT_THROW(aws_endpoint("ec2", "us-east-1", environment), Error);
  environment.variables = {{"AWS_USE_DUALSTACK_ENDPOINT", "true"}};
  EXPECT_THROW(aws_endpoint("ec2", "us-iso-east-1", environment), Error);
}

}  // namespace
}  // namespace burst::auth
