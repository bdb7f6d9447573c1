// SPDX-License-Identifier: Apache-2.0
// Tests of what the environment says about proxies and certificates.
#include "net/network_settings.h"

#include <gtest/gtest.h>

#include "fakes/fake_services.h"

namespace burst::net {
namespace {

TEST(NetworkSettings, AreEmptyInAnEmptyEnvironment) {
  const auto settings = read_network_settings(FakeEnvironment{});
  EXPECT_EQ(settings.http_proxy, "");
  EXPECT_EQ(settings.https_proxy, "");
  EXPECT_EQ(settings.ca_file, "");
  EXPECT_NE(settings.no_proxy.find("169.254.0.0/16"), std::string::npos);
}

TEST(NetworkSettings, PreferLowerCaseAlsoWhenEmpty) {
  FakeEnvironment environment;
  environment.variables = {{"HTTP_PROXY", "http://upper"}, {"http_proxy", ""}, {"HTTPS_PROXY", "http://secure"}};
  const auto settings = read_network_settings(environment);
  EXPECT_EQ(settings.http_proxy, "");
  EXPECT_EQ(settings.https_proxy, "http://secure");
}

TEST(NetworkSettings, FallBackToAllProxy) {
  FakeEnvironment environment;
  environment.variables = {{"ALL_PROXY", "http://any"}, {"https_proxy", "http://secure"}};
  const auto settings = read_network_settings(environment);
  EXPECT_EQ(settings.http_proxy, "http://any");
  EXPECT_EQ(settings.https_proxy, "http://secure");
}

TEST(NetworkSettings, AddTheMetadataAddressesToNoProxy) {
  FakeEnvironment environment;
  environment.variables = {{"NO_PROXY", "localhost,.example"}};
  const auto settings = read_network_settings(environment);
  EXPECT_TRUE(settings.no_proxy.starts_with("localhost,.example,169.254.0.0/16,")) << settings.no_proxy;
  environment.variables = {{"NO_PROXY", "*"}};
  EXPECT_EQ(read_network_settings(environment).no_proxy, "*");
}

TEST(NetworkSettings, TakeTheFirstCaFileThatIsNamed) {
  FakeEnvironment environment;
  environment.variables = {{"SSL_CERT_FILE", "/c"}};
  EXPECT_EQ(read_network_settings(environment).ca_file, "/c");
  environment.variables["CURL_CA_BUNDLE"] = "/b";
  EXPECT_EQ(read_network_settings(environment).ca_file, "/b");
  environment.variables["AWS_CA_BUNDLE"] = "";
  EXPECT_EQ(read_network_settings(environment).ca_file, "/b");
  environment.variables["AWS_CA_BUNDLE"] = "/a";
  EXPECT_EQ(read_network_settings(environment).ca_file, "/a");
}

}  // namespace
}  // namespace burst::net
