// SPDX-License-Identifier: Apache-2.0
#include "providers/gce/gce_requests.h"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fakes/fake_services.h"

namespace burst::gce {
namespace {

using nlohmann::json;
using std::chrono::seconds;

const GroupIdentity kIdentity{"test", "p", "g"};

GroupSettings settings_of(ProvisioningModel model = ProvisioningModel::standard) {
  GroupSettings settings;
  settings.project = "my-project";
  settings.region = "us-central1";
  settings.zones = {"us-central1-a", "us-central1-b"};
  settings.instance_template = "projects/my-project/global/instanceTemplates/t";
  settings.model = model;
  settings.instance_properties = std::make_shared<const nlohmann::ordered_json>(nlohmann::ordered_json::object());
  return settings;
}

Request request_of(std::vector<NodeName> nodes, std::optional<JobId> job = std::nullopt) {
  return {"sb-1", std::move(nodes), job, false};
}

json bulk(const GroupSettings& settings, const Request& request) {
  return json::parse(bulk_insert_body(settings, kIdentity, request));
}

TEST(GceRequests, ABulkInsertNamesItsNodesAndItsTemplate) {
  const json body = bulk(settings_of(), request_of({"p-g-1", "p-g-2"}, 17));
  EXPECT_EQ(body, json::parse(R"({
      "count": "2", "minCount": "1", "perInstanceProperties": {"p-g-1": {}, "p-g-2": {}},
      "sourceInstanceTemplate": "projects/my-project/global/instanceTemplates/t",
      "locationPolicy": {"targetShape": "ANY", "zones": [{"zone": "zones/us-central1-a"}, {"zone": "zones/us-central1-b"}]},
      "instanceProperties": {"labels": {"burst-cluster": "test", "burst-partition": "p", "burst-group": "g",
                                        "burst-launch": "sb-1", "burst-job": "17"}}})"));
}

TEST(GceRequests, AllOrNothingAsksForAllInOneZone) {
  auto request = request_of({"p-g-1", "p-g-2"});
  request.all_or_nothing = true;
  const json body = bulk(settings_of(), request);
  EXPECT_EQ(body["minCount"], "2");
  EXPECT_EQ(body["locationPolicy"]["targetShape"], "ANY_SINGLE_ZONE");
}

TEST(GceRequests, OneZoneNeedsNoLocationPolicyAndNoneLeavesTheChoiceToGoogle) {
  auto settings = settings_of();
  settings.zones = {"us-central1-a"};
  EXPECT_FALSE(bulk(settings, request_of({"p-g-1"})).contains("locationPolicy"));
  settings.zones.clear();
  EXPECT_EQ(bulk(settings, request_of({"p-g-1"}))["locationPolicy"], json::parse(R"({"targetShape": "ANY"})"));
}

TEST(GceRequests, SpotMachinesAreDeletedWhenTheyArePreempted) {
  EXPECT_EQ(
      bulk(settings_of(ProvisioningModel::spot), request_of({"p-g-1"}))["instanceProperties"]["scheduling"],
      json::parse(R"({"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE", "automaticRestart": false,
                            "onHostMaintenance": "TERMINATE"})"));
}

TEST(GceRequests, AReservationAndAPlacementAreNamed) {
  auto settings = settings_of(ProvisioningModel::reservation_bound);
  settings.reservation = "projects/other/reservations/r";
  settings.resource_policy = "projects/my-project/regions/us-central1/resourcePolicies/compact";
  const json properties = bulk(settings, request_of({"p-g-1"}))["instanceProperties"];
  EXPECT_EQ(properties["reservationAffinity"], json::parse(R"({
      "consumeReservationType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name",
      "values": ["projects/other/reservations/r"]})"));
  EXPECT_EQ(properties["resourcePolicies"], json::array({settings.resource_policy}));
  EXPECT_EQ(properties["scheduling"]["provisioningModel"], "RESERVATION_BOUND");
}

TEST(GceRequests, InstancePropertiesWinButNotOverOurLabels) {
  auto settings = settings_of(ProvisioningModel::spot);
  settings.labels = {{"team", "hpc"}, {"burst-cluster", "mine"}};
  settings.instance_properties = std::make_shared<const nlohmann::ordered_json>(nlohmann::ordered_json::parse(R"({
      "machineType": "c2-standard-8", "scheduling": {"instanceTerminationAction": "STOP", "maxRunDuration": null},
      "labels": {"owner": "me", "burst-launch": "mine"}})"));
  const json properties = bulk(settings, request_of({"p-g-1"}))["instanceProperties"];
  EXPECT_EQ(properties["machineType"], "c2-standard-8");
  EXPECT_EQ(properties["scheduling"]["instanceTerminationAction"], "STOP");
  EXPECT_TRUE(properties["scheduling"].contains("maxRunDuration")) << "a null takes the template's value away";
  EXPECT_EQ(properties["scheduling"]["provisioningModel"], "SPOT");
  EXPECT_EQ(properties["labels"]["owner"], "me");
  EXPECT_EQ(properties["labels"]["team"], "hpc");
  EXPECT_EQ(properties["labels"]["burst-cluster"], "test");
  EXPECT_EQ(properties["labels"]["burst-launch"], "sb-1");
}

TEST(GceRequests, AnInstanceGroupHoldsNothingAndRepairsNothing) {
  auto settings = settings_of(ProvisioningModel::flex_start);
  settings.resource_policy = "projects/my-project/regions/us-central1/resourcePolicies/w";
  auto request = request_of({"p-g-1", "p-g-2"}, 17);
  request.launch = "p-g-abc";
  EXPECT_EQ(json::parse(instance_group_body(settings, kIdentity, request)), json::parse(R"({
      "name": "p-g-abc", "description": "slurm-burst cluster=test group=p-g job=17 nodes=p-g-[1-2]",
      "versions": [{"instanceTemplate": "projects/my-project/global/instanceTemplates/t"}], "targetSize": 0,
      "distributionPolicy": {"targetShape": "ANY_SINGLE_ZONE",
                             "zones": [{"zone": "zones/us-central1-a"}, {"zone": "zones/us-central1-b"}]},
      "updatePolicy": {"type": "OPPORTUNISTIC", "instanceRedistributionType": "NONE"},
      "instanceLifecyclePolicy": {"defaultActionOnFailure": "DO_NOTHING"},
      "listManagedInstancesResults": "PAGINATED",
      "resourcePolicies": {"workloadPolicy": "projects/my-project/regions/us-central1/resourcePolicies/w"},
      "allInstancesConfig": {"properties": {"labels": {
          "burst-cluster": "test", "burst-partition": "p", "burst-group": "g", "burst-launch": "p-g-abc",
          "burst-job": "17"}}}})"));
}

TEST(GceRequests, AnInstanceGroupGivesItsMachinesLabelsAndMetadataButNotOverOurLabels) {
  auto settings = settings_of(ProvisioningModel::flex_start);
  settings.labels = {{"team", "hpc"}, {"burst-cluster", "mine"}};
  settings.instance_properties = std::make_shared<const nlohmann::ordered_json>(nlohmann::ordered_json::parse(R"({
      "labels": {"owner": "me", "team": "other", "burst-launch": "mine"},
      "metadata": {"items": [{"key": "startup-script", "value": "#!/bin/sh\ntrue\n"}, {"key": "role", "value": ""}]}})"));
  const json body = json::parse(instance_group_body(settings, kIdentity, request_of({"p-g-1"})));
  EXPECT_EQ(body["allInstancesConfig"], json::parse(R"({"properties": {
      "labels": {"owner": "me", "team": "hpc", "burst-cluster": "test", "burst-partition": "p", "burst-group": "g",
                 "burst-launch": "sb-1"},
      "metadata": {"startup-script": "#!/bin/sh\ntrue\n", "role": ""}}})"));
}

TEST(GceRequests, AnInstanceGroupWithoutMetadataOfItsOwnLeavesTheTemplates) {
  auto settings = settings_of(ProvisioningModel::flex_start);
  for (const char* own : {R"({})", R"({"metadata": {"items": []}})", R"({"labels": {}})"}) {
    settings.instance_properties = std::make_shared<const nlohmann::ordered_json>(nlohmann::ordered_json::parse(own));
    const json body = json::parse(instance_group_body(settings, kIdentity, request_of({"p-g-1"})));
    EXPECT_EQ(body["allInstancesConfig"]["properties"].size(), 1U) << own;
    EXPECT_EQ(body["allInstancesConfig"]["properties"]["labels"].size(), 4U) << own;
  }
}

TEST(GceRequests, AResizeRequestNamesItsMachinesAndItsDuration) {
  EXPECT_EQ(json::parse(resize_request_body(std::vector<NodeName>{"p-g-1", "p-g-10"}, seconds{600})),
            json::parse(R"({"name": "nodes", "instances": [{"name": "p-g-1"}, {"name": "p-g-10"}],
                            "requestedRunDuration": {"seconds": "600"}})"));
}

struct DurationCase {
  bool by_job;
  long longest;
  std::optional<long> limit;
  long expected;
};

TEST(GceRequests, TheRunDurationStaysWithinWhatGoogleTakes) {
  for (const auto& row : {DurationCase{false, 604'800, 3'600, 604'800}, DurationCase{true, 604'800, 3'600, 5'400},
                          DurationCase{true, 604'800, std::nullopt, 604'800}, DurationCase{true, 604'800, 60, 1'860},
                          DurationCase{true, 3'600, 3'000, 3'600}, DurationCase{true, 604'800, 99'999'999, 604'800},
                          DurationCase{true, 600, 30, 600}, DurationCase{false, 600, 30, 600},
                          DurationCase{false, 172'800, 30, 172'800}}) {
    GroupSettings settings;
    settings.flex_use_job_duration = row.by_job;
    settings.flex_max_duration = seconds{row.longest};
    settings.boot_timeout = seconds{1'800};
    const auto limit = row.limit ? std::optional(seconds{*row.limit}) : std::nullopt;
    EXPECT_EQ(run_duration(settings, limit), seconds{row.expected}) << row.by_job << " " << row.longest;
  }
  GroupSettings quick;
  quick.flex_use_job_duration = true;
  quick.boot_timeout = seconds{60};
  EXPECT_EQ(run_duration(quick, seconds{60}), seconds{600});
}

TEST(GceRequests, AnInstanceGroupsNameIsTheSameForTheSameLaunchOnly) {
  const auto name = [](const GroupIdentity& identity, std::vector<NodeName> nodes, std::optional<JobId> job,
                       int attempt) {
    return instance_group_name(identity, {"", std::move(nodes), job, false}, attempt);
  };
  const std::string base = name(kIdentity, {"p-g-1"}, 17, 0);
  EXPECT_EQ(base, name(kIdentity, {"p-g-1"}, 17, 0));
  std::set<std::string> names{base};
  names.insert(name(kIdentity, {"p-g-1"}, 17, 1));
  names.insert(name(kIdentity, {"p-g-1"}, 18, 0));
  names.insert(name(kIdentity, {"p-g-1"}, std::nullopt, 0));
  names.insert(name(kIdentity, {"p-g-10"}, 17, 0));
  names.insert(name(kIdentity, {"p-g-1", "p-g-10"}, 17, 0));
  names.insert(name({"other", "p", "g"}, {"p-g-1"}, 17, 0));
  EXPECT_EQ(names.size(), 7U);
  const GroupIdentity longest{"c", std::string(40, 'p'), std::string(40, 'g')};
  const std::string cut = name(longest, {"n"}, 1, 2);
  EXPECT_LE(cut.size(), 63U);
  EXPECT_TRUE(cut.starts_with(instance_group_prefix(longest)));
  EXPECT_EQ(cut.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
}

TEST(GceRequests, ADescriptionIsReadBackAndNobodyElses) {
  const auto request = request_of({"p-g-1", "p-g-2", "p-g-10"}, 17);
  const std::string text = describe_request(kIdentity, request);
  const auto found = parse_description(kIdentity, text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->job, 17U);
  EXPECT_EQ(found->nodes, request.nodes);
  EXPECT_FALSE(parse_description({"test2", "p", "g"}, text));
  EXPECT_FALSE(parse_description({"tes", "p", "g"}, text));
  EXPECT_FALSE(parse_description({"test", "p", "g2"}, text));
  const std::string longer = describe_request({"test", "p", "g2"}, request);
  EXPECT_FALSE(parse_description(kIdentity, longer)) << longer;
  for (const char* other :
       {"", "slurm-burst", "by hand", "slurm-burst cluster=test group=p-g job=x",
        "slurm-burst cluster=test group=p-g nodes=p-h-1", "slurm-burst cluster=test group=p-g nodes=p-g-[",
        "slurm-burst cluster=test group=p-g something else"})
    EXPECT_FALSE(parse_description(kIdentity, other)) << other;
}

TEST(GceRequests, TooLongAHostlistIsLeftOut) {
  std::vector<NodeName> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back("p-g-" + std::to_string(2 * i));
  const std::string text = describe_request(kIdentity, request_of(nodes));
  EXPECT_EQ(text, "slurm-burst cluster=test group=p-g");
  const auto found = parse_description(kIdentity, text);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->nodes.empty());
  EXPECT_FALSE(found->job);
}

TEST(GceRequests, ARequestIdIsAVersion4Uuid) {
  FakeRandom random;
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = new_uuid(random);
    EXPECT_TRUE(seen.insert(uuid).second);
    ASSERT_EQ(uuid.size(), 36U) << uuid;
    EXPECT_EQ(uuid[14], '4') << uuid;
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
    for (const std::size_t dash : {8U, 13U, 18U, 23U}) EXPECT_EQ(uuid[dash], '-') << uuid;
  }
}

TEST(GceRequests, TheFilterNamesClusterPartitionGroupAndLaunch) {
  EXPECT_EQ(label_filter(kIdentity),
            R"((labels.burst-cluster = "test") AND (labels.burst-partition = "p") AND (labels.burst-group = "g"))");
  EXPECT_TRUE(label_filter(kIdentity, "sb-1").ends_with(R"( AND (labels.burst-launch = "sb-1"))"));
}

}  // namespace
}  // namespace burst::gce
