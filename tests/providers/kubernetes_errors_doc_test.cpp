// SPDX-License-Identifier: Apache-2.0
// The table of docs/providers/kubernetes.md says of each code of the error table what kind it is, and of no other.
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/kubernetes/kubernetes_errors.h"

namespace burst::kubernetes {
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
  const auto text = file_text("/src/providers/kubernetes/kubernetes_errors.cpp");
  const std::regex row(R"re(Row\{[^}]*"(\w+)", ErrorMeaning::(\w+)\})re");
  Kinds kinds;
  for (std::sregex_iterator found(text.begin(), text.end(), row), end; found != end; ++found)
    EXPECT_EQ(kinds.emplace((*found)[1], (*found)[2]).first->second, (*found)[2]) << (*found)[1] << " is of two kinds";
  return kinds;
}

/// Rows `| CODES | kind | ...` below the heading.
Kinds of_the_documentation() {
  std::istringstream lines(file_text("/docs/providers/kubernetes.md"));
  const std::regex row(R"re(\| (`.*`) \| (\w+) \| .*)re"), code(R"re(`(\w+)`)re");
  Kinds kinds;
  std::string line;
  std::smatch match;
  for (bool inside = false; std::getline(lines, line);) {
    if (line.starts_with("#")) inside = line == "## When Kubernetes says no";
    if (!inside || !std::regex_match(line, match, row)) continue;
    const std::string codes = match[1];
    for (std::sregex_iterator found(codes.begin(), codes.end(), code), end; found != end; ++found)
      EXPECT_TRUE(kinds.emplace((*found)[1], match[2]).second) << (*found)[1] << " stands there twice";
  }
  return kinds;
}

TEST(KubernetesErrorsDoc, DocumentationNamesEveryCodeAndItsKind) {
  const auto kinds = of_the_code();
  EXPECT_GT(kinds.size(), 15U);
  EXPECT_THAT(of_the_documentation(), testing::ContainerEq(kinds));
}

}  // namespace
}  // namespace burst::kubernetes
