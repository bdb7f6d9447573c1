// SPDX-License-Identifier: Apache-2.0
// Foreign text on one safe line.
#include "burst/text.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace burst {
namespace {

struct Case {
  std::string_view text, line;
};

TEST(OneLine, MakesTextSafe) {
  const std::vector<Case> cases{
      {"", ""},
      {"plain text, with = and \\ signs", "plain text, with = and \\ signs"},
      {"  two\r\n\tlines  ", "two lines"},
      {std::string_view("a\0b", 3), "a b"},
      {"say \"no\" to `this`", "say 'no' to 'this'"},
      {"\x1b[31mred", "[31mred"},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"bad \xff\xc3", "bad ??"},
      {"overlong \xc0\xaf \xe0\x80\xaf", "overlong ?? ???"},
      {"surrogate \xed\xa0\x80", "surrogate ???"},
      {"beyond \xf4\x90\x80\x80", "beyond ????"},
      {"c1 \xc2\x9b"
       "31m, rtl \xe2\x80\xae"
       "x, line\xe2\x80\xa8sep, nbsp\xc2\xa0x",
       "c1 31m, rtl x, line sep, nbsp x"},
  };
  for (const auto& [text, line] : cases) EXPECT_EQ(one_line(text), line);
}

TEST(OneLine, CutsAtTheLimitWithDots) {
  EXPECT_EQ(one_line("0123456789", 10), "0123456789");
  EXPECT_EQ(one_line("0123456789a", 10), "0123456...");
  EXPECT_EQ(one_line("012345 789a", 10), "012345...");
  EXPECT_EQ(one_line("0123", 2), "01");
  EXPECT_EQ(one_line("0123", 0), "");
}

TEST(OneLine, NeverCutsACharacter) {
  const std::string text = "abcd\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80";
  for (std::size_t limit = 0; limit < text.size() + 2; ++limit) {
    const auto line = one_line(text, limit);
    EXPECT_LE(line.size(), limit);
    EXPECT_EQ(line.find('?'), std::string::npos);
    EXPECT_EQ(one_line(line), line) << "still UTF-8 at limit " << limit;
  }
}

TEST(OneLine, IsIdempotentForAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>((i * 7919 + i / 256) & 0xFF);
  const auto line = one_line(bytes, 4000);
  EXPECT_LE(line.size(), 4000U);
  EXPECT_EQ(one_line(line, 4000), line);
}

TEST(IsUtf8, TellsCharactersFromBytes) {
  for (const auto* text : {"", "plain", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const auto* text : {"\x88", "\xc3", "a\xc3(", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

}  // namespace
}  // namespace burst
