// SPDX-License-Identifier: Apache-2.0
// The keys of a `gce` node group: what is refused, warned of, and read.
#include "providers/gce/gce_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace burst::gce {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Json good() {
  return Json::parse(R"({"NodeGroupName": "c2", "Project": "my-project", "Region": "us-central1",
                         "Zones": ["us-central1-a", "us-central1-ai1a"], "InstanceTemplate": "slurm-node"})");
}
Json patched(const char* patch) {
  auto group = good();
  group.merge_patch(Json::parse(patch));
  return group;
}
Json flex(const char* patch) {
  auto group = patched(R"({"ProvisioningModel": "FLEX_START"})");
  group.merge_patch(Json::parse(patch));
  return group;
}

/// `fatal: ...` and `warning: ...` lines.
std::vector<std::string> found(const Json& group) {
  std::vector<std::string> lines;
  for (const auto& problem : settings_keys().check(group))
    lines.push_back((problem.fatal ? "fatal: " : "warning: ") + problem.message);
  return lines;
}

GroupSettings parsed(const Json& json, const Config& config = {}) {
  NodeGroup group;
  group.settings = std::make_shared<const Json>(json);
  return parse_settings(config, group);
}

TEST(GceSettings, AcceptsGoodGroups) {
  for (
      const char* patch :
      {"{}", R"({"Zones": null, "ProvisioningModel": "STANDARD"})", R"({"ProvisioningModel": "SPOT"})",
       R"({"ProvisioningModel": "RESERVATION_BOUND", "Reservation": "r-1"})",
       R"({"Reservation": "projects/other-project/reservations/r-1"})", R"({"Project": "example.com:my-project"})",
       R"({"InstanceTemplate": "regions/us-central1/instanceTemplates/t"})", R"({"Placement": "compact"})",
       R"({"InstanceTemplate": "https://www.googleapis.com/compute/v1/projects/p-1234/global/instanceTemplates/t"})",
       R"({"Placement": "projects/my-project/regions/us-central1/resourcePolicies/compact"})",
       R"({"InstanceProperties": {"machineType": "c2-standard-8", "metadata": {"items": [{"key": "a", "value": "b"}]}}})",
       R"({"Labels": {"team": "hpc", "a_b-1": ""}, "CredentialsFile": "/etc/key.json"})",
       R"({"ImpersonateServiceAccount": "slurm@my-project.iam.gserviceaccount.com"})",
       R"({"ProvisioningModel": "FLEX_START", "FlexStartUseJobDuration": true, "BootTimeout": 60,
            "InstanceProperties": {"labels": {"a": "b"}, "metadata": {"items": []}}, "Placement": "workload"})"}) {
    EXPECT_THAT(found(patched(patch)), IsEmpty()) << patch;
  }
}

struct Case {
  const char* patch;  ///< JSON merge patch on the good group
  const char* problem;
};
class GceSettingsProblems : public testing::TestWithParam<Case> {};

TEST_P(GceSettingsProblems, AreNamedByPointerExpectedAndFound) {
  EXPECT_THAT(found(patched(GetParam().patch)), ElementsAre(GetParam().problem));
}

INSTANTIATE_TEST_SUITE_P(
    Places, GceSettingsProblems,
    testing::Values(
        Case{R"({"Project": null})", "fatal: /Project: missing, it is required for a gce node group"},
        Case{R"({"Project": "<project-id>"})",
             R"(fatal: /Project: expected a project's id such as "my-project", found "<project-id>")"},
        Case{R"({"Region": "us-central1-a", "Zones": null})",
             R"(fatal: /Region: expected the name of a region such as "us-central1", found "us-central1-a")"},
        Case{R"({"Zones": "us-central1-a"})", R"(fatal: /Zones: expected an array of strings, found "us-central1-a")"},
        Case{R"({"Zones": ["us-east1-b"]})",
             R"(fatal: /Zones/0: expected a zone of the region such as "us-central1-a", found "us-east1-b")"},
        Case{R"({"Zones": ["us-central12-a"]})",
             R"(fatal: /Zones/0: expected a zone of the region such as "us-central1-a", found "us-central12-a")"},
        Case{R"({"Zones": ["us-central1-a", "us-central1-a"]})",
             R"(fatal: /Zones/1: "us-central1-a" stands there twice)"},
        Case{R"({"Zones": [1]})", "fatal: /Zones/0: expected a string, found 1"},
        Case{R"({"InstanceTemplate": null})", "fatal: /InstanceTemplate: missing, it is required for a gce node group"},
        Case{R"({"InstanceTemplate": "Slurm Node"})",
             R"(fatal: /InstanceTemplate: expected an instance template: its name, )"
             R"("regions/REGION/instanceTemplates/NAME", a longer path or its URL, found "Slurm Node")"},
        Case{R"({"InstanceTemplate": "global/images/t"})",
             R"(fatal: /InstanceTemplate: expected an instance template: its name, )"
             R"("regions/REGION/instanceTemplates/NAME", a longer path or its URL, found "global/images/t")"},
        Case{R"({"InstanceTemplate": "regions/us-east1/instanceTemplates/t"})",
             "fatal: /InstanceTemplate: a regional template serves its own region only, expected one of "
             R"(regions/us-central1, found "regions/us-east1/instanceTemplates/t")"},
        Case{R"({"Placement": "regions/us-east1/resourcePolicies/p"})",
             "fatal: /Placement: expected a resource policy that is there: its name, or "
             R"("regions/us-central1/resourcePolicies/NAME", found "regions/us-east1/resourcePolicies/p")"}));

INSTANTIATE_TEST_SUITE_P(
    Models, GceSettingsProblems,
    testing::Values(
        Case{R"({"ProvisioningModel": "spot"})",
             R"(fatal: /ProvisioningModel: expected one of "STANDARD", "SPOT", "RESERVATION_BOUND", "FLEX_START", )"
             R"(found "spot")"},
        Case{R"({"ProvisioningModel": "RESERVATION_BOUND"})",
             "fatal: /Reservation: missing, it is required with ProvisioningModel RESERVATION_BOUND"},
        Case{R"({"ProvisioningModel": "SPOT", "Reservation": "r"})",
             "fatal: /Reservation: SPOT machines can't come from a reservation"},
        Case{R"({"ProvisioningModel": "FLEX_START", "Reservation": "r"})",
             "fatal: /Reservation: FLEX_START machines can't come from a reservation"},
        Case{R"({"Reservation": "a b"})",
             R"(fatal: /Reservation: expected a reservation: its name, or "projects/PROJECT/reservations/NAME", )"
             R"(found "a b")"},
        Case{R"({"FlexStartMaxDuration": "3600s"})",
             "warning: /FlexStartMaxDuration: without effect: ProvisioningModel is not FLEX_START"},
        Case{R"({"BootTimeout": 100})", "warning: /BootTimeout: without effect: ProvisioningModel is not FLEX_START"},
        Case{R"({"ProvisioningModel": "FLEX_START", "BootTimeout": 59})",
             "fatal: /BootTimeout: expected an integer from 60 to 86400, found 59"},
        Case{R"({"ProvisioningModel": "FLEX_START", "BootTimeout": "1800"})",
             "fatal: /BootTimeout: expected an integer from 60 to 86400, found \"1800\""},
        Case{R"({"ProvisioningModel": "FLEX_START", "FlexStartUseJobDuration": 1})",
             "fatal: /FlexStartUseJobDuration: expected true or false, found 1"},
        Case{R"({"ProvisioningModel": "FLEX_START", "InstanceProperties": {"machineType": "a3-ultragpu-8g"}})",
             "fatal: /InstanceProperties/machineType: FLEX_START machines come from a managed instance group, which "
             "takes this from the template alone; only labels and metadata can be given here"},
        Case{R"({"ProvisioningModel": "FLEX_START", "InstanceProperties": {"metadata": {"items": [], "kind": "k"}}})",
             "fatal: /InstanceProperties/metadata/kind: FLEX_START machines come from a managed instance group, to "
             "which only items can be given"}));

INSTANTIATE_TEST_SUITE_P(
    Others, GceSettingsProblems,
    testing::Values(
        Case{R"({"Labels": []})", "fatal: /Labels: expected an object of strings, found an array"},
        Case{R"({"Labels": {"Team": "a"}})",
             "fatal: /Labels/Team: expected a label's key: a letter, then up to 62 of a-z, 0-9, '_' and '-', found "
             "\"Team\""},
        Case{R"({"Labels": {"team": "A"}})",
             "fatal: /Labels/team: expected a label's value: up to 63 of a-z, 0-9, '_' and '-', found \"A\""},
        Case{R"({"Labels": {"team": 1}})",
             "fatal: /Labels/team: expected a label's value: up to 63 of a-z, 0-9, '_' and '-', found 1"},
        Case{R"({"Labels": {"burst-cluster": "a"}})",
             "fatal: /Labels/burst-cluster: slurm-burst sets the label burst-cluster itself"},
        Case{R"({"InstanceProperties": {"labels": {"burst-launch": "a"}}})",
             "fatal: /InstanceProperties/labels/burst-launch: slurm-burst sets the label burst-launch itself"},
        Case{R"({"InstanceProperties": 1})", "fatal: /InstanceProperties: expected an object, found 1"},
        Case{R"({"InstanceProperties": {"metadata": {"a": "b"}}})",
             "fatal: /InstanceProperties/metadata: expected {\"items\": [{\"key\": \"...\", \"value\": \"...\"}]}, "
             "found "
             "an object"},
        Case{R"({"InstanceProperties": {"scheduling": {"provisioningModel": "SPOT"}}})",
             "fatal: /InstanceProperties/scheduling/provisioningModel: the group's ProvisioningModel says that"},
        Case{R"({"Reservation": "r", "InstanceProperties": {"reservationAffinity": {}}})",
             "fatal: /InstanceProperties/reservationAffinity: the group's Reservation says that"},
        Case{R"({"CredentialsFile": "key.json"})",
             "fatal: /CredentialsFile: expected an absolute path, found \"key.json\""},
        Case{R"({"ImpersonateServiceAccount": "slurm"})",
             "fatal: /ImpersonateServiceAccount: expected the e-mail address of a service account, found \"slurm\""},
        Case{R"({"Tags": []})", "warning: /Tags: not used for gce, whose machines have Labels"}));

TEST(GceSettings, FlexDurationsAreWholeSecondsFrom30To604800) {
  for (const char* bad :
       {R"("29s")", R"("604801s")", R"("604800")", R"("1.5s")", R"("")", R"("s")", R"("-600s")", R"("600 s")",
        R"("600S")", "29", "604801", "600.5", "true", "null", R"("99999999999999999999s")"}) {
    auto group = flex("{}");
    group["FlexStartMaxDuration"] = Json::parse(bad);
    const auto lines = found(group);
    ASSERT_EQ(lines.size(), 1U) << bad;
    EXPECT_THAT(lines[0],
                testing::StartsWith("fatal: /FlexStartMaxDuration: expected seconds from 30 to 604800 such as "
                                    "\"604800s\", found "))
        << bad;
  }
  for (const auto& [good_value, seconds] : std::vector<std::pair<const char*, int>>{{R"("600s")", 600},
                                                                                    {R"("604800s")", 604'800},
                                                                                    {R"("172800s")", 172'800},
                                                                                    {"604800", 604'800},
                                                                                    {"600.0", 600}}) {
    auto group = flex("{}");
    group["FlexStartMaxDuration"] = Json::parse(good_value);
    EXPECT_THAT(found(group), IsEmpty()) << good_value;
    EXPECT_EQ(parsed(group).flex_max_duration.count(), seconds) << good_value;
  }
}

TEST(GceSettings, DurationsBelowAResizeRequestsShortestAreWarnedOfAndRaised) {
  for (const char* value : {"30s", "599s"}) {
    auto group = flex("{}");
    group["FlexStartMaxDuration"] = value;
    EXPECT_THAT(
        found(group),
        ElementsAre("warning: /FlexStartMaxDuration: Compute Engine takes no resize request for less than 600 s: "
                    "the machines may run up to 600 s"));
    EXPECT_EQ(parsed(group).flex_max_duration.count(), 600) << value;
  }
}

TEST(GceSettings, DefaultsAreAWeekAndHalfAnHour) {
  const auto settings = parsed(flex("{}"));
  EXPECT_EQ(settings.flex_max_duration.count(), 604'800);
  EXPECT_EQ(settings.boot_timeout.count(), 1'800);
  EXPECT_FALSE(settings.flex_use_job_duration);
  EXPECT_EQ(*settings.instance_properties, Json::object());
  EXPECT_EQ(parsed(good()).model, ProvisioningModel::standard);
  EXPECT_EQ(settings.reservation + settings.resource_policy + settings.credentials_file, "");
}

TEST(GceSettings, ReadsEveryKey) {
  const auto settings = parsed(patched(R"({"ProvisioningModel": "RESERVATION_BOUND", "Reservation": "r-1",
      "Placement": "compact", "InstanceProperties": {"canIpForward": true}, "CredentialsFile": "/k.json",
      "ImpersonateServiceAccount": "a@b.c", "Labels": {"team": "hpc"}})"));
  EXPECT_EQ(settings.project, "my-project");
  EXPECT_EQ(settings.region, "us-central1");
  EXPECT_THAT(settings.zones, ElementsAre("us-central1-a", "us-central1-ai1a"));
  EXPECT_EQ(settings.model, ProvisioningModel::reservation_bound);
  EXPECT_EQ(settings.reservation, "r-1");
  EXPECT_EQ(settings.resource_policy, "projects/my-project/regions/us-central1/resourcePolicies/compact");
  EXPECT_EQ(settings.instance_properties->dump(), R"({"canIpForward":true})");
  EXPECT_EQ(settings.credentials_file, "/k.json");
  EXPECT_EQ(settings.impersonate_service_account, "a@b.c");
  EXPECT_THAT(settings.labels, ElementsAre(Pair("team", "hpc")));
  const auto queued = parsed(flex(R"({"FlexStartUseJobDuration": true, "BootTimeout": 900})"));
  EXPECT_EQ(queued.model, ProvisioningModel::flex_start);
  EXPECT_TRUE(queued.flex_use_job_duration);
  EXPECT_EQ(queued.boot_timeout.count(), 900);
}

TEST(GceSettings, EverySpellingOfATemplateGivesOnePath) {
  const std::string global = "projects/my-project/global/instanceTemplates/t";
  const std::string regional = "projects/other-project/regions/us-central1/instanceTemplates/t";
  for (const auto& [text, path] : std::vector<std::pair<std::string, std::string>>{
           {"t", global},
           {"global/instanceTemplates/t", global},
           {global, global},
           {"https://compute.googleapis.com/compute/v1/" + global, global},
           {"https://www.googleapis.com/compute/beta/" + regional, regional},
           {"regions/us-central1/instanceTemplates/t",
            "projects/my-project/regions/us-central1/instanceTemplates/t"}}) {
    auto group = good();
    group["InstanceTemplate"] = text;
    EXPECT_THAT(found(group), IsEmpty()) << text;
    EXPECT_EQ(parsed(group).instance_template, path);
  }
}

TEST(GceSettings, AReservationOfAnotherProjectIsNamedByItsPath) {
  auto group = good();
  group["Reservation"] =
      "https://www.googleapis.com/compute/v1/projects/other-project/zones/us-central1-a/reservations/r";
  EXPECT_THAT(found(group), IsEmpty());
  EXPECT_EQ(parsed(group).reservation, "projects/other-project/reservations/r");
}

TEST(GceSettings, MachineTagsBecomeLabelsAndTheGroupsLabelsWin) {
  Config config;
  config.machine_tags = {
      {"Team", "HPC Lab"}, {"1st", "a"}, {"cost", "1"}, {"node", "{node_name}"}, {"burst-cluster", "mine"}};
  const auto settings = parsed(patched(R"({"Labels": {"cost": "2"}})"), config);
  EXPECT_THAT(settings.labels, ElementsAre(Pair("cost", "2"), Pair("tag-1st", "a"), Pair("team", "hpc-lab")));
}

TEST(GceLabelValue, KeepsWhatIsALabelAlready) {
  for (const char* text : {"", "cluster", "a_b-1", "9"}) EXPECT_EQ(label_value(text), text);
  EXPECT_EQ(label_value(std::string(63, 'a')), std::string(63, 'a'));
}

TEST(GceLabelValue, NeverGivesOneValueForTwoTexts) {
  EXPECT_THAT(label_value("Cluster"), testing::MatchesRegex("cluster-[0-9a-f]{10}"));
  EXPECT_NE(label_value("Cluster"), label_value("cLuster"));
  EXPECT_NE(label_value("a.b"), label_value("a b"));
  EXPECT_EQ(label_value("a.b"), label_value("a.b"));
  const auto one = label_value(std::string(80, 'a')), other = label_value(std::string(81, 'a'));
  EXPECT_NE(one, other);
  EXPECT_EQ(one.size(), 63U);
  EXPECT_EQ(label_value("\xc3\xa9"), label_value("\xc3\xa9"));
}

TEST(GceSettings, FlexPartitionsWaitAsLongAsSlurmCan) {
  EXPECT_THAT(settings_keys().partition_options(flex("{}")), ElementsAre(Pair("ResumeTimeout", "65533")));
  EXPECT_THAT(settings_keys().partition_options(good()), IsEmpty());
  EXPECT_TRUE(settings_keys().nodes_are_dns_labels);
  EXPECT_EQ(settings_keys().termination_time.count(), 120);
}

}  // namespace
}  // namespace burst::gce
