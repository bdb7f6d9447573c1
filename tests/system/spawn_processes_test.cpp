// SPDX-License-Identifier: Apache-2.0
#include "system/spawn_processes.h"

#include <csignal>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "burst/error.h"

namespace burst {
namespace {

ProcessRequest shell(const std::string& script) {
  ProcessRequest request;
  request.argv = {"/bin/sh", "-c", script};
  return request;
}

TEST(SpawnProcesses, GivesStatusOutputAndErrors) {
  const auto result = SpawnProcesses().run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(SpawnProcesses, CarriesMegabytesBothWays) {
  ProcessRequest request = shell("cat");
  request.input.assign(5'000'000, 'x');
  EXPECT_EQ(SpawnProcesses().run(request).output, request.input);
}

TEST(SpawnProcesses, SurvivesAProgramThatDoesNotReadItsInput) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  ProcessRequest request = shell("exit 0");
  request.input.assign(1'000'000, 'x');
  EXPECT_EQ(SpawnProcesses().run(request).status, 0);
}

TEST(SpawnProcesses, KillsAHangingProgramAndItsChildrenAtTheTimeLimit) {
  ProcessRequest request = shell("sleep 1000 & echo $!; wait");
  request.timeout = std::chrono::milliseconds{200};
  const auto result = SpawnProcesses().run(request);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.status, 128 + SIGKILL);
  const pid_t grandchild = std::stoi(result.output);
  // Killed with its group; whoever inherited it reaps it soon.
  for (int i = 0; i < 1000 && kill(grandchild, 0) == 0; ++i) usleep(10'000);
  EXPECT_NE(kill(grandchild, 0), 0);
}

TEST(SpawnProcesses, KillsAProgramThatHangsAfterClosingItsOutput) {
  ProcessRequest request = shell("exec >&- 2>&-; sleep 1000");
  request.timeout = std::chrono::milliseconds{200};
  EXPECT_TRUE(SpawnProcesses().run(request).timed_out);
}

TEST(SpawnProcesses, AMissingProgramIsAnErrorThatNamesIt) {
  ProcessRequest request;
  request.argv = {"/nowhere/scontrol"};
  try {
    (void)SpawnProcesses().run(request);
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "running \"/nowhere/scontrol\": No such file or directory");
  }
}

TEST(SpawnProcesses, NoShellEverSeesTheArguments) {
  ProcessRequest request;
  request.argv = {"printf", "%s", "$(id) `id` ; echo x"};
  EXPECT_EQ(SpawnProcesses().run(request).output, "$(id) `id` ; echo x");
}

TEST(SpawnProcesses, AddsToTheEnvironmentAndReplacesInIt) {
  ProcessRequest request = shell("echo $BURST_TEST-$PATH");
  request.environment = {{"BURST_TEST", "a b"}, {"PATH", "/bin"}};
  EXPECT_EQ(SpawnProcesses().run(request).output, "a b-/bin\n");
}

TEST(SpawnProcesses, PassesNoDescriptorOfOursOn) {
  const int ours = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int inherited = 0;  // by whoever runs the test: those are not ours to close
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    const int flags = fcntl(descriptor, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ++inherited;
  }
  const auto result = SpawnProcesses().run(shell("ls /proc/self/fd | wc -l"));
  close(ours);
  EXPECT_EQ(std::stoi(result.output), 4 + inherited);  // 0, 1, 2, and the one that ls reads the folder with
}

}  // namespace
}  // namespace burst
