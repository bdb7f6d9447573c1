// SPDX-License-Identifier: Apache-2.0
// HTTP text: requests in pieces, several at once, forms.
#include "http_message.h"

#include <gtest/gtest.h>

namespace cloudsim {
namespace {

TEST(ParseRequest, WaitsForAllOfTheBody) {
  const std::string text = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nX-Y:  z \r\n\r\nbody";
  HttpRequest request;
  for (std::size_t length = 0; length < text.size(); ++length) {
    auto part = text.substr(0, length);
    EXPECT_EQ(parse_request(part, request), Parsed::incomplete) << length;
    EXPECT_EQ(part.size(), length);
  }
  auto all = text + "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(parse_request(all, request), Parsed::complete);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a");
  EXPECT_EQ(request.query, "b=c");
  EXPECT_EQ(request.header("x-y"), "z");
  EXPECT_EQ(request.body, "body");
  ASSERT_EQ(parse_request(all, request), Parsed::complete);
  EXPECT_EQ(request.method, "GET");
  EXPECT_TRUE(request.body.empty());
  EXPECT_TRUE(all.empty());
}

TEST(ParseRequest, RefusesWhatIsNoRequest) {
  for (std::string text :
       {"hello\r\n\r\n", "GET x HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"}) {
    HttpRequest request;
    EXPECT_EQ(parse_request(text, request), Parsed::malformed) << text;
  }
}

TEST(ParseForm, DecodesNamesAndValues) {
  const auto form = parse_form("A=1&Tag.1.Key=a%20b+c&Empty=&Alone&B=%3D%26%zz&A=2");
  EXPECT_EQ(form.at("A"), "2");
  EXPECT_EQ(form.at("Tag.1.Key"), "a b c");
  EXPECT_EQ(form.at("Empty"), "");
  EXPECT_EQ(form.at("Alone"), "");
  EXPECT_EQ(form.at("B"), "=&%zz");
  EXPECT_EQ(form.size(), 5U);
  EXPECT_TRUE(parse_form("").empty());
}

TEST(Serialize, SaysHowLongTheBodyIs) {
  HttpReply reply;
  reply.status = 503;
  reply.body = "text";
  const auto text = serialize(reply, false);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 503 Service Unavailable\r\n")) << text;
  EXPECT_NE(text.find("Content-Length: 4\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Connection: close\r\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\ntext")) << text;
  EXPECT_EQ(serialize(reply, true).find("Connection"), std::string::npos);
}

TEST(ParseRequest, PutsChunksTogetherAndLeavesTheNextRequest) {
  const std::string whole =
      "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n";
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    std::string part = whole.substr(0, cut);
    HttpRequest request;
    EXPECT_EQ(parse_request(part, request), Parsed::incomplete) << cut;
  }
  std::string input = whole + "GET /b HTTP/1.1\r\n\r\n";
  HttpRequest request;
  ASSERT_EQ(parse_request(input, request), Parsed::complete);
  EXPECT_EQ(request.body, "abc0123456789");
  ASSERT_EQ(parse_request(input, request), Parsed::complete);
  EXPECT_EQ(request.path, "/b");
  std::string bad = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n";
  EXPECT_EQ(parse_request(bad, request), Parsed::malformed);
}

}  // namespace
}  // namespace cloudsim
