// SPDX-License-Identifier: Apache-2.0
// Hostlists: every case that is known of Slurm's own parser and printer, and the limits.
#include "burst/hostlist.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burst/error.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::vector<std::string>;

struct ExpandCase {
  std::string list;
  Names names;
};

class HostlistExpandTable : public testing::TestWithParam<ExpandCase> {};

TEST_P(HostlistExpandTable, GivesWhatSlurmGives) { EXPECT_EQ(expand_hostlist(GetParam().list), GetParam().names); }

INSTANTIATE_TEST_SUITE_P(
    HostlistExpand, HostlistExpandTable,
    testing::Values(ExpandCase{"", {}}, ExpandCase{" ,\t,\n", {}}, ExpandCase{"n", {"n"}}, ExpandCase{"1", {"1"}},
                    ExpandCase{"aws-node-[0-3,7]",
                               {"aws-node-0", "aws-node-1", "aws-node-2", "aws-node-3", "aws-node-7"}},
                    ExpandCase{"a,b c\td\ne", {"a", "b", "c", "d", "e"}}, ExpandCase{",,a,,b,,", {"a", "b"}},
                    ExpandCase{"n[1],n1,n1", {"n1", "n1", "n1"}}, ExpandCase{"n[3,1-2,1]", {"n3", "n1", "n2", "n1"}},
                    ExpandCase{"[1-3]", {"1", "2", "3"}}, ExpandCase{"[001-002]", {"001", "002"}},
                    ExpandCase{"n[01-3]", {"n01", "n02", "n03"}}, ExpandCase{"n[1-03]", {"n1", "n2", "n3"}},
                    ExpandCase{"n[9-011]", {"n9", "n10", "n11"}}, ExpandCase{"n[09-11]", {"n09", "n10", "n11"}},
                    ExpandCase{"n[1-]", {"n1"}}, ExpandCase{"n[+1-2]", {"n01", "n02"}},
                    ExpandCase{"n[ 1-2]", {"n01", "n02"}}, ExpandCase{"n0[1-2]", {"n01", "n02"}},
                    ExpandCase{"n[01,1]", {"n01", "n1"}}, ExpandCase{"a[1-2]b[3-4]", {"a1b3", "a1b4", "a2b3", "a2b4"}},
                    ExpandCase{"a[1-2]b[3-4]c[5-6]",
                               {"a1b3c5", "a1b3c6", "a2b3c5", "a2b3c6", "a1b4c5", "a1b4c6", "a2b4c5", "a2b4c6"}},
                    ExpandCase{"a[1-2][3,4]", {"a13", "a14", "a23", "a24"}},
                    ExpandCase{"n[1-2].example.com", {"n1.example.com", "n2.example.com"}},
                    ExpandCase{"n[1-2]-x,m", {"n1-x", "n2-x", "m"}}, ExpandCase{"n[007-008]", {"n007", "n008"}},
                    ExpandCase{"n12345678901234567890123", {"n12345678901234567890123"}}));

TEST(HostlistExpand, KeepsTheOrderOfThreeAndFourBracketsAsSlurm) {
  EXPECT_THAT(expand_hostlist("a[1-2]b[1-2]c[1-2]d[1]"), ElementsAre("a1b1c1d1", "a2b1c1d1", "a1b2c1d1", "a2b2c1d1",
                                                                     "a1b1c2d1", "a2b1c2d1", "a1b2c2d1", "a2b2c2d1"));
}

struct BadCase {
  std::string list;
  std::string place;
};

class HostlistRejectTable : public testing::TestWithParam<BadCase> {};

TEST_P(HostlistRejectTable, NamesTheListAndThePlace) {
  try {
    expand_hostlist(GetParam().list);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "InvalidHostlist");
    EXPECT_THAT(error.what(), HasSubstr("\"" + GetParam().list.substr(0, 20)));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().place));
  }
}

INSTANTIATE_TEST_SUITE_P(
    HostlistExpand, HostlistRejectTable,
    testing::Values(BadCase{"n[1", "position 2: \"[\" without \"]\""}, BadCase{"ok,n[1-2", "position 5"},
                    BadCase{"n]", "position 2: unexpected"}, BadCase{"n[1]]", "position 5"},
                    BadCase{"n[]", "position 3: expected a number, found \"\""}, BadCase{"n[1,]", "position 5"},
                    BadCase{"n[,1]", "position 3"}, BadCase{"n[1,,2]", "position 5"},
                    BadCase{"n[a]", "position 3: expected a number, found \"a\""}, BadCase{"n[1-b]", "position 5"},
                    BadCase{"n[1a-3]", "position 3"}, BadCase{"n[1x3]", "position 3"}, BadCase{"n[-1]", "position 3"},
                    BadCase{"n[1--2]", "position 5"}, BadCase{"n[1-2-3]", "position 5"}, BadCase{"n[1 ]", "position 3"},
                    BadCase{"n[1-2 ]", "position 5"}, BadCase{"n[3-1]", "position 3: the range \"3-1\" runs backwards"},
                    BadCase{"n[0-65536]", "position 3: the range \"0-65536\" is too wide"},
                    BadCase{"n[[1-3]]", "position 3: a bracket within brackets"},
                    BadCase{"n[0-18446744073709551615]", "more than 18 digits"},
                    BadCase{"n[1234567890123456789]", "more than 18 digits"},
                    BadCase{"n[0-65535]a[0-1]b[0-1]", "too many names before the last bracket"}));

TEST(HostlistExpand, MakesAtMostTwoToTheTwentiethNames) {
  EXPECT_EQ(expand_hostlist("n[0-65535]x[0-15]").size(), 1U << 20U);
  EXPECT_THROW(expand_hostlist("n[0-65535]x[0-16]"), Error);
  EXPECT_THROW(expand_hostlist("n[0-65535]x[0-15],m"), Error);
}

TEST(HostlistExpand, BoundsMemoryForALongPrefix) {
  EXPECT_THROW(expand_hostlist(std::string(100'000, 'x') + "[0-65535]"), Error);
  EXPECT_THROW(expand_hostlist("n[0-65535][0-65535][0-65535][0-65535]"), Error);
}

TEST(HostlistExpand, TakesTheWidestRangeThatSlurmTakes) { EXPECT_EQ(expand_hostlist("n[0-65535]").size(), 65536U); }

TEST(HostlistExpand, IsLinearInManySmallBrackets) {
  std::string list;
  for (int i = 0; i < 100'000; ++i) list += "n" + std::to_string(i) + "x[1-2],";
  EXPECT_EQ(expand_hostlist(list).size(), 200'000U);
  std::string brackets;
  for (int i = 0; i < 40'000; ++i) brackets += "[1]";
  EXPECT_THAT(expand_hostlist(brackets), ElementsAre(std::string(40'000, '1')));
}

struct FoldCase {
  Names names;
  std::string list;
};

class HostlistFoldTable : public testing::TestWithParam<FoldCase> {};

TEST_P(HostlistFoldTable, PrintsAsSlurmAndExpandsToTheSame) {
  EXPECT_EQ(fold_hostlist(GetParam().names), GetParam().list);
  EXPECT_EQ(expand_hostlist(GetParam().list), GetParam().names);
}

INSTANTIATE_TEST_SUITE_P(
    HostlistFold, HostlistFoldTable,
    testing::Values(FoldCase{{}, ""}, FoldCase{{"n"}, "n"}, FoldCase{{"n", "n"}, "n,n"}, FoldCase{{"1"}, "1"},
                    FoldCase{{"n1", "n2", "n3"}, "n[1-3]"}, FoldCase{{"n1"}, "n1"}, FoldCase{{"n01", "n1"}, "n[01,1]"},
                    FoldCase{{"n9", "n10", "n11"}, "n[9-11]"}, FoldCase{{"n09", "n10"}, "n[09-10]"},
                    FoldCase{{"n08", "n09", "n10", "n11", "n1", "n2"}, "n[08-11,1-2]"},
                    FoldCase{{"n3", "n2", "n1"}, "n[3,2,1]"}, FoldCase{{"n1", "n1"}, "n[1,1]"},
                    FoldCase{{"1", "2", "3"}, "[1-3]"}, FoldCase{{"001", "002"}, "[001-002]"},
                    FoldCase{{"n1", "m1", "n2"}, "n1,m1,n2"}, FoldCase{{"a-1", "a-2", "b", "a-3"}, "a-[1-2],b,a-3"},
                    FoldCase{{"n099", "n100"}, "n[099-100]"}, FoldCase{{"n99", "n100"}, "n[99-100]"},
                    FoldCase{{"n099", "n0100"}, "n[099,0100]"}, FoldCase{{"10.0.0.9", "10.0.0.10"}, "10.0.0.[9-10]"},
                    FoldCase{{"n1.x", "n2.x"}, "n1.x,n2.x"},
                    FoldCase{{"n1234567890123456789", "n1234567890123456790"},
                             "n1234567890123456789,n1234567890123456790"}));

TEST(HostlistFold, SplitsARangeThatSlurmWouldRefuse) {
  Names names = expand_hostlist("n[0-65535],n65536,n65537");
  EXPECT_EQ(fold_hostlist(names), "n[0-65535,65536-65537]");
  EXPECT_EQ(expand_hostlist(fold_hostlist(names)), names);
}

TEST(HostlistSort, OrdersByPrefixThenNumberAndDropsDuplicates) {
  Names names{"n10", "n9", "m2", "n9", "n", "n1", "m10", "n01"};
  sort_hostnames(names);
  EXPECT_THAT(names, ElementsAre("m2", "m10", "n", "n1", "n9", "n01", "n10"));
  Names none;
  sort_hostnames(none);
  EXPECT_THAT(none, IsEmpty());
}

TEST(HostlistSort, OrdersPrefixesNaturallyAsSlurmDoes) {
  Names names{"p-g10-1", "p-g9-10", "p-g9-9", "p-a-3"};
  sort_hostnames(names);
  EXPECT_THAT(names, ElementsAre("p-a-3", "p-g9-9", "p-g9-10", "p-g10-1"));
}

TEST(Hostlist, IsFastForAHundredThousandNames) {
  const auto begin = std::chrono::steady_clock::now();
  Names names = expand_hostlist("aws-node-[0-49999],aws-nodf-[0-49999]");
  ASSERT_EQ(names.size(), 100'000U);
  EXPECT_EQ(fold_hostlist(names), "aws-node-[0-49999],aws-nodf-[0-49999]");
  sort_hostnames(names);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took, std::chrono::seconds(2)) << "some 20 ms are normal; this bound only finds a quadratic step";
  RecordProperty("milliseconds", static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

}  // namespace
}  // namespace burst
