// SPDX-License-Identifier: Apache-2.0
// scontrol's and squeue's output: what Slurm 22.05.8 really printed, other releases' shapes, and free text that lies.
#include "slurm/scontrol_output.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burst {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string data(const std::string& name) {
  std::ifstream file(std::string(BURST_SOURCE_DIR) + "/tests/data/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::chrono::sys_seconds at(int year, unsigned month, unsigned day, int hour, int minute, int second) {
  return std::chrono::sys_days(std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day)) +
         std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
}

SlurmNode one(const std::string& line) {
  const auto nodes = parse_nodes(line);
  EXPECT_EQ(nodes.size(), 1U) << line;
  return nodes.empty() ? SlurmNode() : nodes.front();
}

const std::string kHead =
    "NodeName=p-g-1 Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUTot=1 CPULoad=N/A AvailableFeatures=a,b Gres=(null) "
    "NodeAddr=10.0.0.7 NodeHostName=ip-10-0-0-7 Port=6818 Version=22.05.8 OS=Linux 6.1.0 #1 SMP State=no  "
    "RealMemory=1 State=IDLE+CLOUD ThreadsPerCore=1 Partitions=p  BootTime=2026-02-28T23:59:59 "
    "LastBusyTime=Unknown CfgTRES=cpu=1,mem=1M AllocTRES= ExtSensorsTemp=n/s";

TEST(ParseNodes, ReadsWhatSlurm2205Printed) {
  const auto nodes = parse_nodes(data("scontrol_show_nodes_22.05.8.txt"));
  ASSERT_EQ(nodes.size(), 12U);
  std::vector<std::string> names;
  for (const auto& node : nodes) names.push_back(node.name + " " + to_string(node.state));
  EXPECT_THAT(
      names,
      ElementsAre("aws-c-0 DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING", "aws-c-1 DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING",
                  "aws-c-2 DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING", "aws-c-3 DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING",
                  "aws-c-4 DOWN+CLOUD+POWERED_DOWN", "aws-c-5 DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING",
                  "aws-c-6 IDLE+CLOUD+DRAIN+POWERED_DOWN+NOT_RESPONDING", "aws-c-7 IDLE+CLOUD+POWERING_DOWN",
                  "aws-c-8 DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING", "aws-c-9 DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING",
                  "aws-g-0 IDLE+CLOUD+POWERED_DOWN", "aws-g-1 IDLE+CLOUD+POWERED_DOWN"));
  EXPECT_EQ(nodes[1].reason, "ResumeTimeout reached");  // its Comment holds `State=`, a newline, `NodeName=`, `Reason=`
  EXPECT_EQ(nodes[1].reason_time, at(2026, 11, 21, 9, 13, 43));
  EXPECT_EQ(nodes[4].reason, "x");
  EXPECT_EQ(nodes[6].reason, "two lines");
  EXPECT_EQ(nodes[10].address, "aws-g-0");
  EXPECT_EQ(nodes[10].hostname, "aws-g-0");
  EXPECT_EQ(nodes[10].reason, "");
  EXPECT_FALSE(nodes[10].boot_time);
  EXPECT_FALSE(nodes[10].last_busy);
}

TEST(ParseNodes, TakesAddressesStateAndTimesFromTheHead) {
  const auto node = one(kHead + "\n");
  EXPECT_EQ(node.name, "p-g-1");
  EXPECT_EQ(node.address, "10.0.0.7");
  EXPECT_EQ(node.hostname, "ip-10-0-0-7");
  EXPECT_EQ(node.boot_time, at(2026, 2, 28, 23, 59, 59));
  EXPECT_FALSE(node.last_busy);
  EXPECT_FALSE(node.reason_time);
}

TEST(ParseNodes, IsNotMisledByFreeText) {
  const auto idle = parse_node_state("IDLE+CLOUD");
  const std::string head = kHead.substr(0, kHead.find(" State=no")) + kHead.substr(kHead.find(" State=no") + 9);
  auto node = one(head + " Reason=see State=DOWN NodeAddr=6.6.6.6 a=b [x] [root@2026-01-02T03:04:05]\n");
  EXPECT_EQ(node.state, idle);
  EXPECT_EQ(node.address, "10.0.0.7");
  EXPECT_EQ(node.reason, "see State=DOWN NodeAddr=6.6.6.6 a=b [x]");
  EXPECT_EQ(node.reason_time, at(2026, 1, 2, 3, 4, 5));

  node = one(head + " Reason=a [u@2020-01-01T00:00:00] b [root@2026-01-02T03:04:05]");
  EXPECT_EQ(node.reason, "a [u@2020-01-01T00:00:00] b");
  node = one(head + " Reason=first [root@2026-01-02T03:04:05]        second line Comment=x [y@2020-01-01T00:00:00]");
  EXPECT_EQ(node.reason, "first second line");
  node = one(head + " Reason=domain user [a@b.example@2026-01-02T03:04:05]");
  EXPECT_EQ(node.reason, "domain user");
  node = one(head + " Reason=no bracket");
  EXPECT_EQ(node.reason, "no bracket");
  node = one(head + " Reason=unset [root@Unknown]");
  EXPECT_EQ(node.reason, "unset");
  EXPECT_FALSE(node.reason_time);

  node = one(head +
             " Comment=State=DOWN Reason=burst:X not a reason\nNodeName=evil State=DOWN\nmore Extra={\"State\": 1}\n");
  EXPECT_EQ(node.name, "p-g-1");
  EXPECT_EQ(node.state, idle);
  EXPECT_EQ(node.reason, "");
  node = one(head + " Comment=Reason=lie Extra=x Reason=truth [root@2026-01-02T03:04:05]\n");
  EXPECT_EQ(node.reason, "truth");
}

TEST(ParseNodes, KeepsANodeWithoutALegibleState) {
  const auto node = one("NodeName=p-g-1 CoresPerSocket=1 NodeAddr=(null) NodeHostName=(null) Reason=x State=DOWN\n");
  EXPECT_EQ(node.state.base, NodeBase::unknown);
  EXPECT_TRUE(node.state.has(NodeFlag::unknown));
  EXPECT_EQ(node.address, "");
  EXPECT_EQ(node.hostname, "");
}

TEST(ParseNodes, SkipsWhatIsNoNode) {
  EXPECT_THAT(parse_nodes(""), IsEmpty());
  EXPECT_THAT(parse_nodes("No nodes in the system\n"), IsEmpty());
  EXPECT_THAT(parse_nodes("Node p-g-9 not found\n"), IsEmpty());
  EXPECT_EQ(parse_nodes("\n" + kHead + "\nNode p-g-9 not found\n" + kHead + "\n").size(), 2U);
}

TEST(ParseNodes, EndsANodeBeforeScontrolsNextMessage) {
  const auto node =
      one("NodeName=p-g-1 CoresPerSocket=1 State=DOWN Reason=burst:X [root@2026-01-02T03:04:05] \n"
          "Node p-g-9 not found\n");
  EXPECT_EQ(node.reason, "burst:X");
}

TEST(ParseNodes, ReadsTheShapeOf2011) {
  const auto node = one(
      "NodeName=p-g-2 CoresPerSocket=1 CPUAlloc=0 CPUTot=1 CPULoad=N/A AvailableFeatures=(null) ActiveFeatures=(null) "
      "Gres=(null) NodeAddr=p-g-2 NodeHostName=p-g-2 RealMemory=1 AllocMem=0 FreeMem=N/A Sockets=1 Boards=1 "
      "State=DOWN*+CLOUD+POWER ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=p BootTime=None "
      "SlurmdStartTime=None CfgTRES=cpu=1,mem=1M,billing=1 AllocTRES= CapWatts=n/a CurrentWatts=0 AveWatts=0 "
      "ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s Reason=Not responding [slurm@2021-05-06T07:08:09]\n");
  EXPECT_EQ(to_string(node.state), "DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING");
  EXPECT_EQ(node.reason, "Not responding");
}

TEST(ParseNodes, StopsReasonsBeforeKeysOfLaterReleases) {
  EXPECT_EQ(one("NodeName=p-g-1 CoresPerSocket=1 State=IDLE Reason=abc [u@2024-01-01T00:00:00] Comment=c Extra=e "
                "InstanceId=i-1 InstanceType=m5")
                .reason,
            "abc");
}

TEST(ParseNodes, ReadsTenThousandNodesFast) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    text += "NodeName=aws-g-" + std::to_string(i) + kHead.substr(kHead.find(" Arch")) +
            " CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 SlurmdStartTime=None "
            "ActiveFeatures=a,b FreeMem=N/A Sockets=1 Boards=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto nodes = parse_nodes(text);
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(nodes.size(), 10'000U);
  EXPECT_EQ(nodes[9999].name, "aws-g-9999");
  EXPECT_LT(took, std::chrono::seconds(1)) << "some 10 ms are normal; this bound only finds a quadratic step";
  RecordProperty("microseconds", static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
}

TEST(NodesNotFound, ReadsScontrolsLines) {
  EXPECT_THAT(nodes_not_found("NodeName=a State=IDLE\nNode aws-x-1 not found\nNode aws-x-2 not found\n"),
              ElementsAre("aws-x-1", "aws-x-2"));
  EXPECT_THAT(nodes_not_found("NodeName=a Reason=Node b not found\n"), IsEmpty());
}

TEST(ParseJobs, ReadsWhatSqueuePrinted) {
  const auto jobs = parse_jobs(
      "1\x1f"
      "CONFIGURING\x1f"
      "aws-c-8\x1f"
      "1-02:00:00\x1f"
      "1+0\x1fmy | comment\nx\x1e\n4\x1f"
      "RUNNING\x1f"
      "aws-c-[0-1,5]\x1fUNLIMITED\x1f"
      "3_1\x1f"
      "a;b\tc\x1e\n"
      "2\x1f"
      "PENDING\x1f\x1f"
      "10:00\x1f"
      "2\x1f(null)\x1e\n");
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].id, 1U);
  EXPECT_EQ(jobs[0].state, "CONFIGURING");
  EXPECT_THAT(jobs[0].nodes, ElementsAre("aws-c-8"));
  EXPECT_EQ(jobs[0].comment, "my | comment\nx");
  EXPECT_EQ(jobs[0].time_limit, std::chrono::hours(26));
  EXPECT_FALSE(jobs[1].time_limit);
  EXPECT_EQ(jobs[2].time_limit, std::chrono::minutes(10));
  EXPECT_THAT(jobs[1].nodes, ElementsAre("aws-c-0", "aws-c-1", "aws-c-5"));
  EXPECT_EQ(jobs[2].state, "PENDING");
  EXPECT_THAT(jobs[2].nodes, IsEmpty());
  EXPECT_EQ(jobs[2].comment, "");
  EXPECT_EQ(jobs[0].het_job, 1U);
  EXPECT_EQ(jobs[1].het_job, 0U) << "an array's task";
  EXPECT_EQ(jobs[2].het_job, 0U);
}

TEST(ParseJobs, SkipsWhatIsNoJob) {
  EXPECT_THAT(parse_jobs(""), IsEmpty());
  EXPECT_THAT(parse_jobs("squeue: warning\n"), IsEmpty());
  EXPECT_THAT(parse_jobs("x\x1fPENDING\x1f\x1f\x1f\x1f\x1e\n7\x1fPENDING\x1e\n0\x1fP\x1f\x1f\x1f\x1f\x1e\n"),
              IsEmpty());
  EXPECT_THAT(parse_jobs("7\x1fPENDING\x1fnone[\x1f\x1f\x1f\x1e\n").front().nodes, IsEmpty());
}

TEST(ParseTimeLimit, ReadsEverySpellingOfSqueueAndScontrol) {
  using std::chrono::seconds;
  EXPECT_EQ(parse_time_limit("1-00:00:00"), seconds(86'400));
  EXPECT_EQ(parse_time_limit("7-01:02:03"), seconds(7 * 86'400 + 3'723));
  EXPECT_EQ(parse_time_limit("1:30:00"), seconds(5'400));
  EXPECT_EQ(parse_time_limit("00:10:00"), seconds(600));
  EXPECT_EQ(parse_time_limit("10:00"), seconds(600));
}

TEST(ParseTimeLimit, IsNothingForNoLimit) {
  for (const auto* text : {"UNLIMITED", "Partition_Limit", "NOT_SET", "INVALID", "", "(null)", "10", "-", "1-", "1-2",
                           ":", "1:", "1:2:3:4", "-1:00", "1:-2", "x-00:00:00", "99999999999999999999:00"}) {
    EXPECT_FALSE(parse_time_limit(text)) << text;
  }
}

TEST(ParseReservations, ReadsWhatScontrolPrinted) {
  const auto found = parse_reservations(
      "ReservationName=burst-expiry-aws-c5-0 StartTime=2030-07-01T12:00:00 EndTime=2030-07-01T12:10:00 "
      "Duration=00:10:00 Nodes=aws-c5-[0-1] NodeCnt=2 CoreCnt=2 Features=(null) PartitionName=(null) "
      "Flags=MAINT,IGNORE_JOBS,SPEC_NODES TRES=cpu=2 Users=root Groups=(null) Accounts=(null) Licenses=(null) "
      "State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n"
      "ReservationName=licenses StartTime=2030-07-01T12:00:00 EndTime=2030-07-01T12:10:00 Duration=00:10:00 "
      "Nodes=(null) NodeCnt=0 CoreCnt=0 Comment=Nodes=aws-c5-3 StartTime=2001-01-01T00:00:00\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(
      found[0],
      (SlurmReservation{
          "burst-expiry-aws-c5-0", {"aws-c5-0", "aws-c5-1"}, at(2030, 7, 1, 12, 0, 0), at(2030, 7, 1, 12, 10, 0)}));
  EXPECT_THAT(found[1].nodes, IsEmpty());
  EXPECT_EQ(found[1].start, at(2030, 7, 1, 12, 0, 0));
}

TEST(ParseReservations, SkipsWhatIsNone) {
  EXPECT_THAT(parse_reservations("No reservations in the system\n"), IsEmpty());
  EXPECT_THAT(parse_reservations(""), IsEmpty());
  EXPECT_THAT(parse_reservations("ReservationName=x StartTime=Unknown EndTime=Unknown Nodes=a NodeCnt=1\n"), IsEmpty());
}

TEST(ToSlurmTime, IsReadAsTheSameTime) {
  for (const auto time : {at(1970, 1, 1, 0, 0, 0), at(2024, 2, 29, 12, 34, 56), at(2031, 12, 31, 23, 59, 59)}) {
    EXPECT_EQ(parse_slurm_time(to_slurm_time(time)), time);
  }
  EXPECT_EQ(to_slurm_time(at(2030, 7, 1, 2, 3, 4)), "2030-07-01T02:03:04");
}

TEST(ParseSlurmTime, TakesTheStandardFormOnly) {
  EXPECT_EQ(parse_slurm_time("1970-01-01T00:00:00"), std::chrono::sys_seconds());
  EXPECT_EQ(parse_slurm_time("2024-02-29T12:34:56"), at(2024, 2, 29, 12, 34, 56));
  for (const auto* text : {"", "Unknown", "None", "N/A", "09:10:11", "2023-02-29T00:00:00", "2024-01-01T24:00:00",
                           "2024-01-01 00:00:00", "2024-01-01T00:00:00Z", "2024-1-01T00:00:000"}) {
    EXPECT_FALSE(parse_slurm_time(text)) << text;
  }
}

}  // namespace
}  // namespace burst
