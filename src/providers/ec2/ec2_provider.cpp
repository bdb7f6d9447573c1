// SPDX-License-Identifier: Apache-2.0
// Node groups whose machines are EC2 instances: listing, naming and ending them. ec2_launch.cpp starts them.
#include "providers/ec2/ec2_provider.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "burst/error.h"
#include "providers/ec2/ec2_errors.h"

namespace burst::ec2 {
namespace {

/// Of 200 filter values in a request some are states and tags.
constexpr std::size_t kNamesPerQuery = 150;
/// Up to 1000 ids are allowed; fewer make a failed batch cheaper.
constexpr std::size_t kIdsPerTermination = 500;

/// Every state but `terminated`.
Filter alive() { return {"instance-state-name", {"pending", "running", "shutting-down", "stopping", "stopped"}}; }

Filter tag_filter(std::string_view key, std::vector<std::string> values) {
  return {"tag:" + std::string(key), std::move(values)};
}

NodeOutcome ended(const Machine& machine, const std::map<std::string, FleetError>& failed) {
  NodeOutcome outcome;
  outcome.node = machine.node.value_or("");
  outcome.machine = machine;
  if (const auto error = failed.find(machine.id); error != failed.end()) {
    outcome.outcome = Outcome::rejected;
    outcome.code = error->second.code;
    outcome.message = error->second.message;
  }
  return outcome;
}

}  // namespace

Ec2Provider::Ec2Provider(const ProviderContext& context, const NodeGroup& group,
                         std::shared_ptr<auth::AwsCredentialSource> credentials)
    : group_(group),
      cluster_(context.cluster),
      adopt_untagged_(context.config.adopt_untagged),
      settings_(parse_settings(context.config, group)),
      clock_(context.services.clock),
      log_(context.services.log),
      random_(context.services.random),
      journal_(context.journal),
      api_(settings_.region, settings_.profile, std::move(credentials), context.config, context.services) {}

/// The instances of these queries that are this cluster's: by tag, or, with AdoptUntagged, by the lack of one.
std::vector<Instance> Ec2Provider::own_instances(std::vector<Filters> queries) const {
  for (auto& query : queries) query.push_back(alive());
  auto instances = api_.describe_instances(std::move(queries));
  std::erase_if(instances, [&](const Instance& instance) {
    const std::string cluster = instance.tag(kClusterTag);
    return cluster.empty() ? !adopt_untagged_ : cluster != cluster_;
  });
  return instances;
}

std::vector<Machine> Ec2Provider::list() {
  std::vector<Filters> queries{{tag_filter(kClusterTag, {cluster_}), tag_filter(kPartitionTag, {group_.partition}),
                                tag_filter(kGroupTag, {group_.name})}};
  if (adopt_untagged_) queries.push_back({tag_filter("Name", {group_.key() + "-*"})});
  // Read first: a launch that is named between the two reads is known by its names then.
  const Assignments assigned = journal_.assignments(group_.key());
  const auto instances = own_instances(std::move(queries));
  namings_.clear();
  std::vector<Machine> machines;
  machines.reserve(instances.size());
  for (const auto& instance : instances) {
    Machine machine = to_machine(instance);
    const std::string name = instance.tag("Name");
    const auto parts = parse_node_name(name);
    if (parts && parts->partition == group_.partition && parts->group == group_.name) {
      machine.node = name;
    } else if (instance.tag(kClusterTag).empty()) {
      continue;  // AdoptUntagged: the wildcard also finds names such as `aws-node-1x`
    } else if (const auto entry = assigned.find(instance.id); entry != assigned.end()) {
      machine.node = entry->second;
      // Its launch died before naming it: finish() does what is left.
      if (!journal_.running(group_.key(), machine.launch))
        namings_.push_back({entry->second, instance.id, node_tags(settings_, entry->second, machine)});
    }
    machines.push_back(std::move(machine));
  }
  listed_ = true;
  return machines;
}

std::vector<NodeOutcome> Ec2Provider::finish() {
  const std::string action = "CreateTags";
  std::vector<HttpCall> calls;
  calls.reserve(namings_.size());
  for (const auto& naming : namings_)
    calls.push_back(api_.call(action, create_tags_parameters(naming.instance_id, naming.tags)));
  const auto responses = calls.empty() ? std::vector<HttpResponse>{} : api_.send(std::move(calls));

  std::vector<NodeOutcome> failed;
  std::vector<std::string> unnamed;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const auto wrong = api_.failure(action, responses[i]);
    if (!wrong) continue;
    NodeOutcome outcome{namings_[i].node, Outcome::pending, {}, wrong->code, wrong->message};
    outcome.machine.id = namings_[i].instance_id;
    failed.push_back(std::move(outcome));
    unnamed.push_back(namings_[i].instance_id);
  }
  namings_.clear();
  if (unnamed.empty()) {
    for (const auto& record : open_records_) record->finished();
  }
  open_records_.clear();
  if (std::exchange(listed_, false)) journal_.forget_dead(group_.key(), unnamed);
  return failed;
}

/// Without a journal machines that bear their names can still be ended.
Assignments Ec2Provider::known_assignments() const {
  try {
    return journal_.assignments(group_.key());
  } catch (const Error& error) {
    log_.error(fmt::format("{}: {}", group_.key(), error.what()));
    return {};
  }
}

std::vector<NodeOutcome> Ec2Provider::stop(std::span<const NodeName> nodes) {
  std::vector<Filters> queries;
  for (std::size_t first = 0; first < nodes.size(); first += kNamesPerQuery) {
    const auto chunk = nodes.subspan(first, std::min(kNamesPerQuery, nodes.size() - first));
    Filters query{tag_filter("Name", {chunk.begin(), chunk.end()})};
    if (!adopt_untagged_) query.push_back(tag_filter(kClusterTag, {cluster_}));
    queries.push_back(std::move(query));
  }
  const std::unordered_set<std::string_view> wanted(nodes.begin(), nodes.end());
  std::vector<Machine> machines;
  std::unordered_set<std::string> found;
  std::unordered_set<std::string> with_machine;
  for (const auto& instance : own_instances(std::move(queries))) {
    Machine machine = to_machine(instance);
    machine.node = instance.tag("Name");
    with_machine.insert(*machine.node);
    if (machine.state == MachineState::stopping) continue;  // it is ending already
    found.insert(machine.id);
    machines.push_back(std::move(machine));
  }
  for (const auto& [id, node] : known_assignments()) {
    if (!wanted.contains(node) || found.contains(id)) continue;  // launched, not named yet
    Machine machine;
    machine.id = id;
    machine.node = node;
    with_machine.insert(node);
    machines.push_back(std::move(machine));
  }
  std::vector<NodeOutcome> outcomes = stop_machines(machines);
  for (const auto& node : nodes) {
    if (!with_machine.contains(node)) outcomes.push_back({node, Outcome::ready, {}, {}, {}});
  }
  return outcomes;
}

std::vector<NodeOutcome> Ec2Provider::stop_machines(std::span<const Machine> machines) {
  std::vector<std::string> ids;
  for (const auto& machine : machines) ids.push_back(machine.id);
  const auto failed = terminate(ids);
  std::vector<NodeOutcome> outcomes;
  for (const auto& machine : machines) outcomes.push_back(ended(machine, failed));
  return outcomes;
}

/// Ends instances; returns the failed ones. One bad id fails a whole request, so a failed batch is asked again id by
/// id.
std::map<std::string, FleetError> Ec2Provider::terminate(const std::vector<std::string>& ids) const {
  const std::string action = "TerminateInstances";
  std::vector<std::vector<std::string>> batches;
  for (std::size_t first = 0; first < ids.size(); first += kIdsPerTermination) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
    batches.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(kIdsPerTermination, ids.size() - first)));
  }
  std::map<std::string, FleetError> failed;
  while (!batches.empty()) {
    std::vector<HttpCall> calls;
    for (const auto& batch : batches) {
      Parameters parameters;
      for (std::size_t i = 0; i < batch.size(); ++i)
        parameters.emplace_back(fmt::format("InstanceId.{}", i + 1), batch[i]);
      calls.push_back(api_.call(action, std::move(parameters)));
    }
    const auto responses = api_.send(std::move(calls));
    std::vector<std::vector<std::string>> singles;
    for (std::size_t i = 0; i < responses.size(); ++i) {
      const auto wrong = api_.failure(action, responses[i]);
      if (!wrong) continue;
      if (batches[i].size() == 1) {
        failed[batches[i][0]] = {wrong->code, wrong->message};
        continue;
      }
      log_.warning(fmt::format("{} of {} instances failed: {}: {}; ending them one by one", action, batches[i].size(),
                               wrong->code, wrong->message));
      for (const auto& id : batches[i]) singles.push_back({id});
    }
    batches = std::move(singles);
  }
  return failed;
}

}  // namespace burst::ec2
