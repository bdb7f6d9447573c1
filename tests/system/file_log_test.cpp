// SPDX-License-Identifier: Apache-2.0
#include "system/file_log.h"

#include <algorithm>
#include <regex>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.h"
#include "system/disk_files.h"

namespace burst {
namespace {

TEST(FileLog, WritesLinesInThePythonPluginsFormat) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/aws.log";
  testing::internal::CaptureStderr();
  make_file_log({"resume", path, LogLevel::debug})->warning("Failed to launch 2 nodes");
  const std::string console = testing::internal::GetCapturedStderr();
  const std::string time = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})";
  const std::string text = *DiskFiles().read(path);
  EXPECT_TRUE(std::regex_match(text, std::regex(time + " - resume - WARNING - Failed to launch 2 nodes\n"))) << text;
  EXPECT_TRUE(std::regex_match(console, std::regex(time + " - WARNING - Failed to launch 2 nodes\n"))) << console;
}

TEST(FileLog, NamesLevelsAsPythonDoes) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/aws.log";
  testing::internal::CaptureStderr();
  const auto log = make_file_log({"resume", path, LogLevel::debug});
  log->debug("a");
  log->info("b");
  log->error("c");
  log->critical("d");
  testing::internal::GetCapturedStderr();
  const std::string text = *DiskFiles().read(path);
  for (const char* expected : {"DEBUG - a", "INFO - b", "ERROR - c", "CRITICAL - d"})
    EXPECT_NE(text.find(expected), std::string::npos) << text;
}

TEST(FileLog, NoMessageForgesALineOrDrivesATerminal) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/aws.log";
  testing::internal::CaptureStderr();
  make_file_log({"resume", path, LogLevel::debug})
      ->error("denied\n2026-11-21 10:00:00,000 - resume - INFO - all is well\r\x1b[2J");
  const std::string console = testing::internal::GetCapturedStderr();
  for (const std::string& text : {*DiskFiles().read(path), console}) {
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos) << text;
    EXPECT_NE(text.find("denied 2026"), std::string::npos) << text;
  }
}

TEST(FileLog, LeavesOutWhatIsBelowItsLevel) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/aws.log";
  const auto log = make_file_log({"resume", path, LogLevel::warning});
  log->info("quiet");
  EXPECT_FALSE(log->enabled(LogLevel::info));
  EXPECT_EQ(DiskFiles().read(path), "");
}

TEST(FileLog, AFileThatCannotBeOpenedIsReportedOnceAndTheConsoleGoesOn) {
  testing::internal::CaptureStderr();
  const auto log = make_file_log({"resume", "/nowhere/aws.log", LogLevel::debug});
  log->error("one");
  log->error("two");
  const std::string console = testing::internal::GetCapturedStderr();
  EXPECT_NE(console.find("/nowhere/aws.log"), std::string::npos);
  EXPECT_EQ(console.find("/nowhere/aws.log"), console.rfind("/nowhere/aws.log"));
  EXPECT_NE(console.find("two"), std::string::npos);
}

TEST(FileLog, AFullDiskIsReportedOnce) {
  testing::internal::CaptureStderr();
  const auto log = make_file_log({"resume", "/dev/full", LogLevel::debug});
  log->error("one");
  log->error("two");
  const std::string console = testing::internal::GetCapturedStderr();
  EXPECT_NE(console.find("\"/dev/full\": No space left on device"), std::string::npos) << console;
  EXPECT_EQ(console.find("/dev/full"), console.rfind("/dev/full"));
}

}  // namespace
}  // namespace burst
