// SPDX-License-Identifier: Apache-2.0
// Tests of reading YAML and JSON as kubectl reads it, and of the limits.
#include "auth/kube_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"

namespace burst::auth {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

json parse(const std::string& text) { return parse_kube_document(text, "/etc/f.yaml"); }

std::string failure(const std::string& text) {
  try {
    return "no error: " + parse(text).dump();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "InvalidConfig");
    EXPECT_THAT(error.what(), HasSubstr("reading \"/etc/f.yaml\": "));
    return error.what();
  }
}

TEST(KubeDocument, TypesScalarsAsKubectlDoes) {
  const auto value = parse(R"(
text: plain words
quoted: "12"
single: 'true'
block: |
  a
  b
number: 12
negative: -12
octal: 017
modern: 0o17
hexadecimal: 0x1f
binary: 0b101
grouped: 1_000
big: 18446744073709551615
real: 1.5
power: 1e3
yes: yes
no: off
nothing:
tilde: ~
null_: null
quantity: 64Gi
milli: 500m
version: 1.2.3
dash: "-"
time: 2001-01-01
tagged: !!str 12
leading: 08
infinite: .inf
)");
  EXPECT_EQ(value, json::parse(R"({"text": "plain words", "quoted": "12", "single": "true", "block": "a\nb\n",
    "number": 12, "negative": -12, "octal": 15, "modern": 15, "hexadecimal": 31, "binary": 5, "grouped": 1000,
    "big": 18446744073709551615, "real": 1.5, "power": 1000.0, "yes": true, "no": false, "nothing": null, "tilde": null,
    "null_": null, "quantity": "64Gi", "milli": "500m", "version": "1.2.3", "dash": "-", "time": "2001-01-01",
    "tagged": "12", "leading": 8.0, "infinite": ".inf"})"));
}

TEST(KubeDocument, ReadsJson) {
  EXPECT_EQ(parse("\t{\"a\": \"\\u00e4\\ud83d\\ude00\\/\", \"b\": [1, {}]}\n"),
            json::parse("{\"a\": \"\\u00e4\\ud83d\\ude00/\", \"b\": [1, {}]}"));
  EXPECT_EQ(parse("{a: 1}"), json::parse(R"({"a": 1})"));  // a flow mapping is no JSON
}

TEST(KubeDocument, ResolvesAliasesAndMergeKeys) {
  EXPECT_EQ(parse("a: &x {k: 1, l: 2}\nb: *x\nc:\n  <<: *x\n  k: 3\nd: {<<: [*x, {m: 4}]}\n"),
            json::parse(R"({"a": {"k": 1, "l": 2}, "b": {"k": 1, "l": 2}, "c": {"k": 3, "l": 2},
                            "d": {"k": 1, "l": 2, "m": 4}})"));
}

TEST(KubeDocument, OfNothingIsNull) {
  for (const auto* text : {"", "\n", "# only a comment\n", "---\n", "~"}) EXPECT_TRUE(parse(text).is_null()) << text;
}

TEST(KubeDocument, SaysWhereItIsNoYamlAndQuotesNothing) {
  for (const auto* text : {"a: [s3cret", "a: \"s3cret", "a: b: s3cret", "s3cret: *s3cret", "a:\n\t- s3cret",
                           "a: %s3cret", "{\"a\": \"s3cret\"", "a: !s3cret x", "a: \"\\s3cret\"",
                           "s3cret: 1\ns3cret: 2", "? [s3cret]\n: 1", "a: 1\n<<: s3cret"}) {
    const auto message = failure(text);
    EXPECT_THAT(message, HasSubstr("line ")) << text;
    EXPECT_THAT(message, Not(HasSubstr("s3cret"))) << text;
    EXPECT_THAT(message, Not(HasSubstr("no error"))) << text;
  }
  EXPECT_THAT(failure("a: 1\nb:\n  c: 1\n  c: 2\n"),
              HasSubstr("line 4, column 3: expected each key of an object once"));
  EXPECT_THAT(failure("a: 1\n---\nb: 2\n"), HasSubstr("expected one document"));
}

TEST(KubeDocument, StaysWithinItsLimits) {
  EXPECT_THAT(failure(std::string(kLargestKubeDocument + 1, '#')), HasSubstr("expected at most 1024 KiB"));
  EXPECT_THAT(failure(std::string(2000, '[')), HasSubstr("line 1"));
  EXPECT_THAT(failure("{\"a\":" + std::string(20'000, '[') + std::string(20'000, ']') + "}"),
              HasSubstr("expected at most 100 levels"));
  std::string nested = "a: ";
  for (int i = 0; i < 150; ++i) nested += "[";
  nested += std::string(150, ']');
  EXPECT_THAT(failure(nested), HasSubstr("expected at most 100 levels"));

  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const auto name = "a" + std::to_string(i);
    const auto last = "*a" + std::to_string(i - 1);
    bomb += name + ": &" + name + " [";
    for (int k = 0; k < 8; ++k) bomb += last + ", ";
    bomb += last + "]\n";
  }
  EXPECT_THAT(failure(bomb), HasSubstr("expected at most 100000 values"));
}

TEST(KubeDocument, IsUtf8) {
  for (const std::string& text : {std::string("a: \x88\xcc"), std::string("- > \xc3("), std::string("d\0\0\0a: 1", 8)})
    EXPECT_THAT(failure(text), HasSubstr("expected a text in UTF-8"));
  EXPECT_EQ(parse("a: \xc3\xa4")["a"], "\xc3\xa4");
}

TEST(KubeDocument, EndsForWhatCanBeginNoValue) {
  for (const auto* text : {", a: s3cret}", "]", "}", "a: 1\n]", "---\n, a", "a: 1\n...\n, b"}) {
    const auto message = failure(text);
    EXPECT_THAT(message, HasSubstr("line ")) << text;
    EXPECT_THAT(message, HasSubstr("not YAML")) << text;
    EXPECT_THAT(message, Not(HasSubstr("s3cret"))) << text;
  }
}

TEST(KubeDocument, EndsForAnAliasOfItself) {
  const auto message = failure("a: &x [*x]\n");
  EXPECT_THAT(message, Not(HasSubstr("no error")));
}

}  // namespace
}  // namespace burst::auth
