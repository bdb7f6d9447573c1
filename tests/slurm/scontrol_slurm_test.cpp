// SPDX-License-Identifier: Apache-2.0
// The exact commands that Slurm is given, and what becomes of its complaints.
#include "slurm/scontrol_slurm.h"

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burst/hostlist.h"
#include "fakes/fake_services.h"
#include "slurm/scontrol_output.h"

namespace burst {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Argv = std::vector<std::string>;

class ScontrolSlurmTest : public testing::Test {
 protected:
  Argv argv(std::size_t i) const { return processes.requests.at(i).argv; }
  std::string failure(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "ScontrolError");
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    return "no failure";
  }
  static ProcessResult result(int status, std::string output, std::string errors = "") {
    ProcessResult result;
    result.status = status;
    result.output = std::move(output);
    result.errors = std::move(errors);
    return result;
  }
  void answer(ProcessResult result) {
    processes.handler = [result](const ProcessRequest&) { return result; };
  }

  FakeProcesses processes;
  FakeLog log;
  ScontrolSlurm slurm{processes, log, "/opt/slurm/bin", "/etc/x/slurm.conf"};
};

TEST_F(ScontrolSlurmTest, AsksForAllNodesInUtcWithItsSlurmConf) {
  answer(result(0, "NodeName=p-g-1 CoresPerSocket=1 State=IDLE+CLOUD BootTime=2026-01-01T00:00:00\n"));
  const auto nodes = slurm.nodes();
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "-o", "show", "nodes"));
  EXPECT_THAT(processes.requests[0].environment,
              ElementsAre(std::pair<std::string, std::string>("TZ", "UTC0"),
                          std::pair<std::string, std::string>("SLURM_TIME_FORMAT", "standard"),
                          std::pair<std::string, std::string>("SLURM_CONF", "/etc/x/slurm.conf")));
  EXPECT_EQ(processes.requests[0].timeout, std::chrono::seconds(30));
  EXPECT_EQ(slurm.runs(), 1);
}

TEST_F(ScontrolSlurmTest, FindsScontrolInPathWithoutABinPath) {
  ScontrolSlurm plain(processes, log, "", "");
  plain.nodes();
  EXPECT_EQ(argv(0).front(), "scontrol");
  EXPECT_THAT(processes.requests[0].environment, SizeIs(2));
}

TEST_F(ScontrolSlurmTest, AsksForSomeNodesByASortedHostlist) {
  const Argv names{"p-g-10", "p-g-9", "p-g-9", "p-h-1"};
  slurm.nodes(names);
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "-o", "show", "nodes", "p-g-[9-10],p-h-1"));
  slurm.nodes(Argv{});
  EXPECT_EQ(slurm.runs(), 1) << "no names, no run: without a name scontrol would show all";
}

TEST_F(ScontrolSlurmTest, GoesOnWithoutTheNodesThatSlurmDoesNotKnow) {
  answer(result(1, "NodeName=p-g-1 CoresPerSocket=1 State=IDLE\nNode p-g-2 not found\n"));
  const auto nodes = slurm.nodes(Argv{"p-g-1", "p-g-2"});
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_THAT(log.text(), HasSubstr("Slurm does not know p-g-2"));
}

TEST_F(ScontrolSlurmTest, FailsWithWhatScontrolSaid) {
  answer(result(1, "", "slurm_load_node error: Unable to contact slurm controller (connect failure)\n"));
  EXPECT_EQ(
      failure([&] { slurm.nodes(); }),
      "running 'scontrol -o show nodes': exit status 1: slurm_load_node error: Unable to contact slurm controller "
      "(connect failure)");
  answer(result(1, "Node p-g-1 not found\n", "slurm_load_node error: Socket timed out\n"));
  EXPECT_THAT(failure([&] { slurm.nodes(Argv{"p-g-1"}); }), HasSubstr("Socket timed out; Node p-g-1 not found"));
  answer(result(3, ""));
  EXPECT_THAT(failure([&] { slurm.nodes(); }), HasSubstr("exit status 3: no message"));
}

TEST_F(ScontrolSlurmTest, DoesNotTakeAnUnknownOutputForAClusterWithoutNodes) {
  answer(result(0, "NodeName=p-g-1 Shape=new\n"));
  EXPECT_THAT(failure([&] { slurm.nodes(); }), HasSubstr("no node in its output"));
  answer(result(0, "No nodes in the system\n"));
  EXPECT_THAT(slurm.nodes(), IsEmpty());
}

TEST_F(ScontrolSlurmTest, SaysThatATimedOutUpdateMayHaveHappened) {
  auto late = result(137, "");
  late.timed_out = true;
  answer(late);
  EXPECT_THAT(failure([&] { slurm.set_state(Argv{"p-g-1"}, StateChange::idle, ""); }), HasSubstr("outcome unknown"));
}

TEST_F(ScontrolSlurmTest, SetsAllAddressesInOneRunSortedAndPaired) {
  std::vector<NodeAddress> addresses{
      {"p-g-10", "10.0.0.9", "ip-10-0-0-9"}, {"p-g-9", "10.0.0.200", "ip-10-0-0-200"}, {"p-g-11", "10.0.0.10", ""}};
  slurm.set_addresses(addresses);
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "update", "NodeName=p-g-[9-11]",
                                   "NodeAddr=10.0.0.[200,9-10]", "NodeHostName=ip-10-0-0-[200,9],p-g-11"));
  EXPECT_EQ(slurm.runs(), 1);
  slurm.set_addresses({});
  EXPECT_EQ(slurm.runs(), 1);
}

TEST_F(ScontrolSlurmTest, SendsAThousandNodesARunEachShorterThanAnArgumentMayBe) {
  std::vector<NodeAddress> addresses;
  for (int i = 0; i < 2500; ++i) {
    addresses.push_back(
        {"p-g-" + std::to_string(i), "10.1." + std::to_string(i / 250) + "." + std::to_string(i * 7 % 250), ""});
  }
  addresses[2400].hostname = std::string(99'000, 'h');
  slurm.set_addresses(addresses);
  ASSERT_GE(slurm.runs(), 3);
  std::size_t seen = 0;
  for (const auto& request : processes.requests) {
    const auto names = expand_hostlist(request.argv.at(2).substr(std::string("NodeName=").size()));
    const auto addrs = expand_hostlist(request.argv.at(3).substr(std::string("NodeAddr=").size()));
    const auto hosts = expand_hostlist(request.argv.at(4).substr(std::string("NodeHostName=").size()));
    ASSERT_EQ(names.size(), addrs.size());
    ASSERT_EQ(names.size(), hosts.size());
    EXPECT_LE(names.size(), 1000U);
    for (const auto& argument : request.argv) EXPECT_LT(argument.size(), 128U * 1024);
    for (std::size_t i = 0; i < names.size(); ++i, ++seen) {
      const auto found = std::ranges::find(addresses, names[i], &NodeAddress::node);
      ASSERT_NE(found, addresses.end());
      EXPECT_EQ(found->address, addrs[i]);
    }
  }
  EXPECT_EQ(seen, 2500U);
}

TEST_F(ScontrolSlurmTest, LeavesOutWhatWouldBreakThePairing) {
  slurm.set_addresses(std::vector<NodeAddress>{{"p-g-1", "", ""},
                                               {"p-g-2", "10.0.0.1,10.0.0.2", ""},
                                               {"p-g-3", "10.0.0.[1-2]", ""},
                                               {"p-g-4", "10.0.0.4", "a b"},
                                               {"p-g-5", "fe80::5", ""}});
  ASSERT_EQ(slurm.runs(), 1);
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "update", "NodeName=p-g-5", "NodeAddr=fe80::5",
                                   "NodeHostName=p-g-5"));
  EXPECT_THAT(log.text(), HasSubstr("p-g-2: not an address"));
}

TEST_F(ScontrolSlurmTest, KnowsEveryStateChange) {
  answer(result(0, "slurm 23.11.4\n"));
  const std::vector<std::pair<StateChange, std::string>> words{
      {StateChange::down, "State=DOWN"},
      {StateChange::idle, "State=IDLE"},
      {StateChange::resume, "State=RESUME"},
      {StateChange::undrain, "State=UNDRAIN"},
      {StateChange::power_up, "State=POWER_UP"},
      {StateChange::power_down, "State=POWER_DOWN"},
      {StateChange::power_down_force, "State=POWER_DOWN_FORCE"}};
  for (const auto& [change, word] : words) {
    processes.requests.clear();
    slurm.set_state(Argv{"p-g-2", "p-g-1"}, change, "burst:X because");
    ASSERT_THAT(processes.requests, Not(IsEmpty()));
    EXPECT_THAT(processes.requests.back().argv,
                ElementsAre("/opt/slurm/bin/scontrol", "update", "NodeName=p-g-[1-2]", word, "Reason=burst:X because"));
  }
}

TEST_F(ScontrolSlurmTest, SendsAReasonAsOneSafeLineAndNoneWhenThereIsNone) {
  slurm.set_state(Argv{"p-g-1"}, StateChange::down, "burst:X \"quoted\"\nnext " + std::string(500, 'x'));
  EXPECT_THAT(argv(0).back(), testing::StartsWith("Reason=burst:X 'quoted' next xxx"));
  EXPECT_LE(argv(0).back().size(), std::string("Reason=").size() + 240);
  slurm.set_state(Argv{"p-g-1"}, StateChange::idle, "");
  EXPECT_THAT(argv(1), ElementsAre("/opt/slurm/bin/scontrol", "update", "NodeName=p-g-1", "State=IDLE"));
  slurm.set_state(Argv{"p-g-1"}, StateChange::down, "");
  EXPECT_EQ(argv(2).back(), "Reason=burst:down") << "Slurm refuses DOWN without a reason";
}

TEST_F(ScontrolSlurmTest, RunsNothingForNoNodes) {
  slurm.set_state({}, StateChange::power_down_force, "x");
  EXPECT_EQ(slurm.runs(), 0);
}

TEST_F(ScontrolSlurmTest, TakesTwoStepsForPowerDownForceBefore2205) {
  processes.handler = [](const ProcessRequest& request) {
    return request.argv.back() == "-V" ? result(0, "slurm 21.08.5\n") : result(0, "");
  };
  slurm.set_state(Argv{"p-g-1"}, StateChange::power_down_force, "burst:X");
  slurm.set_state(Argv{"p-g-2"}, StateChange::power_down_force, "burst:Y");
  ASSERT_EQ(slurm.runs(), 5) << "the version is asked once";
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "-V"));
  EXPECT_THAT(argv(1),
              ElementsAre("/opt/slurm/bin/scontrol", "update", "NodeName=p-g-1", "State=DOWN", "Reason=burst:X"));
  EXPECT_THAT(argv(2), ElementsAre("/opt/slurm/bin/scontrol", "update", "NodeName=p-g-1", "State=POWER_DOWN"));
}

TEST_F(ScontrolSlurmTest, AsksForNoVersionWhenItMakesNoDifference) {
  slurm.set_state(Argv{"p-g-1"}, StateChange::down, "burst:X");
  EXPECT_EQ(slurm.runs(), 1);
}

TEST_F(ScontrolSlurmTest, MakesTheOtherRunsWhenOneFails) {
  int run = 0;
  processes.handler = [&](const ProcessRequest&) {
    return ++run == 1 ? result(1, "", "slurm_update error: Invalid node state specified\n") : result(0, "");
  };
  Argv names;
  for (int i = 0; i < 1500; ++i) names.push_back("p-g-" + std::to_string(i));
  EXPECT_THAT(
      failure([&] { slurm.set_state(names, StateChange::resume, ""); }),
      HasSubstr("running 'scontrol update NodeName=p-g-[0-999] State=RESUME': exit status 1: slurm_update error: "
                "Invalid node state specified"));
  EXPECT_EQ(run, 2);
}

TEST_F(ScontrolSlurmTest, AsksForJobsInAFormThatNoCommentBreaks) {
  answer(result(0,
                "5\x1f"
                "CONFIGURING\x1fp-g-[1-2]\x1fUNLIMITED\x1f"
                "5\x1fx\x1e\n"));
  const auto jobs = slurm.jobs();
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_EQ(argv(0).front(), "/opt/slurm/bin/squeue");
  EXPECT_EQ(argv(0).back(), kJobFormat);
  answer(result(1, "", "squeue: error"));
  EXPECT_THAT(failure([&] { slurm.jobs(); }), HasSubstr("squeue: error"));
}

TEST_F(ScontrolSlurmTest, SetsAJobsComment) {
  slurm.set_job_comment(17, "waiting:\n\"queued\"");
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "update", "JobId=17", "Comment=waiting: 'queued'"));
}

TEST_F(ScontrolSlurmTest, ShowsTheReservationsWithAPrefix) {
  answer(result(0,
                "ReservationName=burst-expiry-p-g-1 StartTime=2030-07-01T12:00:00 EndTime=2030-07-01T12:10:00 "
                "Nodes=p-g-1 NodeCnt=1\n"
                "ReservationName=burst StartTime=2030-07-01T12:00:00 EndTime=2030-07-01T12:10:00 Nodes=p-g-1 "
                "NodeCnt=1\n"));
  EXPECT_THAT(slurm.reservations("burst-expiry-"),
              ElementsAre(testing::Field(&SlurmReservation::name, "burst-expiry-p-g-1")));
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "-o", "show", "reservations"));
  EXPECT_THAT(slurm.reservations(""), SizeIs(2));
  answer(result(0, "No reservations in the system\n"));
  EXPECT_THAT(slurm.reservations(""), IsEmpty());
  answer(result(1, "", "slurm_load_reservations error: Unable to contact slurm controller\n"));
  EXPECT_THAT(failure([&] { slurm.reservations(""); }), HasSubstr("Unable to contact"));
}

TEST_F(ScontrolSlurmTest, CreatesAReservationInUtc) {
  const std::chrono::sys_seconds start{std::chrono::seconds(1'900'000'000)};  // 2030-03-17T17:46:40Z
  slurm.create_reservation({"burst-expiry-x", {"p-g-2", "p-g-1"}, start, start + std::chrono::seconds(61)});
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "create", "reservation", "ReservationName=burst-expiry-x",
                                   "StartTime=2030-03-17T17:46:40", "Duration=2", "Nodes=p-g-[1-2]", "Users=root",
                                   "Flags=MAINT,IGNORE_JOBS"));
  EXPECT_THAT(processes.requests[0].environment, testing::Contains(std::pair<std::string, std::string>("TZ", "UTC0")));
  answer(result(1, "", "Error creating the reservation: Duplicate reservation name\n"));
  EXPECT_THAT(failure([&] { slurm.create_reservation({"x", {"p-g-1"}, start, start}); }), HasSubstr("Duplicate"));
}

TEST_F(ScontrolSlurmTest, DeletesAReservationUnlessItIsGone) {
  slurm.delete_reservation("burst-expiry-x");
  EXPECT_THAT(argv(0), ElementsAre("/opt/slurm/bin/scontrol", "delete", "ReservationName=burst-expiry-x"));
  answer(result(1, "", "delete_reservation ReservationName=burst-expiry-x: Requested reservation is invalid\n"));
  slurm.delete_reservation("burst-expiry-x");
  answer(result(1, "", "delete_reservation ReservationName=burst-expiry-x: Access/permission denied\n"));
  EXPECT_THAT(failure([&] { slurm.delete_reservation("burst-expiry-x"); }), HasSubstr("permission denied"));
}

TEST_F(ScontrolSlurmTest, FailsWithoutALegibleVersion) {
  answer(result(0, "slurm of some kind"));
  EXPECT_THAT(failure([&] { slurm.version(); }), HasSubstr("no version"));
}

}  // namespace
}  // namespace burst
