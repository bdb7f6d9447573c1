// SPDX-License-Identifier: Apache-2.0
// Tests of the small formats: time stamps, shell words, percent-encoding, URLs.
#include <gtest/gtest.h>

#include "auth/iso_time.h"
#include "auth/percent_encoding.h"
#include "auth/shell_words.h"
#include "auth/url_parts.h"

namespace burst::auth {
namespace {

using std::chrono::seconds;

TEST(IsoTime, ReadsWhatCloudsWrite) {
  const std::chrono::sys_seconds expected{seconds(1'893'553'445)};
  for (const auto* text : {"2030-01-02T03:04:05Z", "2030-01-02T03:04:05.123456Z", "2030-01-02T03:04:05",
                           "2030-01-02 03:04:05+00:00", "2030-01-02T05:04:05+0200", "2030-01-01T21:34:05-05:30"}) {
    EXPECT_EQ(parse_iso_time(text), expected) << text;
  }
}

TEST(IsoTime, RefusesEverythingElse) {
  for (const auto* text :
       {"", "now", "2030-13-01T00:00:00Z", "2030-02-30T00:00:00Z", "2030-01-02", "2030-01-02T25:00:00Z",
        "2030-01-02T03:04:05ZZ", "2030-01-02T03:04:05.Z", "2030-1-2T03:04:05Z"}) {
    EXPECT_EQ(parse_iso_time(text), std::nullopt) << text;
  }
}

TEST(ShellWords, SplitsAsAShellDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_shell_words(" a  b\tc "), (Words{"a", "b", "c"}));
  EXPECT_EQ(split_shell_words(R"('a b' "c d" e'f'"g")"), (Words{"a b", "c d", "efg"}));
  EXPECT_EQ(split_shell_words(R"("a\"b\\c\d" x\ y '\')"), (Words{R"(a"b\c\d)", "x y", "\\"}));
  EXPECT_EQ(split_shell_words(R"('' "")"), (Words{"", ""}));
  EXPECT_EQ(split_shell_words(""), Words{});
  EXPECT_EQ(split_shell_words("$HOME `x` *"), (Words{"$HOME", "`x`", "*"}));
}

TEST(ShellWords, RefusesWhatIsNotClosed) {
  for (const auto* text : {"'a", "\"a", "a\\", R"("a\")"}) EXPECT_EQ(split_shell_words(text), std::nullopt) << text;
}

TEST(PercentEncoding, KeepsUnreservedBytesOnly) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode(" /+\xC3\xA9"), "%20%2F%2B%C3%A9");
  EXPECT_EQ(percent_encode("/a b", "/"), "/a%20b");
  EXPECT_EQ(decode_query_value("a+b%20%C3%A9%2"), "a b \xC3\xA9%2");
  EXPECT_EQ(decode_query_value("%zz%"), "%zz%");
}

TEST(UrlParts, TakesAUrlApart) {
  const auto url = split_url("HTTPS://user:pw@Host.Example:8443/a/b?c=d?e#f");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "host.example");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->path, "/a/b");
  EXPECT_EQ(url->query, "c=d?e");
  EXPECT_EQ(url->host_header(), "host.example:8443");
  EXPECT_EQ(split_url("http://[FD00:EC2::254]/x")->host_header(), "[fd00:ec2::254]");
  EXPECT_EQ(split_url("http://h:80")->host_header(), "h");
  for (const auto* text : {"", "host/path", "http://", "http:///x", "http://h:8x/", "http://[::1", "file:///x"}) {
    EXPECT_FALSE(split_url(text)) << text;
  }
}

}  // namespace
}  // namespace burst::auth
