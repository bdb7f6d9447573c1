// SPDX-License-Identifier: Apache-2.0
// Node groups that soperator runs: a node's number in an object of its makes its pod come and go.
#include "providers/kubernetes/node_set_provider.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"

namespace burst::kubernetes {
namespace {

using std::chrono::seconds;

/// An operator that is refused tries again ever more rarely, a quarter of an hour apart in the end.
constexpr seconds kWordsAge{1'800};

}  // namespace

/// A machine that is to end, and the number that makes it one; nothing: there is none by that id any more.
struct NodeSetProvider::Doomed {
  Machine machine;
  std::optional<std::int64_t> ordinal;
  bool was_active = false;
};

NodeSetProvider::NodeSetProvider(const ProviderContext& context, const NodeGroup& group,
                                 std::shared_ptr<auth::KubeAccess> access)
    : group_([&] {
        const Services& services = context.services;
        GroupSettings settings = parse_settings(context.config, group);
        KubernetesApi api(std::move(access), settings.name_space, settings.pods_in_flight, context.config, services);
        NodeSetApi node_set_api(std::move(api), settings.node_set, services.clock, services.random);
        return NodeSetGroup{group, std::move(settings), std::move(node_set_api), services.clock, services.log};
      }()),
      claims_(context.journal, group.key()),
      random_(context.services.random) {}

bool NodeSetProvider::claim(std::span<const Launch> launches) {
  claims_.claim(launches, std::chrono::floor<seconds>(group_.clock.now()), random_);
  return true;
}

std::vector<NodeOutcome> NodeSetProvider::start(std::span<const Launch> launches, const StartedSink& started) {
  auto outcomes = start_in_node_set(group_, launches, started);
  claims_.finish();
  return outcomes;
}

std::vector<Machine> NodeSetProvider::list() {
  const auto claims = claims_.running();
  // The object before the pods: a node that is taken out in between is told as one that waits, not as none.
  const auto state = group_.api.power_state();
  const auto pods = group_.api.pods();
  std::vector<Machine> machines;
  for (const auto& [ordinal, pod] : pods) {
    if (!group_.owns(ordinal)) continue;
    Machine machine = group_.machine(ordinal, pod);
    if (state && !state->active().contains(ordinal) && machine.state != MachineState::stopping) {
      machine.state = MachineState::stopping;
      machine.failure.reset();
      machine.detail = "it is not among soperator's activeNodes any more";
    }
    machines.push_back(std::move(machine));
  }
  std::vector<Machine> without_pod;
  if (state)
    for (const auto ordinal : state->active())
      if (group_.owns(ordinal) && !pods.contains(ordinal)) without_pod.push_back(group_.machine_without_pod(ordinal));
  add_last_words(without_pod);
  std::move(without_pod.begin(), without_pod.end(), std::back_inserter(machines));
  add_claimed_machines(claims, machines);
  return machines;
}

/// Why they have no pods. Words only: the refusal may be of an earlier try, and the operator goes on trying.
void NodeSetProvider::add_last_words(std::vector<Machine>& machines) const {
  if (machines.empty()) return;
  try {
    const auto refused = group_.api.refused_pods(std::chrono::floor<seconds>(group_.clock.now()) - kWordsAge);
    for (auto& machine : machines) {
      const auto error = refused.find(group_.ordinal_of(*machine.node).value_or(-1));
      if (error != refused.end()) machine.detail = fmt::format("{}: {}", error->second.code, error->second.message);
    }
  } catch (const Error& error) {
    group_.log.warning(fmt::format("{}: reading why pods are missing: {}", group_.group.key(), error.what()));
  }
}

std::vector<NodeOutcome> NodeSetProvider::stop(std::span<const NodeName> nodes) {
  const auto claims = claims_.running_or_none(group_.log);
  std::vector<Doomed> doomed;
  std::vector<NodeOutcome> outcomes;
  for (const auto& node : nodes) {
    if (const auto ordinal = group_.ordinal_of(node)) {
      doomed.push_back({group_.machine_without_pod(*ordinal), ordinal});
      doomed.back().machine.detail.clear();
    } else {
      outcomes.push_back({node, Outcome::ready, {}, {}, {}});
    }
  }
  auto ended = end(doomed);
  for (std::size_t i = 0; i < ended.size(); ++i) {
    NodeOutcome& outcome = ended[i];
    if (outcome.outcome == Outcome::ready && !doomed[i].was_active) {
      outcome.machine = {};
      const auto claim = std::ranges::find_if(
          claims, [&](const Claim& candidate) { return std::ranges::count(candidate.nodes, outcome.node) > 0; });
      if (claim != claims.end()) {
        outcome.machine.id = claim->id + "/" + outcome.node;
        outcome.machine.node = outcome.node;
        outcome = still_starting(outcome.machine);
      }
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<NodeOutcome> NodeSetProvider::stop_machines(std::span<const Machine> machines) {
  std::vector<Doomed> doomed;
  std::vector<NodeOutcome> outcomes;
  std::optional<std::map<std::int64_t, Pod>> pods;
  for (const auto& machine : machines) {
    const auto id = pod_id(machine.id);
    if (is_claim_id(machine.id)) {
      outcomes.push_back(still_starting(machine));
    } else if (id && id->name == group_.settings.node_set) {
      doomed.push_back({machine, ordinal_in(id->name + "-" + id->uid, id->name)});
    } else if (id) {
      if (!pods) pods = group_.api.pods();
      // The operator makes a lost pod anew: that one is another machine, and not to end for this one's sake.
      const auto ordinal = ordinal_in(id->name, group_.settings.node_set);
      const auto pod = pods->find(ordinal.value_or(-1));
      const bool is_replaced = pod != pods->end() && pod->second.uid != id->uid;
      doomed.push_back({machine, is_replaced ? std::nullopt : ordinal});
    } else {
      outcomes.push_back({machine.node.value_or(""), Outcome::rejected, machine, "UnknownMachine",
                          fmt::format("{} is not the id of a pod", machine.id)});
    }
  }
  auto ended = end(doomed);
  std::move(ended.begin(), ended.end(), std::back_inserter(outcomes));
  return outcomes;
}

/// One outcome each, in their order.
std::vector<NodeOutcome> NodeSetProvider::end(std::vector<Doomed>& doomed) const {
  Ordinals wanted, removed;
  for (const auto& one : doomed)
    if (one.ordinal && group_.owns(*one.ordinal)) wanted.insert(*one.ordinal);
  std::map<std::int64_t, Pod> stranded;
  if (!wanted.empty()) {
    const auto take_out = [&](PowerState& state) {
      removed.clear();
      std::ranges::set_intersection(wanted, state.active(), std::inserter(removed, removed.end()));
      return state.remove(removed);
    };
    if (!group_.api.edit(take_out, NodeSetApi::Absent::is_left)) {
      removed.clear();
      stranded = group_.api.pods();
    }
  }
  std::vector<NodeOutcome> outcomes;
  for (auto& one : doomed) {
    NodeOutcome outcome{one.machine.node.value_or(""), Outcome::ready, one.machine, {}, {}};
    one.was_active = one.ordinal && removed.contains(*one.ordinal);
    const auto pod = stranded.find(one.ordinal.value_or(-1));
    if (pod != stranded.end() && !pod->second.deleted && wanted.contains(pod->first)) {
      outcome.outcome = Outcome::rejected;
      outcome.code = "PowerStateNotFound";
      outcome.message = fmt::format(
          "pod {} runs, but there is no NodeSetPowerState {} that it could be taken out of: soperator has to make it",
          pod->second.name, group_.settings.node_set);
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace burst::kubernetes
