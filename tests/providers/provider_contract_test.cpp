// SPDX-License-Identifier: Apache-2.0
// What every provider promises, tried on the simulated clouds: a provider is a row in kClouds.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "burst/provider.h"
#include "fakes/cloudsim_process.h"
#include "fakes/fake_services.h"
#include "fakes/temporary_folder.h"
#include "system/disk_files.h"
#include "system/spawn_processes.h"
#include "system/state_dir.h"

namespace burst {
namespace {

/// What the suite needs to know of a cloud: how a group is configured, and its simulator's knobs.
struct Cloud {
  const char* name;
  const char* group;  ///< settings of a node group
  /// Makes what files it needs in a folder that partitions.json is in, too; returns the environment.
  std::map<std::string, std::string> (*environment)(CloudsimProcess& sim, const std::string& folder);
  std::string knobs;  ///< where its simulator's stand
  std::string start_action, list_action, stop_action;
  void (*capacity)(CloudsimProcess& sim, int available);  ///< no more machines than these
  Outcome short_outcome;                                  ///< of a node that capacity() leaves without
  const char* short_code;
  nlohmann::json broken_credentials;  ///< a fault that stays
  const char* broken_credentials_code;
  nlohmann::json slowness;  ///< knobs: machines are visible late, and their addresses later still
  /// Whether machines are called as their nodes from the first request on, and no other may be called so; else a
  /// journal keeps the names until finish().
  bool named_at_launch;
};

std::map<std::string, std::string> aws_environment(CloudsimProcess& sim, const std::string&) {
  return {{"AWS_ENDPOINT_URL", sim.url()},
          {"AWS_ACCESS_KEY_ID", "AKIACLOUDSIM00000001"},
          {"AWS_SECRET_ACCESS_KEY", "cloudsim-secret-key"}};
}

std::map<std::string, std::string> gce_environment(CloudsimProcess& sim, const std::string&) {
  const std::string url = sim.url();
  return {{"CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE", url + "/compute/v1/"},
          {"GCE_METADATA_HOST", url.substr(url.find("//") + 2)}};
}

std::map<std::string, std::string> kubernetes_environment(CloudsimProcess& sim, const std::string& folder) {
  std::ofstream(folder + "/kubeconfig") << sim.text("/_control/kubernetes/kubeconfig?user=burst");
  std::ofstream(folder + "/pod.yaml") << R"(
spec:
  containers:
  - name: slurmd
    image: registry.example.com/slurmd:1
)";
  return {{"KUBECONFIG", folder + "/kubeconfig"}};
}

void aws_capacity(CloudsimProcess& sim, int available) {
  sim.knobs({{"ec2", {{"capacity", {{{"type", "c5.large"}, {"available", available}}}}}}});
}

void gce_capacity(CloudsimProcess& sim, int available) {
  sim.knobs({{"gce", {{"capacity", {{{"where", "us-central1"}, {"available", available}}}}}}});
}

void kubernetes_capacity(CloudsimProcess& sim, int available) {
  sim.post("/_control/kubernetes/objects", {{"apiVersion", "v1"},
                                            {"kind", "ResourceQuota"},
                                            {"metadata", {{"name", "compute"}, {"namespace", "slurm"}}},
                                            {"spec", {{"hard", {{"pods", std::to_string(available)}}}}}});
}

const std::vector<Cloud>& clouds() {
  static const nlohmann::json kSlowness{{"visible_ms", 700}, {"address_ms", 1500}};
  static const std::vector<Cloud> kClouds{
      {"aws",
       R"({"Region": "us-east-1", "PurchasingOption": "on-demand",
           "LaunchTemplateSpecification": {"LaunchTemplateName": "template-name", "Version": "$Latest"},
           "LaunchTemplateOverrides": [{"InstanceType": "c5.large"}], "SubnetIds": ["subnet-11111111"]})",
       &aws_environment,
       "ec2",
       "CreateFleet",
       "DescribeInstances",
       "TerminateInstances",
       &aws_capacity,
       Outcome::no_capacity,
       "InsufficientInstanceCapacity",
       {{"action", "*"}, {"kind", "error"}, {"code", "AuthFailure"}, {"status", 401}, {"count", -1}},
       "AuthFailure",
       kSlowness,
       false},
      {"gce",
       R"({"Project": "cloudsim-project", "Region": "us-central1", "Zones": ["us-central1-a", "us-central1-b"],
           "InstanceTemplate": "template-name"})",
       &gce_environment,
       "gce",
       "Regioninstances.bulkInsert",
       "Instances.aggregatedList",
       "Instances.delete",
       &gce_capacity,
       Outcome::no_capacity,
       "ZONE_RESOURCE_POOL_EXHAUSTED",
       {{"action", "Instances.aggregatedList"},
        {"kind", "error"},
        {"code", "authError"},
        {"status", 401},
        {"count", -1}},
       "authError",
       kSlowness,
       true},
      {"kubernetes",
       R"({"PodTemplate": "pod.yaml"})",
       &kubernetes_environment,
       "kubernetes",
       "pods.create",
       "pods.list",
       "pods.delete",
       &kubernetes_capacity,
       Outcome::over_quota,
       "QuotaExceeded",
       {{"action", "pods.list"}, {"kind", "error"}, {"code", "Unauthorized"}, {"status", 401}, {"count", -1}},
       "Unauthorized",
       {{"schedule_ms", 700}, {"start_ms", 800}},
       true},
  };
  return kClouds;
}

class FixedEnvironment : public Environment {
 public:
  std::map<std::string, std::string> variables;
  std::optional<std::string> get(std::string_view name) const override {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
};

/// Named for gtest's output.
void PrintTo(const Cloud& cloud, std::ostream* out) { *out << cloud.name; }

class ProviderContract : public testing::TestWithParam<Cloud> {
 protected:
  ProviderContract() {
    environment_.variables = GetParam().environment(sim_, folder_.path());
    config_.cluster_name = "test";
    config_.partitions_file = folder_.path() + "/partitions.json";
    net::CurlHttpSettings settings;
    settings.deadline = clock_.steady_now() + std::chrono::minutes{2};
    http_ = net::make_curl_http(settings, clock_, random_, environment_, log_);
    group_ = make_group("node");
    other_group_ = make_group("other");
  }

  std::unique_ptr<Provider> provider(const NodeGroup& group, const std::string& cluster = "test") {
    const Services services{clock_, environment_, files_, *http_, log_, processes_, random_};
    for (const auto& entry : provider_registry()) {
      if (entry.keys.name != GetParam().name) continue;
      families_.push_back(entry.make({config_, cluster, services, state_}));
      return families_.back()->provider(group);
    }
    throw std::runtime_error("no such provider in the registry");
  }

  /// Starts and names; returns the outcomes by node.
  static std::map<NodeName, NodeOutcome> start(Provider& provider, const std::vector<NodeName>& nodes,
                                               bool all_or_nothing = false) {
    std::map<NodeName, NodeOutcome> by_node;
    for (auto& outcome : provider.start(one_launch(nodes, all_or_nothing), [](auto) {})) {
      EXPECT_TRUE(by_node.emplace(outcome.node, outcome).second) << "two outcomes for " << outcome.node;
    }
    EXPECT_TRUE(provider.finish().empty());
    EXPECT_EQ(by_node.size(), nodes.size());
    return by_node;
  }

  static std::vector<Launch> one_launch(const std::vector<NodeName>& nodes, bool all_or_nothing = false) {
    Launch launch;
    launch.nodes = nodes;
    launch.all_or_nothing = all_or_nothing;
    return {launch};
  }

  void capacity(int available) { GetParam().capacity(sim_, available); }

  nlohmann::json alive() { return sim_.alive(GetParam().knobs); }

  static std::vector<NodeName> nodes(int count) {
    std::vector<NodeName> names;
    for (int i = 0; i < count; ++i) names.push_back("cloud-node-" + std::to_string(i));
    return names;
  }

  static std::multiset<NodeName> names_of(std::span<const Machine> machines) {
    std::multiset<NodeName> names;
    for (const auto& machine : machines) names.insert(machine.node.value_or("(none)"));
    return names;
  }

  CloudsimProcess sim_;
  TemporaryFolder folder_;
  SystemClock clock_;
  SystemRandom random_;
  DiskFiles files_;
  SpawnProcesses processes_;
  FixedEnvironment environment_;
  FakeLog log_;
  Config config_;
  StateDir state_{folder_.path(), files_, clock_};
  std::unique_ptr<HttpClient> http_;
  NodeGroup group_, other_group_;

 private:
  std::vector<std::unique_ptr<ProviderFamily>> families_;  // goes before what it uses

  static NodeGroup make_group(const std::string& name) {
    NodeGroup group;
    group.partition = "cloud";
    group.name = name;
    group.max_nodes = 2000;
    group.provider = GetParam().name;
    group.settings = std::make_shared<const nlohmann::ordered_json>(nlohmann::ordered_json::parse(GetParam().group));
    return group;
  }
};

TEST_P(ProviderContract, EveryNodeGetsOneMachineWithAnAddressOfItsOwn) {
  const auto cloud = provider(group_);
  std::set<std::string> addresses;
  std::set<NodeName> told;
  const auto wanted = nodes(5);
  const auto outcomes = cloud->start(one_launch(wanted), [&](std::span<const NodeOutcome> ready) {
    for (const auto& outcome : ready) EXPECT_TRUE(told.insert(outcome.node).second) << "told twice";
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.code;
    addresses.insert(outcome.machine.address);
    EXPECT_FALSE(outcome.machine.hostname.empty());
  }
  EXPECT_EQ(addresses.size(), 5U);
  EXPECT_EQ(told, std::set<NodeName>(wanted.begin(), wanted.end()));
  EXPECT_TRUE(cloud->finish().empty());
  EXPECT_EQ(alive().size(), 5U);
}

TEST_P(ProviderContract, ListGivesEachMachineWithItsNodeAndAgreesWithStart) {
  const auto started = start(*provider(group_), nodes(3));
  const auto machines = provider(group_)->list();
  ASSERT_EQ(machines.size(), 3U);
  for (const auto& machine : machines) {
    const NodeOutcome& outcome = started.at(machine.node.value());
    EXPECT_EQ(machine.id, outcome.machine.id);
    EXPECT_EQ(machine.address, outcome.machine.address);
    EXPECT_FALSE(machine.launch.empty());
    EXPECT_NEAR(static_cast<double>((machine.created.time_since_epoch()).count()),
                static_cast<double>(std::chrono::floor<std::chrono::seconds>(clock_.now()).time_since_epoch().count()),
                60.0);
  }
}

TEST_P(ProviderContract, ListKnowsNeitherOtherGroupsNorOtherClusters) {
  start(*provider(group_), {"cloud-node-0"});
  start(*provider(other_group_), {"cloud-other-0"});
  start(*provider(group_, "elsewhere"), {"cloud-node-0"});
  EXPECT_EQ(names_of(provider(group_)->list()), (std::multiset<NodeName>{"cloud-node-0"}));
  EXPECT_EQ(names_of(provider(other_group_)->list()), (std::multiset<NodeName>{"cloud-other-0"}));
}

TEST_P(ProviderContract, StopEndsTheMachinesOfItsNodesAndNoOther) {
  start(*provider(group_), nodes(4));
  const NodeName theirs = GetParam().named_at_launch ? "cloud-node-9" : "cloud-node-1";
  start(*provider(group_, "elsewhere"), {theirs});
  std::vector<NodeName> ended{"cloud-node-1", "cloud-node-2"};
  if (GetParam().named_at_launch) ended.push_back(theirs);
  for (const auto& outcome : provider(group_)->stop(ended)) EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.code;
  std::multiset<NodeName> left;
  for (const auto& machine : provider(group_)->list()) {
    if (machine.state != MachineState::stopping) left.insert(machine.node.value());
  }
  EXPECT_EQ(left, (std::multiset<NodeName>{"cloud-node-0", "cloud-node-3"}));
  EXPECT_EQ(alive().size(), 3U) << "the other cluster's machine must live";
}

TEST_P(ProviderContract, StopOfANodeWithoutAMachineIsDone) {
  const auto outcomes = provider(group_)->stop(nodes(2));
  ASSERT_EQ(outcomes.size(), 2U);
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_EQ(sim_.calls(GetParam().stop_action), 0);
}

TEST_P(ProviderContract, StopTwiceIsAsGoodAsOnce) {
  start(*provider(group_), nodes(2));
  for (int i = 0; i < 2; ++i) {
    for (const auto& outcome : provider(group_)->stop(nodes(2))) EXPECT_EQ(outcome.outcome, Outcome::ready);
  }
  EXPECT_TRUE(alive().empty());
}

TEST_P(ProviderContract, StopMachinesEndsExactlyThese) {
  const auto started = start(*provider(group_), nodes(3));
  const std::vector<Machine> doomed{started.at("cloud-node-1").machine};
  EXPECT_EQ(provider(group_)->stop_machines(doomed).at(0).outcome, Outcome::ready);
  EXPECT_EQ(alive().size(), 2U);
}

TEST_P(ProviderContract, NoCapacityIsAValueWithTheCloudsCode) {
  capacity(0);
  for (const auto& [node, outcome] : start(*provider(group_), nodes(3))) {
    EXPECT_EQ(outcome.outcome, GetParam().short_outcome);
    EXPECT_EQ(outcome.code, GetParam().short_code);
    EXPECT_FALSE(outcome.message.empty());
    EXPECT_EQ(outcome.message.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(alive().empty());
}

TEST_P(ProviderContract, AllOrNothingKeepsNothingWhenItComesShort) {
  capacity(2);
  for (const auto& [node, outcome] : start(*provider(group_), nodes(3), true))
    EXPECT_EQ(outcome.outcome, GetParam().short_outcome);
  EXPECT_TRUE(alive().empty());
  for (const auto& [node, outcome] : start(*provider(group_), nodes(2), true))
    EXPECT_EQ(outcome.outcome, Outcome::ready) << outcome.code;
}

TEST_P(ProviderContract, BestEffortKeepsWhatCame) {
  capacity(2);
  int ready = 0;
  for (const auto& [node, outcome] : start(*provider(group_), nodes(3)))
    ready += outcome.outcome == Outcome::ready ? 1 : 0;
  EXPECT_EQ(ready, 2);
  EXPECT_EQ(alive().size(), 2U);
}

TEST_P(ProviderContract, WrongCredentialsAreAnErrorOfTheWholeCall) {
  sim_.fault(GetParam().broken_credentials);
  try {
    (void)provider(group_)->list();
    FAIL() << "an unreadable cloud was taken for an empty one";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), GetParam().broken_credentials_code);
  }
}

TEST_P(ProviderContract, AListThatCannotBeReadIsNeverEmpty) {
  start(*provider(group_), nodes(1));
  for (const char* kind : {"garbage", "cut"}) {
    sim_.fault({{"action", GetParam().list_action}, {"kind", kind}, {"count", 1}});
    EXPECT_EQ(provider(group_)->list().size(), 1U) << kind << ": asked again";
  }
}

TEST_P(ProviderContract, ALostReplyToALaunchStartsNothingTwice) {
  sim_.fault({{"action", GetParam().start_action}, {"kind", "drop_after"}, {"count", 1}});
  for (const auto& [node, outcome] : start(*provider(group_), nodes(4))) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_EQ(alive().size(), 4U);
}

TEST_P(ProviderContract, ThrottlingIsWaitedOut) {
  for (const auto& action : {GetParam().start_action, GetParam().list_action, GetParam().stop_action})
    sim_.fault({{"action", action}, {"kind", "throttle"}, {"count", 2}});
  start(*provider(group_), nodes(2));
  for (const auto& outcome : provider(group_)->stop(nodes(2))) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_TRUE(alive().empty());
}

TEST_P(ProviderContract, LateVisibilityLosesNoMachine) {
  sim_.knobs({{GetParam().knobs, GetParam().slowness}});
  for (const auto& [node, outcome] : start(*provider(group_), nodes(3))) {
    EXPECT_EQ(outcome.outcome, Outcome::ready);
    EXPECT_FALSE(outcome.machine.address.empty());
  }
  EXPECT_EQ(names_of(provider(group_)->list()).count("(none)"), 0U);
}

/// Of clouds that name machines after their launch.
class ProviderContractOfLateNames : public ProviderContract {};

TEST_P(ProviderContractOfLateNames, AMachineWhoseLaunchDiedBeforeItWasNamedIsListedWithItsNodeAndNamedByTheNext) {
  {
    const auto killed = provider(group_);
    const auto wanted = nodes(3);
    (void)killed->start(one_launch(wanted), [](auto) {});
    EXPECT_EQ(names_of(provider(group_)->list()),
              (std::multiset<NodeName>{"cloud-node-0", "cloud-node-1", "cloud-node-2"}));
  }  // no finish()
  const auto next = provider(group_);
  EXPECT_EQ(next->list().size(), 3U);
  EXPECT_TRUE(next->finish().empty());
  EXPECT_TRUE(state_.assignments("cloud-node").empty());
  EXPECT_EQ(names_of(provider(group_)->list()),
            (std::multiset<NodeName>{"cloud-node-0", "cloud-node-1", "cloud-node-2"}));
}

TEST_P(ProviderContractOfLateNames, StopEndsMachinesThatAreNotNamedYet) {
  const auto starting = provider(group_);
  const auto wanted = nodes(2);
  (void)starting->start(one_launch(wanted), [](auto) {});
  for (const auto& outcome : provider(group_)->stop(wanted)) EXPECT_EQ(outcome.outcome, Outcome::ready);
  EXPECT_TRUE(alive().empty());
}

TEST_P(ProviderContractOfLateNames, WithoutTheJournalUnnamedMachinesAreStillListed) {
  const auto starting = provider(group_);
  const auto wanted = nodes(2);
  (void)starting->start(one_launch(wanted), [](auto) {});
  std::filesystem::remove_all(folder_.path() + "/launches");
  EXPECT_EQ(names_of(provider(group_)->list()), (std::multiset<NodeName>{"(none)", "(none)"}));
}

std::vector<Cloud> clouds_of_late_names() {
  std::vector<Cloud> some = clouds();
  std::erase_if(some, [](const Cloud& cloud) { return cloud.named_at_launch; });
  return some;
}

std::string name_of(const testing::TestParamInfo<Cloud>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(Clouds, ProviderContract, testing::ValuesIn(clouds()), name_of);
INSTANTIATE_TEST_SUITE_P(Clouds, ProviderContractOfLateNames, testing::ValuesIn(clouds_of_late_names()), name_of);

}  // namespace
}  // namespace burst
