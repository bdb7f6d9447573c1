// SPDX-License-Identifier: Apache-2.0
#include "providers/gce/gce_replies.h"

#include <gtest/gtest.h>

#include "burst/error.h"

namespace burst::gce {
namespace {

std::string code_of(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const Error& error) {
    return error.code();
  }
  return "(no error)";
}

std::chrono::sys_seconds at(long seconds) { return std::chrono::sys_seconds{std::chrono::seconds{seconds}}; }

TEST(GceReplies, AnInstanceIsReadFromItsZone) {
  const auto page = parse_instances(R"({"nextPageToken": "more", "items": {
      "zones/us-central1-a": {"instances": [{
          "name": "p-g-1", "zone": "https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a",
          "status": "RUNNING", "machineType": "https://x/zones/us-central1-a/machineTypes/c2-standard-4",
          "labels": {"burst-cluster": "c"}, "creationTimestamp": "2026-01-31T04:05:06.789-08:00",
          "networkInterfaces": [{"networkIP": "10.0.0.7"}, {"networkIP": "10.1.0.7"}],
          "resourceStatus": {"scheduling": {"terminationTimestamp": "2026-01-31T14:05:06.000Z"}}}]},
      "zones/us-central1-b": {"warning": {"code": "NO_RESULTS_ON_PAGE"}}}})",
                                    "us-central1");
  ASSERT_EQ(page.items.size(), 1U);
  const auto& instance = page.items[0];
  EXPECT_EQ(page.next_token, "more");
  EXPECT_EQ(instance.name, "p-g-1");
  EXPECT_EQ(instance.zone, "us-central1-a");
  EXPECT_EQ(instance.type, "c2-standard-4");
  EXPECT_EQ(instance.address, "10.0.0.7");
  EXPECT_EQ(instance.hostname, "p-g-1");
  EXPECT_EQ(instance.label("burst-cluster"), "c");
  EXPECT_EQ(instance.created, at(1'769'861'106));
  EXPECT_EQ(instance.expires, at(1'769'868'306));
}

TEST(GceReplies, AnInstanceWithoutAddressOrExpiryIsReadToo) {
  const auto page = parse_instances(
      R"({"items": {"zones/z-1-a": {"instances": [{"name": "n", "zone": "zones/z-1-a", "status": "PROVISIONING",
                                                  "hostname": "n.example.org"}]}}})",
      "z-1");
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(page.items[0].address, "");
  EXPECT_EQ(page.items[0].hostname, "n.example.org");
  EXPECT_FALSE(page.items[0].expires);
}

TEST(GceReplies, AListThatIsNotWholeIsAnError) {
  const std::string ours = R"({"items": {"zones/us-central1-b": {"warning": {"code": "UNREACHABLE"}}}})";
  EXPECT_EQ(code_of([&] { parse_instances(ours, "us-central1"); }), "Unreachable");
  EXPECT_EQ(code_of([&] { parse_instances(R"({"unreachables": ["zones/us-central1-c"]})", "us-central1"); }),
            "Unreachable");
  EXPECT_EQ(code_of([&] { parse_instances(R"({"warning": {"code": "UNREACHABLE"}})", "us-central1"); }), "Unreachable");
  EXPECT_EQ(code_of([&] { parse_resize_requests(R"({"warning": {"code": "UNREACHABLE"}})"); }), "Unreachable");
  EXPECT_EQ(code_of([&] { parse_instance_groups(R"({"warning": {"code": "UNREACHABLE"}})"); }), "Unreachable");
}

TEST(GceReplies, AnotherRegionsOutageHidesNothingOfOurs) {
  EXPECT_TRUE(parse_instances(R"({"unreachables": ["zones/us-central10-a", "zones/europe-west4-a"],
      "warning": {"code": "UNREACHABLE"}, "items": {"zones/europe-west4-a": {"warning": {"code": "UNREACHABLE"}}}})",
                              "us-central1")
                  .items.empty());
}

TEST(GceReplies, BrokenRepliesAreErrorsAndNeverEmpty) {
  for (const char* text : {"", "<html>", "[]", "null", "{\"items\": {", R"({"items": 3})",
                           R"({"items": {"zones/z": {"instances": [{"zone": "zones/z", "status": "RUNNING"}]}}})"}) {
    EXPECT_EQ(code_of([&] { parse_instances(text, "z"); }), "InvalidReply") << text;
  }
  for (const char* text : {"", "[]", R"({"items": {}})", R"({"items": ["x"]})", R"({"items": [{}]})"}) {
    EXPECT_EQ(code_of([&] { parse_operations(text); }), "InvalidReply") << text;
    EXPECT_EQ(code_of([&] { parse_instance_groups(text); }), "InvalidReply") << text;
    EXPECT_EQ(code_of([&] { parse_resize_requests(text); }), "InvalidReply") << text;
  }
  EXPECT_EQ(code_of([&] { parse_operation("{}"); }), "InvalidReply");
}

TEST(GceReplies, ABulkInsertsOperationTellsWhereAndHowMany) {
  const auto operation = parse_operation(R"({"name": "operation-1", "status": "DONE", "operationGroupId": "g1",
      "error": {"errors": [{"code": "VM_MIN_COUNT_NOT_REACHED", "message": "a\nb"}]},
      "instancesBulkInsertOperationMetadata": {"perLocationStatus": {
          "zones/us-central1-a": {"createdVmCount": 3, "targetVmCount": 4}, "zones/us-central1-b": {"createdVmCount": 1},
          "zones/us-central1-c": {"targetVmCount": 1}}}})");
  EXPECT_TRUE(operation.done);
  EXPECT_EQ(operation.group_id, "g1");
  EXPECT_EQ(operation.zones, (std::vector<std::string>{"us-central1-a", "us-central1-b", "us-central1-c"}));
  EXPECT_EQ(operation.created, 4U);
  EXPECT_EQ(operation.errors, (std::vector<ApiError>{{"VM_MIN_COUNT_NOT_REACHED", "a b"}}));
  EXPECT_FALSE(parse_operation(R"({"name": "o", "status": "RUNNING"})").done);
}

TEST(GceReplies, AResizeRequestTellsItsNodesAndItsLastWord) {
  const auto page = parse_resize_requests(R"({"items": [
      {"name": "nodes", "state": "ACCEPTED", "instances": [{"name": "p-g-1"}, {"name": "p-g-2"}],
       "status": {"lastAttempt": {"error": {"errors": [{"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "m"}]}}}},
      {"name": "old", "state": "FAILED", "status": {"error": {"errors": [{"code": "QUOTA_EXCEEDED"}]}}}]})");
  ASSERT_EQ(page.items.size(), 2U);
  EXPECT_TRUE(page.items[0].is_active());
  EXPECT_EQ(page.items[0].nodes, (std::vector<std::string>{"p-g-1", "p-g-2"}));
  EXPECT_EQ(page.items[0].last_word, (ApiError{"ZONE_RESOURCE_POOL_EXHAUSTED", "m"}));
  EXPECT_FALSE(page.items[0].error);
  EXPECT_FALSE(page.items[1].is_active());
  EXPECT_EQ(page.items[1].error->code, "QUOTA_EXCEEDED");
}

TEST(GceReplies, OnlyManagedInstancesThatExistAreRead) {
  const auto page = parse_managed_instances(R"({"nextPageToken": "t", "managedInstances": [
      {"name": "p-g-0", "currentAction": "CREATING"},
      {"name": "p-g-1", "instanceStatus": "RUNNING", "instance": "https://x/projects/p/zones/us-central1-a/instances/p-g-1",
       "scheduling": {"terminationTimestamp": "2026-01-31T14:05:06Z"}}]})");
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(page.items[0].name, "p-g-1");
  EXPECT_EQ(page.items[0].zone, "us-central1-a");
  EXPECT_EQ(page.items[0].expires, at(1'769'868'306));
  EXPECT_EQ(page.next_token, "t");
  for (const char* text :
       {"[]", R"({"managedInstances": {}})", R"({"managedInstances": [{"instanceStatus": "RUNNING"}]})"})
    EXPECT_EQ(code_of([&] { parse_managed_instances(text); }), "InvalidReply") << text;
}

TEST(GceReplies, AnErrorsCodeIsItsMostExactOne) {
  EXPECT_EQ(parse_error(R"({"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "line\none",
                                     "errors": [{"reason": "quotaExceeded"}]}})"),
            (ApiError{"quotaExceeded", "line one"}));
  EXPECT_EQ(
      parse_error(R"({"error": {"code": 429, "details": [{"@type": "x"}, {"reason": "RATE_LIMIT_EXCEEDED"}]}})")->code,
      "RATE_LIMIT_EXCEEDED");
  EXPECT_EQ(parse_error(R"({"error": {"code": 400, "status": "INVALID_ARGUMENT"}})")->code, "INVALID_ARGUMENT");
  EXPECT_FALSE(parse_error("<html>502</html>"));
  EXPECT_FALSE(parse_error(R"({"error": "invalid_grant"})"));
}

TEST(GceReplies, OnlyAJsonObjectIsWhole) {
  EXPECT_TRUE(is_whole(" {\"a\": 1}\n"));
  for (const char* text : {"", "[]", "{\"a\": ", "not json", "{} {}"}) EXPECT_FALSE(is_whole(text)) << text;
}

}  // namespace
}  // namespace burst::gce
