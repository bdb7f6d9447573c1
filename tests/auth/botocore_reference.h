// SPDX-License-Identifier: Apache-2.0
// Asking other people's libraries, as Debian has them, what they make of our test cases.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace burst::auth {

/// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto name = (std::filesystem::temp_directory_path() / "burst-auth-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

/// One answer a case from `script` of this folder. The libraries that scripts ask are packages that the tests require:
/// without them they fail.
inline nlohmann::json ask_reference(const std::string& script, const std::string& question,
                                    const nlohmann::json& cases) {
  const TemporaryFolder folder;
  const auto input = folder.write("cases.json", nlohmann::json{{"question", question}, {"cases", cases}}.dump());
  const auto command = "/usr/bin/python3 -B '" BURST_SOURCE_DIR "/tests/auth/" + script + "' < '" + input + "'";
  auto* pipe = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c): fixed text
  std::string output;
  std::array<char, 65536> buffer{};
  while (const auto count = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), count);
  const int status = ::pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << script << " failed";
  auto answers = nlohmann::json::parse(output, nullptr, false);
  EXPECT_TRUE(answers.is_array() && answers.size() == cases.size()) << output;
  return answers;
}

inline nlohmann::json ask_botocore(const std::string& question, const nlohmann::json& cases) {
  return ask_reference("botocore_reference.py", question, cases);
}

}  // namespace burst::auth
