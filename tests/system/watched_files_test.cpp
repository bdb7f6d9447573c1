// SPDX-License-Identifier: Apache-2.0
#include "system/watched_files.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/fake_services.h"
#include "fakes/temporary_folder.h"
#include "system/disk_files.h"

namespace burst {
namespace {

using ::testing::HasSubstr;

class WatchedFilesTest : public testing::Test {
 protected:
  std::string file(const std::string& name, unsigned mode) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << "content";
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  TemporaryFolder folder_;
  DiskFiles disk_;
  FakeLog log_;
  WatchedFiles files_{disk_};
};

TEST_F(WatchedFilesTest, AFileThatOnlyItsOwnerCanWriteIsReadWithoutAWord) {
  files_.report_to(log_);
  for (const unsigned mode : {0600U, 0640U, 0644U, 0444U, 0755U}) {
    EXPECT_EQ(files_.read(file("config.json", mode)), "content");
  }
  EXPECT_FALSE(files_.read(folder_.path() + "/none"));
  EXPECT_EQ(log_.text(), "");
}

TEST_F(WatchedFilesTest, AFileThatOthersCanWriteIsNamedOnceAndRead) {
  files_.report_to(log_);
  const auto path = file("partitions.json", 0666);
  EXPECT_EQ(files_.read(path), "content");
  EXPECT_EQ(files_.read(path), "content");
  ASSERT_EQ(log_.lines.size(), 1U);
  EXPECT_EQ(log_.lines[0].first, LogLevel::warning);
  EXPECT_THAT(log_.text(), HasSubstr("\"" + path + "\" is writable by everybody (mode 0666)"));
  files_.read(file("credentials", 0660));
  ASSERT_EQ(log_.lines.size(), 2U);
  EXPECT_THAT(log_.text(), HasSubstr("/credentials\" is writable by its group (mode 0660)"));
}

TEST_F(WatchedFilesTest, WhatIsFoundBeforeThereIsALogIsSaidThen) {
  files_.read(file("config.json", 0622));
  EXPECT_EQ(log_.text(), "");
  files_.report_to(log_);
  EXPECT_THAT(log_.text(), HasSubstr("config.json"));
}

TEST_F(WatchedFilesTest, ALinkIsJudgedByWhatItLeadsTo) {
  files_.report_to(log_);
  std::filesystem::create_symlink(file("real", 0600), folder_.path() + "/link");
  files_.read(folder_.path() + "/link");
  EXPECT_EQ(log_.text(), "");
  EXPECT_EQ(chmod((folder_.path() + "/real").c_str(), 0606), 0);
  files_.read(folder_.path() + "/link");
  EXPECT_THAT(log_.text(), HasSubstr("/link\" is writable by everybody"));
}

TEST_F(WatchedFilesTest, ADescriptorOfAnotherProcessIsNotJudgedByItsMode) {
  files_.report_to(log_);
  const int descriptor = memfd_create("resume", MFD_CLOEXEC);  // as slurmctld's SLURM_RESUME_FILE; its mode is 0777
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(files_.read("/proc/self/fd/" + std::to_string(descriptor)), "");
  EXPECT_EQ(log_.text(), "");
  close(descriptor);
}

TEST_F(WatchedFilesTest, AFolderIsCheckedToo) {
  files_.report_to(log_);
  const auto path = folder_.path() + "/state";
  std::filesystem::create_directory(path);
  ASSERT_EQ(chmod(path.c_str(), 0750), 0);
  files_.check(path);
  files_.check(folder_.path() + "/none");
  EXPECT_EQ(log_.text(), "");
  ASSERT_EQ(chmod(path.c_str(), 0777), 0);
  files_.check(path);
  EXPECT_THAT(log_.text(), HasSubstr("/state\" is writable by everybody (mode 0777)"));
}

}  // namespace
}  // namespace burst
