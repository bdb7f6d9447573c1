// SPDX-License-Identifier: Apache-2.0
// Node groups whose machines are pods, each made and deleted by us.
#include "providers/kubernetes/pod_provider.h"

#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "providers/kubernetes/pod_start.h"

namespace burst::kubernetes {
namespace {

/// How long after its grace a pod may still be there before that is worth a word.
constexpr std::chrono::seconds kOverdue{120};

}  // namespace

PodProvider::PodProvider(const ProviderContext& context, const NodeGroup& group,
                         std::shared_ptr<auth::KubeAccess> access)
    : files_(context.services.files),
      context_([&] {
        GroupSettings settings = parse_settings(context.config, group);
        KubernetesApi api(std::move(access), settings.name_space, settings.pods_in_flight, context.config,
                          context.services);
        return GroupContext{{context.cluster, group.partition, group.name},
                            std::move(settings),
                            std::move(api),
                            context.services.clock,
                            context.services.log,
                            context.services.random};
      }()),
      claims_(context.journal, group.key()) {}

std::vector<Machine> PodProvider::machines_of(const std::vector<Pod>& pods) {
  std::vector<Machine> machines;
  leaving_.clear();
  for (const auto& pod : pods) {
    machines.push_back(machine_of(pod, context_.settings, context_.now()));
    if (pod.deleted) leaving_.insert_or_assign(machines.back().id, Leaving{pod.name, pod.deleted});
  }
  return machines;
}

std::vector<Machine> PodProvider::list() {
  const auto claims = claims_.running();
  auto machines = machines_of(read_pods(context_));
  add_claimed_machines(claims, machines);
  return machines;
}

bool PodProvider::claim(std::span<const Launch> launches) {
  claims_.claim(launches, context_.now(), context_.random);
  return true;
}

std::vector<NodeOutcome> PodProvider::start(std::span<const Launch> launches, const StartedSink& started) {
  if (!template_) template_ = PodTemplate::load(files_, context_.settings, context_.identity);
  LeavingPods leaving;
  for (const auto& [id, pod] : leaving_)
    if (const auto parts = pod_id(id)) leaving.emplace(pod.node, parts->uid);
  auto outcomes = start_pods(context_, *template_, launches, leaving, started);
  claims_.finish();  // after an Error the record stays, and counts no more once this object is gone
  return outcomes;
}

std::vector<NodeOutcome> PodProvider::stop(std::span<const NodeName> nodes) {
  const auto claims = claims_.running_or_none(context_.log);
  auto machines = machines_of(read_pod_metadata(context_));
  add_claimed_machines(claims, machines);
  const std::unordered_set<std::string_view> wanted(nodes.begin(), nodes.end());
  std::unordered_set<NodeName> with_machine;
  std::vector<Machine> doomed;
  for (auto& machine : machines) {
    if (!machine.node || !wanted.contains(*machine.node)) continue;
    with_machine.insert(*machine.node);
    doomed.push_back(std::move(machine));
  }
  std::vector<NodeOutcome> outcomes = end(doomed);
  for (const auto& node : nodes)
    if (!with_machine.contains(node)) outcomes.push_back({node, Outcome::ready, {}, {}, {}});
  return outcomes;
}

std::vector<NodeOutcome> PodProvider::stop_machines(std::span<const Machine> machines) { return end(machines); }

/// Of one that no request is to be sent for.
NodeOutcome PodProvider::ending(const Machine& machine) const {
  if (is_claim_id(machine.id)) return still_starting(machine);
  NodeOutcome outcome{machine.node.value_or(""), Outcome::ready, machine, {}, {}};
  if (!pod_id(machine.id)) {
    outcome.outcome = Outcome::rejected;
    outcome.code = "UnknownMachine";
    outcome.message = fmt::format("{} is not the id of a pod", machine.id);
    return outcome;
  }
  const auto known = leaving_.find(machine.id);
  if (known == leaving_.end() || !known->second.due) return outcome;
  const auto overdue = context_.now() - *known->second.due;
  if (overdue < kOverdue) return outcome;
  outcome.outcome = Outcome::pending;
  outcome.code = "PodTerminating";
  outcome.message = fmt::format(
      "pod {} should have been gone {} s ago: does its machine{} still answer? once that is surely off, `kubectl "
      "delete pod {} -n {} --force` lets go of the name",
      machine.node.value_or(""), overdue.count(), machine.zone.empty() ? "" : " " + machine.zone,
      machine.node.value_or(""), context_.api.name_space());
  return outcome;
}

std::vector<NodeOutcome> PodProvider::end(std::span<const Machine> machines) {
  std::vector<NodeOutcome> outcomes;
  std::vector<const Machine*> doomed;
  std::vector<PodId> pods;
  for (const auto& machine : machines) {
    const auto id = pod_id(machine.id);
    if (is_claim_id(machine.id) || !id || machine.state == MachineState::stopping || leaving_.contains(machine.id)) {
      outcomes.push_back(ending(machine));
    } else {
      doomed.push_back(&machine);
      pods.push_back(*id);
    }
  }
  const auto failed = delete_pods(context_, pods);
  for (const Machine* machine : doomed) {
    NodeOutcome outcome{machine->node.value_or(""), Outcome::ready, *machine, {}, {}};
    if (const auto error = failed.find(machine->id); error != failed.end()) {
      outcome.outcome = Outcome::rejected;
      outcome.code = error->second.code;
      outcome.message = error->second.message;
    } else {
      leaving_.insert_or_assign(machine->id, Leaving{outcome.node, std::nullopt});
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace burst::kubernetes
