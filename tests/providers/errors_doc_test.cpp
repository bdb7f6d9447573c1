// SPDX-License-Identifier: Apache-2.0
// The table of a provider's page says of each code of its error table what kind it is, and of no other.
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burst {
namespace {

using Kinds = std::map<std::string, std::string>;

struct Table {
  const char *provider, *code, *page;
  const char* row;      ///< of the table in the code: a code and its kind
  const char* heading;  ///< on the page
  std::size_t more_than;
};

constexpr Table kTables[] = {
    {"gce", "/src/providers/gce/gce_errors.cpp", "/docs/providers/gce.md", R"re(Row\{"(\w+)", ErrorKind::(\w+)\})re",
     "## When Compute Engine says no", 50},
    {"kubernetes", "/src/providers/kubernetes/kubernetes_errors.cpp", "/docs/providers/kubernetes.md",
     R"re(Row\{[^}]*"(\w+)", ErrorMeaning::(\w+)\})re", "## When Kubernetes says no", 15},
};

std::string file_text(const char* path) {
  std::ifstream file(std::string(BURST_SOURCE_DIR) + path);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Kinds of_the_code(const Table& table) {
  const auto text = file_text(table.code);
  const std::regex row(table.row);
  Kinds kinds;
  for (std::sregex_iterator found(text.begin(), text.end(), row), end; found != end; ++found)
    EXPECT_EQ(kinds.emplace((*found)[1], (*found)[2]).first->second, (*found)[2]) << (*found)[1] << " is of two kinds";
  return kinds;
}

/// Rows `| CODES | kind | ...` below the heading.
Kinds of_the_documentation(const Table& table) {
  std::istringstream lines(file_text(table.page));
  const std::regex row(R"re(\| (`.*`) \| (\w+) \| .*)re"), code(R"re(`(\w+)`)re");
  Kinds kinds;
  std::string line;
  std::smatch match;
  for (bool inside = false; std::getline(lines, line);) {
    if (line.starts_with("#")) inside = line == table.heading;
    if (!inside || !std::regex_match(line, match, row)) continue;
    const std::string codes = match[1];
    for (std::sregex_iterator found(codes.begin(), codes.end(), code), end; found != end; ++found)
      EXPECT_TRUE(kinds.emplace((*found)[1], match[2]).second) << (*found)[1] << " stands there twice";
  }
  return kinds;
}

class ErrorsDoc : public testing::TestWithParam<Table> {};

TEST_P(ErrorsDoc, NamesEveryCodeAndItsKind) {
  const auto kinds = of_the_code(GetParam());
  EXPECT_GT(kinds.size(), GetParam().more_than);
  EXPECT_THAT(of_the_documentation(GetParam()), testing::ContainerEq(kinds));
}

INSTANTIATE_TEST_SUITE_P(Providers, ErrorsDoc, testing::ValuesIn(kTables),
                         [](const auto& row) { return std::string(row.param.provider); });

}  // namespace
}  // namespace burst
