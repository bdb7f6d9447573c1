// SPDX-License-Identifier: Apache-2.0
#include "system/state_dir.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burst/error.h"
#include "fakes/fake_services.h"
#include "fakes/temporary_folder.h"
#include "system/disk_files.h"

namespace burst {
namespace {

class StateDirTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  DiskFiles files_;
  FakeClock clock_;
  std::string path_ = folder_.path() + "/state";
  StateDir state_{path_, files_, clock_};

  /// A second process's view of the same folder: locks of flock are per open file, so an object of its own will do.
  StateDir other_{path_, files_, clock_};
};

using namespace std::chrono_literals;

TEST_F(StateDirTest, ALockedGroupIsNotLockedTwice) {
  auto lock = state_.lock_group("aws-node", 0ms);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(other_.lock_group("aws-node", 100ms));
  EXPECT_TRUE(other_.lock_group("aws-gpu", 0ms));
  lock.reset();
  EXPECT_TRUE(other_.lock_group("aws-node", 0ms));
}

TEST_F(StateDirTest, WaitingForALockEndsAtItsLimit) {
  const auto lock = state_.lock_group("aws-node", 0ms);
  const auto before = clock_.steady;
  EXPECT_FALSE(other_.lock_group("aws-node", 3s));
  EXPECT_GE(clock_.steady - before, 3s);
  EXPECT_LT(clock_.steady - before, 3100ms);
}

TEST_F(StateDirTest, TheLockOfAKilledProcessIsFree) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = StateDir(path_, files_, clock_).lock_group("aws-node", 0ms);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(state_.lock_group("aws-node", 0ms));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(state_.lock_group("aws-node", 0ms));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(StateDirTest, OneChangeStateAtATime) {
  const auto first = state_.lock_change_state();
  EXPECT_TRUE(first);
  EXPECT_FALSE(other_.lock_change_state());
}

TEST_F(StateDirTest, AFolderThatCannotBeWrittenIsNamed) {
  const std::string file = folder_.path() + "/file";
  std::ofstream(file) << "x";
  StateDir broken(file, files_, clock_);
  try {
    (void)broken.lock_group("aws-node", 0ms);
    FAIL() << "locked below a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "StateDirError");
    EXPECT_NE(std::string(error.what()).find(file), std::string::npos);
  }
  EXPECT_THROW((void)broken.begin("aws-node", "sb-1"), Error);
}

TEST_F(StateDirTest, MemoryIsEmptyUntilWritten) {
  EXPECT_EQ(state_.read_memory("aws-node"), "");
  state_.write_memory("aws-node", "{}");
  EXPECT_EQ(other_.read_memory("aws-node"), "{}");
}

TEST_F(StateDirTest, AssignmentsAreSeenByOthersAtOnce) {
  const auto record = state_.begin("aws-node", "sb-1");
  record->assign({{"i-1", "aws-node-0"}});
  record->assign({{"i-2", "aws-node-1"}});
  EXPECT_EQ(other_.assignments("aws-node"), (Assignments{{"i-1", "aws-node-0"}, {"i-2", "aws-node-1"}}));
  EXPECT_TRUE(other_.assignments("aws-gpu").empty());
}

TEST_F(StateDirTest, ALaunchRunsAsLongAsItsRecordLives) {
  auto record = state_.begin("aws-node", "sb-1");
  EXPECT_TRUE(other_.running("aws-node", "sb-1"));
  EXPECT_FALSE(other_.running("aws-node", "sb-2"));
  record.reset();
  EXPECT_FALSE(other_.running("aws-node", "sb-1"));
}

TEST_F(StateDirTest, AFinishedLaunchLeavesNoRecord) {
  auto record = state_.begin("aws-node", "sb-1");
  record->assign({{"i-1", "aws-node-0"}});
  record->finished();
  record.reset();
  EXPECT_TRUE(other_.assignments("aws-node").empty());
}

TEST_F(StateDirTest, ForgetsADeadLaunchOnlyWhenItsMachinesAreNamed) {
  state_.begin("aws-node", "sb-1")->assign({{"i-1", "aws-node-0"}});
  const auto alive = state_.begin("aws-node", "sb-2");
  alive->assign({{"i-2", "aws-node-1"}});
  other_.forget_dead("aws-node", std::vector<std::string>{"i-1"});
  EXPECT_EQ(other_.assignments("aws-node").size(), 2U);
  other_.forget_dead("aws-node", {});
  EXPECT_EQ(other_.assignments("aws-node"), (Assignments{{"i-2", "aws-node-1"}}));
}

TEST_F(StateDirTest, ALineCutByAKillIsNoAssignment) {
  state_.begin("aws-node", "sb-1");
  std::ofstream(path_ + "/launches/aws-node/sb-1", std::ios::app) << "i-1 aws-node-0\ni-2 aws-no";
  EXPECT_EQ(other_.assignments("aws-node"), (Assignments{{"i-1", "aws-node-0"}}));
}

}  // namespace
}  // namespace burst
