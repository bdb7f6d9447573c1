// SPDX-License-Identifier: Apache-2.0
// What a pod's object says, however odd it is, and which machine that makes.
#include "providers/kubernetes/pod_status.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "providers/kubernetes/pod_failure.h"

namespace burst::kubernetes {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using std::chrono::sys_seconds;

const GroupIdentity kIdentity{"test", "p", "g"};
const sys_seconds kCreated{seconds{1'700'000'000}};  // 2023-11-14T22:13:20Z

GroupSettings settings() {
  GroupSettings made;
  made.unschedulable_timeout = seconds{600};
  made.boot_timeout = seconds{300};
  return made;
}

/// A pod of ours that runs, with `changes` merged into it.
json pod_json(const char* changes = "{}") {
  json pod = json::parse(R"({
    "kind": "Pod", "apiVersion": "v1",
    "metadata": {
      "name": "p-g-3", "uid": "u-3", "creationTimestamp": "2023-11-14T22:13:20Z",
      "labels": {"app.kubernetes.io/managed-by": "slurm-burst", "slurm-burst/cluster": "test",
                 "slurm-burst/partition": "p", "slurm-burst/group": "g", "slurm-burst/launch": "l-1"},
      "annotations": {"slurm-burst/job": "17", "slurm-burst/template": "abc"},
      "managedFields": [{"manager": "x"}]},
    "spec": {"nodeName": "worker-1", "containers": [{"name": "slurmd", "image": "i"}]},
    "status": {
      "phase": "Running", "podIP": "10.0.0.3", "startTime": "2023-11-14T22:13:22Z",
      "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2023-11-14T22:13:21Z"}],
      "containerStatuses": [{"name": "slurmd", "restartCount": 0, "state": {"running": {}}}]}})");
  pod.merge_patch(json::parse(changes));
  return pod;
}

Pod pod(const char* changes = "{}") { return parse_pod(pod_json(changes), kIdentity); }

Machine machine(const char* changes, seconds age = seconds{60}) {
  return machine_of(pod(changes), settings(), kCreated + age);
}

TEST(PodStatus, ARunningPodIsItsNodesMachine) {
  const Machine made = machine(R"({"spec": {"activeDeadlineSeconds": 3600}})");
  EXPECT_EQ(made.id, "p-g-3/u-3");
  EXPECT_EQ(made.node, "p-g-3");
  EXPECT_EQ(made.state, MachineState::running);
  EXPECT_EQ(made.address, "10.0.0.3");
  EXPECT_EQ(made.hostname, "p-g-3");
  EXPECT_EQ(made.zone, "worker-1");
  EXPECT_EQ(made.launch, "l-1");
  EXPECT_EQ(made.job, 17U);
  EXPECT_EQ(made.created, kCreated);
  EXPECT_EQ(made.expires, kCreated + seconds{2} + seconds{3600});
  EXPECT_FALSE(made.register_by) << "it did not wait";
  EXPECT_FALSE(made.failure);
  EXPECT_TRUE(pod().ours);
  EXPECT_EQ(pod().template_hash, "abc");
}

TEST(PodStatus, APodOfAnotherClusterPartitionGroupOrManagerIsNotOurs) {
  for (const char* label :
       {"app.kubernetes.io/managed-by", "slurm-burst/cluster", "slurm-burst/partition", "slurm-burst/group"}) {
    json other = pod_json();
    other["metadata"]["labels"][label] = "other";
    EXPECT_FALSE(parse_pod(other, kIdentity).ours) << label;
    other["metadata"]["labels"].erase(label);
    EXPECT_FALSE(parse_pod(other, kIdentity).ours) << label;
  }
}

TEST(PodStatus, APodWithoutAMachineIsQueuedWithTheSchedulersWords) {
  constexpr const char* waiting = R"({"spec": {"nodeName": null}, "status": {"phase": "Pending", "podIP": null,
    "startTime": null, "containerStatuses": null, "conditions": [{"type": "PodScheduled", "status": "False",
    "reason": "Unschedulable", "message": "0/3 nodes are available:\n3 Insufficient nvidia.com/gpu."}]}})";
  const Machine made = machine(waiting);
  EXPECT_EQ(made.state, MachineState::queued);
  EXPECT_EQ(made.detail, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.");
  EXPECT_FALSE(made.register_by);
  EXPECT_EQ(machine(waiting, seconds{600}).state, MachineState::queued) << "not longer than UnschedulableTimeout";
  const Machine late = machine(waiting, seconds{601});
  EXPECT_EQ(late.state, MachineState::failed);
  EXPECT_EQ(late.failure, (MachineFailure{Outcome::no_capacity, "Unschedulable",
                                          "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}));
}

TEST(PodStatus, APodThatNoSchedulerLooksAtIsRefusedInTheEnd) {
  constexpr const char* ignored =
      R"({"spec": {"nodeName": null}, "status": {"phase": "Pending", "podIP": null, "conditions": null}})";
  EXPECT_EQ(machine(ignored).state, MachineState::queued);
  const Machine late = machine(ignored, seconds{601});
  ASSERT_TRUE(late.failure);
  EXPECT_EQ(late.failure->outcome, Outcome::rejected);
  EXPECT_EQ(late.failure->code, "Unschedulable");
}

TEST(PodStatus, WhoWaitedForAMachineHasBootTimeoutFromThen) {
  const Machine made = machine(R"({"status": {"phase": "Pending", "podIP": null, "conditions":
    [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2023-11-14T22:15:00Z"}]}})");
  EXPECT_EQ(made.state, MachineState::starting);
  EXPECT_EQ(made.register_by, kCreated + seconds{100} + seconds{300});
}

TEST(PodStatus, WithoutAddressItIsStarting) {
  EXPECT_EQ(machine(R"({"status": {"podIP": null}})").state, MachineState::starting);
  EXPECT_EQ(machine(R"({"status": {"podIP": "10.0.0.3 reason=x"}})").address, "");
  EXPECT_EQ(machine(R"({"status": {"podIP": "fd00::1:2"}})").address, "fd00::1:2");
  EXPECT_EQ(machine(R"({"status": {"phase": "Pending"}})").state, MachineState::starting);
}

TEST(PodStatus, APodThatIsBeingDeletedIsStoppingWhateverElseItIs) {
  for (const char* phase : {"Pending", "Running", "Failed"}) {
    const Machine made = machine_of(
        pod(fmt::format(R"({{"metadata": {{"deletionTimestamp": "2023-11-14T22:14:00Z"}}, "status": {{"phase": "{}",
          "conditions": [{{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
          "message": "preempting to accommodate a higher priority pod"}}]}}}})",
                        phase)
                .c_str()),
        settings(), kCreated + seconds{4'000});
    EXPECT_EQ(made.state, MachineState::stopping) << phase;
    EXPECT_FALSE(made.failure) << phase;
    EXPECT_EQ(made.detail, "PreemptionByScheduler: preempting to accommodate a higher priority pod");
  }
}

struct EndCase {
  const char* status;
  MachineFailure failure;
};

TEST(PodStatus, AnEndedPodHasFailedWithTheKubeletsReason) {
  const EndCase cases[] = {
      {R"({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."})",
       {Outcome::rejected, "Evicted", "The node was low on resource: memory."}},
      {R"({"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource: cpu"})",
       {Outcome::no_capacity, "OutOfcpu", "Node didn't have enough resource: cpu"}},
      {R"({"phase": "Failed", "reason": "OutOfnvidia.com/gpu", "message": "m"})",
       {Outcome::no_capacity, "OutOfnvidia.com/gpu", "m"}},
      {R"({"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "Allocate failed"})",
       {Outcome::no_capacity, "UnexpectedAdmissionError", "Allocate failed"}},
      {R"({"phase": "Failed", "reason": "NodeLost", "message": "m"})", {Outcome::rejected, "NodeLost", "m"}},
      {R"({"phase": "Failed", "reason": "DeadlineExceeded", "message": "m"})",
       {Outcome::rejected, "DeadlineExceeded", "m"}},
      {R"({"phase": "Failed", "conditions": [{"type": "PodScheduled", "status": "True"},
          {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "m"}]})",
       {Outcome::rejected, "PreemptionByScheduler", "m"}},
      {R"({"phase": "Failed", "containerStatuses": [{"name": "slurmd", "state":
          {"terminated": {"exitCode": 1, "reason": "Error", "message": "error: no munge\n\tkey"}}}]})",
       {Outcome::rejected, "PodFailed", "container slurmd: exit code 1: error: no munge key"}},
      {R"({"phase": "Failed", "reason": "a code; with \"blanks\"", "message": "m"})",
       {Outcome::rejected, "PodFailed", "m"}},
      {R"({"phase": "Succeeded", "containerStatuses": [{"name": "slurmd", "state":
          {"terminated": {"exitCode": 0, "reason": "Completed"}}}]})",
       {Outcome::rejected, "PodSucceeded", "container slurmd: exit code 0"}},
      {R"({"phase": "Failed", "containerStatuses": null})",
       {Outcome::rejected, "PodFailed", "the pod is Failed, nothing says why"}},
  };
  for (const auto& row : cases) {
    const Machine made = machine(fmt::format(R"({{"status": {}}})", row.status).c_str());
    EXPECT_EQ(made.state, MachineState::failed) << row.status;
    ASSERT_TRUE(made.failure) << row.status;
    EXPECT_EQ(made.failure->code, row.failure.code);
    EXPECT_EQ(made.failure->message, row.failure.message);
    EXPECT_EQ(made.failure->outcome, row.failure.outcome) << row.status;
  }
}

std::string waiting(const char* reason, const char* message, int restarts = 0, const char* last = "null") {
  return fmt::format(
      R"({{"status": {{"phase": "Pending", "containerStatuses": [{{"name": "slurmd", "restartCount": {},
      "state": {{"waiting": {{"reason": "{}", "message": "{}"}}}}, "lastState": {{"terminated": {}}}}}]}}}})",
      restarts, reason, message, last);
}

TEST(PodStatus, WhatNeverComesByItselfFailsAtOnce) {
  for (const char* reason : {"InvalidImageName", "CreateContainerConfigError", "CreateContainerError",
                             "RunContainerError", "ErrImageNeverPull"}) {
    const Machine made = machine(waiting(reason, "secret \\\"x\\\" not found").c_str(), seconds{2});
    EXPECT_EQ(made.state, MachineState::failed) << reason;
    EXPECT_EQ(made.failure, (MachineFailure{Outcome::rejected, reason, "container slurmd: secret 'x' not found"}));
  }
  for (const char* reason : {"ContainerCreating", "PodInitializing", "SomethingNew"})
    EXPECT_EQ(machine(waiting(reason, "").c_str(), seconds{500}).state, MachineState::starting) << reason;
}

TEST(PodStatus, AnImageMayFailToComeForAWhile) {
  for (const char* reason : {"ErrImagePull", "ImagePullBackOff"}) {
    const Machine early = machine(waiting(reason, "manifest unknown").c_str(), seconds{30});  // scheduled at 1 s
    EXPECT_EQ(early.state, MachineState::starting) << reason;
    EXPECT_EQ(early.detail, std::string(reason) + ": manifest unknown");
    const Machine late = machine(waiting(reason, "manifest unknown").c_str(), seconds{31});
    EXPECT_EQ(late.failure, (MachineFailure{Outcome::rejected, reason, "container slurmd: manifest unknown"}));
  }
}

TEST(PodStatus, ACrashLoopFailsAtTheThirdRestartWithTheLastWords) {
  const char* last = R"({"exitCode": 1, "reason": "Error", "message": "fatal: can't stat gres.conf\n"})";
  EXPECT_EQ(machine(waiting("CrashLoopBackOff", "back-off 20s", 2, last).c_str()).state, MachineState::starting);
  const Machine made = machine(waiting("CrashLoopBackOff", "back-off 40s", 3, last).c_str());
  EXPECT_EQ(made.failure,
            (MachineFailure{Outcome::rejected, "CrashLoopBackOff",
                            "container slurmd has ended 3 times: exit code 1: fatal: can't stat gres.conf"}));
  const char* killed = R"({"exitCode": 137, "reason": "OOMKilled"})";
  const Machine oom = machine(waiting("CrashLoopBackOff", "back-off 40s", 9, killed).c_str());
  ASSERT_TRUE(oom.failure);
  EXPECT_EQ(oom.failure->message, "container slurmd has ended 9 times: OOMKilled, exit code 137");
}

TEST(PodStatus, AnInitialContainerCountsToo) {
  const Machine made = machine(R"({"status": {"phase": "Pending",
    "initContainerStatuses": [{"name": "done", "state": {"terminated": {"exitCode": 0}}},
      {"name": "keys", "state": {"waiting": {"reason": "CreateContainerConfigError", "message": "no secret"}}}],
    "containerStatuses": [{"name": "slurmd", "state": {"waiting": {"reason": "PodInitializing"}}}]}})");
  EXPECT_EQ(made.failure,
            (MachineFailure{Outcome::rejected, "CreateContainerConfigError", "container keys: no secret"}));
}

TEST(PodStatus, TroubleOfAnotherContainerIsNoneOfANodeThatRuns) {
  constexpr const char* containers = R"({"spec": {"containers": [{"name": "logs"}, {"name": "slurmd"}]},
    "status": {"containerStatuses": [
      {"name": "logs", "restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}},
      {"name": "slurmd", "state": {"running": {"startedAt": "2023-11-14T22:13:30Z"}}}]}})";
  const Machine made = machine(containers, seconds{4'000});
  EXPECT_EQ(made.state, MachineState::running);
  EXPECT_EQ(made.detail, "CrashLoopBackOff: back-off");
}

TEST(PodStatus, NothingInAPodMakesItThrow) {
  const json sane = pod_json();
  for (const json& odd : {json(), json(1), json("text"), json::array({1}), json::object(), json(-1.5), json(true)}) {
    EXPECT_NO_THROW(parse_pod(odd, kIdentity));
    for (const auto& pointer :
         {"/metadata", "/metadata/labels", "/metadata/annotations", "/metadata/creationTimestamp", "/spec",
          "/spec/containers", "/spec/containers/0", "/spec/activeDeadlineSeconds", "/status", "/status/phase",
          "/status/podIP", "/status/startTime", "/status/conditions", "/status/conditions/0",
          "/status/containerStatuses", "/status/containerStatuses/0", "/status/containerStatuses/0/state",
          "/status/containerStatuses/0/restartCount", "/metadata/deletionTimestamp"}) {
      json changed = sane;
      changed[json::json_pointer(pointer)] = odd;
      EXPECT_NO_THROW(machine_of(parse_pod(changed, kIdentity), settings(), kCreated)) << pointer << " " << odd;
    }
  }
  EXPECT_NO_THROW(pod(R"({"status": {"containerStatuses": [{"restartCount": 18446744073709551615}]},
                         "spec": {"activeDeadlineSeconds": 9223372036854775807}})"));
  EXPECT_FALSE(pod(R"({"spec": {"activeDeadlineSeconds": 9223372036854775807}})").expires);
}

TEST(PodStatus, APodWithoutATimeOfCreationIsNotFailedForItsAge) {
  EXPECT_EQ(machine(R"({"metadata": {"creationTimestamp": null}, "spec": {"nodeName": null},
                        "status": {"phase": "Pending", "conditions": null}})",
                    seconds{9'000})
                .state,
            MachineState::queued);
}

std::string list_of(const json& items) {
  return json{{"kind", "PodList"},
              {"apiVersion", "v1"},
              {"metadata", {{"resourceVersion", "42"}, {"continue", "token"}}},
              {"items", items}}
      .dump();
}

TEST(PodStatus, AListGivesEachPodAsTheDocumentWould) {
  json failed = pod_json(R"({"metadata": {"name": "p-g-4", "uid": "u-4"}, "spec": {"volumes": [{"name": "x"}]},
      "status": {"phase": "Failed", "reason": "Evicted", "message": "m", "hostIP": "10.1.1.1"}})");
  const auto page = parse_pod_list(list_of({pod_json(), failed}), kIdentity);
  EXPECT_EQ(page.resource_version, "42");
  EXPECT_EQ(page.continue_token, "token");
  ASSERT_EQ(page.pods.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Pod whole = parse_pod(i == 0 ? pod_json() : failed, kIdentity);
    const Pod& read = page.pods[i];
    const auto now = kCreated + seconds{60};
    const Machine expected = machine_of(whole, settings(), now), made = machine_of(read, settings(), now);
    EXPECT_EQ(made.id, expected.id);
    EXPECT_EQ(made.state, expected.state);
    EXPECT_EQ(made.address, expected.address);
    EXPECT_EQ(made.job, expected.job);
    EXPECT_EQ(made.launch, expected.launch);
    EXPECT_EQ(made.failure, expected.failure);
    EXPECT_EQ(read.ours, whole.ours);
    EXPECT_EQ(read.template_hash, whole.template_hash);
    EXPECT_EQ(read.slurmd_runs, whole.slurmd_runs);
    EXPECT_TRUE(read.ours);
  }
  EXPECT_TRUE(parse_pod_list(list_of(json::array()), kIdentity).pods.empty());
  EXPECT_TRUE(parse_pod_list(list_of(json()), kIdentity).pods.empty()) << "as Go writes an empty list at times";
}

TEST(PodStatus, ABrokenListIsNoShorterOne) {
  const std::string good = list_of({pod_json()});
  json nameless = pod_json(R"({"metadata": {"name": null}})"), without_uid = pod_json(R"({"metadata": {"uid": 7}})");
  for (const std::string& body :
       {std::string(), std::string("<html>"), std::string("[]"), std::string("{}"), good.substr(0, good.size() - 1),
        good.substr(0, good.size() / 2), list_of(json::object()), list_of({1}), list_of({nullptr}),
        list_of({{pod_json()}, 1}), list_of({nameless}), list_of({without_uid}), list_of({json::object()}),
        pod_json().dump()}) {
    try {
      parse_pod_list(body, kIdentity);
      FAIL() << body;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "InvalidReply");
    }
  }
}

TEST(PodStatus, AReplyIsAPodOrAnError) {
  EXPECT_EQ(parse_pod_reply(pod_json().dump(), kIdentity).uid, "u-3");
  for (const char* body : {"", "{}", R"({"kind": "Status"})", R"({"kind": "Pod", "metadata": {"name": "x"}})"})
    EXPECT_THROW(parse_pod_reply(body, kIdentity), Error) << body;
}

TEST(PodStatus, AMachinesIdIsNameAndUid) {
  const auto id = pod_id("p-g-3/u-3");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->name, "p-g-3");
  EXPECT_EQ(id->uid, "u-3");
  for (const char* bad : {"", "p-g-3", "/u", "p/", "a/b/c"}) EXPECT_FALSE(pod_id(bad)) << bad;
}

}  // namespace
}  // namespace burst::kubernetes
