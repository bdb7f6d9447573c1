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

TEST(NoProxy, NamesStandForAllBelowThem) {
  for (const auto* list : {"example.com", ".example.com", "a, Example.COM", "x\texample.com,,"}) {
    EXPECT_TRUE(bypasses_proxy(list, "example.com")) << list;
    EXPECT_TRUE(bypasses_proxy(list, "API.example.com")) << list;
    EXPECT_FALSE(bypasses_proxy(list, "notexample.com")) << list;
    EXPECT_FALSE(bypasses_proxy(list, "com")) << list;
  }
  EXPECT_TRUE(bypasses_proxy("*", "example.com"));
  EXPECT_FALSE(bypasses_proxy("", "example.com"));
  EXPECT_FALSE(bypasses_proxy(".", "example.com"));
}

TEST(NoProxy, AddressesAndRangesAreCompared) {
  EXPECT_TRUE(bypasses_proxy("x, 10.1.0.0/16", "10.1.255.3"));
  EXPECT_FALSE(bypasses_proxy("10.1.0.0/16", "10.2.0.1"));
  EXPECT_TRUE(bypasses_proxy("10.1.0.128/25", "10.1.0.129"));
  EXPECT_FALSE(bypasses_proxy("10.1.0.128/25", "10.1.0.127"));
  EXPECT_TRUE(bypasses_proxy("127.0.0.1", "127.0.0.1"));
  EXPECT_FALSE(bypasses_proxy("127.0.0.1", "127.0.0.10"));
  EXPECT_TRUE(bypasses_proxy("0.0.0.0/0", "1.2.3.4"));
  EXPECT_TRUE(bypasses_proxy("fd00::/8", "fd12::1"));
  EXPECT_FALSE(bypasses_proxy("fd00::/8", "10.0.0.1"));
  for (const auto* wrong : {"10.0.0.0/", "10.0.0.0/x", "10.0.0.0/33", "10.0.0.0/-1", "/8"}) {
    EXPECT_FALSE(bypasses_proxy(wrong, "10.0.0.0")) << wrong;
  }
}

}  // namespace
}  // namespace burst::net
