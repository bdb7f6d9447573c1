// SPDX-License-Identifier: Apache-2.0
#include "system/disk_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "burst/error.h"
#include "fakes/temporary_folder.h"

namespace burst {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 07777U;
}

TEST(DiskFiles, ReadGivesNothingForAMissingFile) {
  const TemporaryFolder folder;
  EXPECT_FALSE(DiskFiles().read(folder.path() + "/none").has_value());
  EXPECT_FALSE(DiskFiles().read(folder.path() + "/none/below").has_value());
}

TEST(DiskFiles, ReadNamesAFileThatIsAFolder) {
  const TemporaryFolder folder;
  try {
    (void)DiskFiles().read(folder.path());
    FAIL() << "a folder was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "FileError");
    EXPECT_NE(std::string(error.what()).find(folder.path()), std::string::npos);
  }
}

TEST(DiskFiles, WriteKeepsTheModeOfAFileThatItReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/slurm.conf.aws";
  std::ofstream(path) << "old";
  ASSERT_EQ(chmod(path.c_str(), 0604), 0);
  DiskFiles().write(path, "new", 0640);
  EXPECT_EQ(DiskFiles().read(path), "new");
  EXPECT_EQ(mode_of(path), 0604U);
}

TEST(DiskFiles, WriteKeepsTheOwnerOfAFileThatItReplaces) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  std::ofstream(path) << "old";
  constexpr uid_t kSomeone = 12345;
  ASSERT_EQ(chown(path.c_str(), kSomeone, kSomeone), 0);
  DiskFiles().write(path, "new", 0640);
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kSomeone);
  EXPECT_EQ(info.st_gid, kSomeone);
}

TEST(DiskFiles, RootsNewFileBelongsToTheFoldersOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TemporaryFolder folder;
  constexpr uid_t kSlurm = 12345;
  ASSERT_EQ(chown(folder.path().c_str(), kSlurm, kSlurm), 0);
  DiskFiles().write(folder.path() + "/state", "x", 0640);
  ASSERT_TRUE(make_folder_for_owner(folder.path() + "/a/b", 0750));
  for (const char* name : {"/state", "/a", "/a/b"}) {
    struct stat info {};
    ASSERT_EQ(stat((folder.path() + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, kSlurm) << name;
  }
}

TEST(DiskFiles, AFailedWriteLeavesTheOldContentAndNoTemporaryFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/target";
  std::filesystem::create_directory(path);  // rename() over a folder fails
  EXPECT_THROW(DiskFiles().write(path, "x", 0640), Error);
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++entries;
  EXPECT_EQ(entries, 1U);
}

TEST(DiskFiles, WriteToAFullDiskNamesTheFile) {
  try {
    DiskFiles().write("/dev/full/x", "x", 0640);
    FAIL() << "wrote below a device";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/full/x"), std::string::npos);
  }
}

}  // namespace
}  // namespace burst
