// SPDX-License-Identifier: Apache-2.0
// Hostlists against the real scontrol, on generated input: it is asked in a few runs, many lists in each.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include "burst/error.h"
#include "burst/hostlist.h"

namespace burst {
namespace {

/// BURST_SEED: any number, for other inputs than the default's.
unsigned seed() {
  const char* given = std::getenv("BURST_SEED");
  return given == nullptr ? 20260801U : static_cast<unsigned>(std::stoul(given));
}
constexpr const char* kScontrol = "/usr/bin/scontrol";

/// A folder with a slurm.conf that scontrol can read; no Slurm runs.
class HostlistDifferential : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kScontrol)) GTEST_SKIP() << "no " << kScontrol;
    std::string folder = (std::filesystem::temp_directory_path() / "burst-hostlist-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    std::ofstream(folder_ / "slurm.conf") << "ClusterName=t\nSlurmctldHost=localhost\n";
    std::cout << "seed " << seed_ << " (BURST_SEED)\n";
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  /// What scontrol prints for commands given on its stdin, one string a command: it echoes each before its output.
  std::vector<std::string> ask(const std::vector<std::string>& commands) {
    {
      std::ofstream input(folder_ / "input");
      for (const auto& command : commands) input << command << "\n";
    }
    const std::string shell = "COLUMNS=32000 TERM=dumb SLURM_CONF='" + (folder_ / "slurm.conf").string() + "' " +
                              kScontrol + " <'" + (folder_ / "input").string() + "' 2>&1";
    FILE* pipe = popen(shell.c_str(), "r");
    std::string output;
    char buffer[65536];
    for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
    pclose(pipe);
    std::vector<std::string> answers;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      if (answers.size() < commands.size() && line == "scontrol: " + commands[answers.size()]) {
        answers.emplace_back();
      } else if (!answers.empty() && line != "scontrol: ") {
        answers.back() += line + "\n";
      }
    }
    return answers;
  }

  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  std::string number(int max_digits) {
    std::string text;
    for (int i = pick(1, max_digits); i > 0; --i) text += static_cast<char>('0' + pick(0, 9));
    return text;
  }

  std::string bracket() {
    std::string text = "[";
    for (int i = pick(1, 3); i > 0; --i) {
      const std::string low = number(2);
      text += low;
      if (pick(0, 1) == 1)
        text +=
            "-" + std::string(static_cast<std::size_t>(pick(0, 2)), '0') + std::to_string(std::stoi(low) + pick(0, 12));
      if (i > 1) text += ',';
    }
    return text + "]";
  }

  std::string word() {
    static const std::vector<std::string> words{"n", "aws-node-", "x0", "a-b9-", "gpu", "", "10.0.0."};
    return words[static_cast<std::size_t>(pick(0, static_cast<int>(words.size()) - 1))];
  }

  std::string valid_list() {
    std::string list;
    for (int tokens = pick(1, 4); tokens > 0; --tokens) {
      switch (pick(0, 3)) {
        case 0:
          list += "h" + word() + number(3);
          break;
        case 1:
          list += word() + bracket();
          break;
        case 2:
          list += "y" + word() + bracket() + word() + bracket();
          break;
        default:
          list += "z" + bracket() + "-" + bracket() + word() + bracket();
          break;
      }
      list += tokens > 1 ? (pick(0, 9) == 0 ? ",," : ",") : "";
    }
    return list;
  }

  std::string perhaps_broken_list() {
    static const std::string letters = "0123456789123456789-,,-+x";
    std::string list = "n[";
    for (int i = pick(0, 7); i > 0; --i)
      list += letters[static_cast<std::size_t>(pick(0, static_cast<int>(letters.size()) - 1))];
    return list + "]";
  }

  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (int i = pick(1, 25); i > 0; --i) {
      names.push_back((pick(0, 4) == 0 ? "m" : "n") + (pick(0, 9) == 0 ? "" : number(2)));
    }
    return names;
  }

  std::filesystem::path folder_;
  unsigned seed_ = seed();
  std::mt19937 random_{seed_};
};

std::string lines_of(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += name + "\n";
  return text;
}

TEST_F(HostlistDifferential, ExpandsValidListsAsScontrol) {
  std::vector<std::string> lists, commands;
  for (int i = 0; i < 3000; ++i) {
    lists.push_back(valid_list());
    commands.push_back("show hostnames " + lists.back());
  }
  const auto answers = ask(commands);
  ASSERT_EQ(answers.size(), lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) EXPECT_EQ(lines_of(expand_hostlist(lists[i])), answers[i]) << lists[i];
}

TEST_F(HostlistDifferential, RefusesWhatScontrolRefuses) {
  std::vector<std::string> lists, commands;
  for (int i = 0; i < 2000; ++i) {
    lists.push_back(perhaps_broken_list());
    commands.push_back("show hostlist " + lists.back());
  }
  const auto answers = ask(commands);
  ASSERT_EQ(answers.size(), lists.size());
  int refused = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    std::optional<std::vector<std::string>> ours;
    try {
      ours = expand_hostlist(lists[i]);
    } catch (const Error&) {
      ++refused;
    }
    // strtoul() stops at the first letter of a low bound and nobody looks: `[1x-3]` passes there, not here.
    const bool letters_in_bound = lists[i].find_first_of("+x") != std::string::npos;
    const bool theirs = answers[i].find("Invalid hostlist") == std::string::npos;
    if (!letters_in_bound) {
      EXPECT_EQ(ours.has_value(), theirs) << lists[i] << ": " << answers[i];
    } else {
      EXPECT_TRUE(theirs || !ours) << lists[i] << ": " << answers[i];
    }
    if (ours && theirs) {
      EXPECT_EQ(fold_hostlist(*ours) + "\n", answers[i]) << lists[i];
    }
  }
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 1900);
}

TEST_F(HostlistDifferential, FoldsAsScontrol) {
  std::vector<std::vector<std::string>> inputs;
  std::vector<std::string> commands;
  for (int i = 0; i < 2000; ++i) {
    inputs.push_back(names());
    std::string list;
    for (const auto& name : inputs.back()) list += (list.empty() ? "" : ",") + name;
    commands.push_back("show hostlist " + list);
  }
  const auto answers = ask(commands);
  ASSERT_EQ(answers.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(fold_hostlist(inputs[i]) + "\n", answers[i]) << commands[i];
    EXPECT_EQ(expand_hostlist(fold_hostlist(inputs[i])), inputs[i]) << commands[i];
  }
}

TEST_F(HostlistDifferential, SortsAsScontrol) {
  std::vector<std::vector<std::string>> inputs;
  std::vector<std::string> commands;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::string> input;
    for (int n = pick(1, 20); n > 0; --n) input.push_back("p-g" + number(2) + "-" + number(3));
    std::vector<std::string> sorted = input;
    sort_hostnames(sorted);
    if (sorted.size() != input.size()) continue;  // scontrol keeps duplicates
    std::string list;
    for (const auto& name : input) list += (list.empty() ? "" : ",") + name;
    inputs.push_back(sorted);
    commands.push_back("show hostlistsorted " + list);
  }
  const auto answers = ask(commands);
  ASSERT_EQ(answers.size(), inputs.size());
  ASSERT_GT(inputs.size(), 1500U);
  for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(fold_hostlist(inputs[i]) + "\n", answers[i]) << commands[i];
}

}  // namespace
}  // namespace burst
