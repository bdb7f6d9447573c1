// SPDX-License-Identifier: Apache-2.0
// The table of docs/providers/gce.md says of each code of the error table what kind it is, and of no other.
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/gce/gce_errors.h"

namespace burst::gce {
namespace {

using Kinds = std::map<std::string, std::string>;

std::string file_text(const char* path) {
  std::ifstream file(std::string(BURST_SOURCE_DIR) + path);
  EXPECT_TRUE(file.is_open()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Kinds of_the_code() {
  const auto text = file_text("/src/providers/gce/gce_errors.cpp");
  const std::regex row(R"re(Row\{"(\w+)", ErrorKind::(\w+)\})re");
  Kinds kinds;
  for (std::sregex_iterator found(text.begin(), text.end(), row), end; found != end; ++found)
    kinds[(*found)[1]] = (*found)[2];
  return kinds;
}

/// Rows `| CODES | kind | ...` below the heading.
Kinds of_the_documentation() {
  std::istringstream lines(file_text("/docs/providers/gce.md"));
  const std::regex row(R"re(\| (`.*`) \| (\w+) \| .*)re"), code(R"re(`(\w+)`)re");
  Kinds kinds;
  std::string line;
  std::smatch match;
  for (bool inside = false; std::getline(lines, line);) {
    if (line.starts_with("#")) inside = line == "## When Compute Engine says no";
    if (!inside || !std::regex_match(line, match, row)) continue;
    const std::string codes = match[1];
    for (std::sregex_iterator found(codes.begin(), codes.end(), code), end; found != end; ++found)
      EXPECT_TRUE(kinds.emplace((*found)[1], match[2]).second) << (*found)[1] << " stands there twice";
  }
  return kinds;
}

TEST(GceErrors, DocumentationNamesEveryCodeAndItsKind) {
  const auto kinds = of_the_code();
  EXPECT_GT(kinds.size(), 50U);
  EXPECT_THAT(of_the_documentation(), testing::ContainerEq(kinds));
}

}  // namespace
}  // namespace burst::gce
