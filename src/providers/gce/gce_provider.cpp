// SPDX-License-Identifier: Apache-2.0
// Node groups whose machines are Compute Engine instances.
#include "providers/gce/gce_provider.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "burst/error.h"
#include "providers/gce/gce_bulk_insert.h"
#include "providers/gce/gce_flex_start.h"
#include "providers/gce/gce_flex_stop.h"

namespace burst::gce {
namespace {

/// How long a launch waits for an ending machine's name.
constexpr std::chrono::seconds kNamePatience{60};

std::set<NodeName> names_in(const std::map<std::string, NodeName>& leaving) {
  std::set<NodeName> names;
  for (const auto& [id, node] : leaving) names.insert(node);
  return names;
}

/// Splits launches into those that can start and those that have to wait for names: a launch that is to be kept whole
/// waits as a whole.
std::pair<std::vector<Launch>, std::vector<Launch>> divide(std::span<const Launch> launches,
                                                           const std::set<NodeName>& taken) {
  std::pair<std::vector<Launch>, std::vector<Launch>> divided;
  for (const auto& launch : launches) {
    Launch now = launch, later = launch;
    const auto is_taken = [&](const NodeName& node) { return taken.contains(node); };
    if (launch.all_or_nothing && std::ranges::any_of(launch.nodes, is_taken)) {
      now.nodes.clear();
    } else {
      std::erase_if(now.nodes, is_taken);
      std::erase_if(later.nodes, [&](const NodeName& node) { return !is_taken(node); });
    }
    if (!now.nodes.empty()) divided.first.push_back(std::move(now));
    if (!later.nodes.empty()) divided.second.push_back(std::move(later));
  }
  return divided;
}

/// Appends; returns whether there was anything.
void append(std::vector<NodeOutcome>& outcomes, std::vector<NodeOutcome> more) {
  std::move(more.begin(), more.end(), std::back_inserter(outcomes));
}

}  // namespace

GceProvider::GceProvider(const ProviderContext& context, const NodeGroup& group,
                         std::shared_ptr<auth::GoogleTokenSource> tokens)
    : context_([&] {
        GroupSettings settings = parse_settings(context.config, group);
        GceApi api(settings.project, std::move(tokens), context.config, context.services);
        return GroupContext{{context.cluster, group.partition, group.name},
                            std::move(settings),
                            std::move(api),
                            context.services.clock,
                            context.services.log,
                            context.services.random};
      }()),
      claims_(context.journal, group.key()) {}

LaunchNeeds GceProvider::launch_needs() const {
  return {context_.is_flex(), context_.is_flex() && context_.settings.flex_use_job_duration};
}

std::vector<Machine> GceProvider::list() {
  const auto claims = claims_.running();
  auto machines = machines_of(read_inventory(context_), context_.identity, context_.settings);
  add_claimed_machines(claims, machines);
  leaving_.clear();
  note_leaving(machines);
  return machines;
}

void GceProvider::note_leaving(const std::vector<Machine>& machines) {
  for (const auto& machine : machines)
    if (machine.node && machine.state == MachineState::stopping) leaving_.insert_or_assign(machine.id, *machine.node);
}

std::vector<NodeOutcome> GceProvider::launch(std::span<const Launch> launches, const StartedSink& started) {
  if (launches.empty()) return {};
  return context_.is_flex() ? start_by_resize_requests(context_, launches)
                            : start_by_bulk_insert(context_, launches, started);
}

bool GceProvider::claim(std::span<const Launch> launches) {
  claims_.claim(launches, std::chrono::floor<std::chrono::seconds>(context_.clock.now()), context_.random);
  return true;
}

std::vector<NodeOutcome> GceProvider::start(std::span<const Launch> launches, const StartedSink& started) {
  auto outcomes = start_all(launches, started);
  claims_
      .finish();  // after an Error the record stays until the next claim, and counts no more once this object is gone
  return outcomes;
}

std::vector<NodeOutcome> GceProvider::start_all(std::span<const Launch> launches, const StartedSink& started) {
  const auto [at_once, later] = divide(launches, names_in(leaving_));
  std::vector<NodeOutcome> outcomes = launch(at_once, started);
  if (later.empty()) return outcomes;
  await_leaving(later);
  const auto [free, taken] = divide(later, names_in(leaving_));
  append(outcomes, launch(free, started));
  for (const auto& launch : taken)
    for (const auto& node : launch.nodes)
      outcomes.push_back(
          {node,
           Outcome::rejected,
           {},
           "MachineStopping",
           fmt::format("the node's machine of before is still being deleted after {} s", kNamePatience.count())});
  return outcomes;
}

/// Until the machines of these nodes are gone, or patience is.
void GceProvider::await_leaving(const std::vector<Launch>& launches) {
  std::unordered_set<NodeName> wanted;
  for (const auto& launch : launches) wanted.insert(launch.nodes.begin(), launch.nodes.end());
  const auto end = context_.clock.steady_now() + kNamePatience;
  std::chrono::milliseconds pause{500};
  for (;;) {
    std::set<std::string> present;
    try {
      for (const auto& instance : read_instances(context_)) present.insert(machine_id(instance));
    } catch (const Error& error) {
      context_.log.error(fmt::format("{}: {}", context_.identity.key(), error.what()));
      return;
    }
    std::erase_if(leaving_, [&](const auto& entry) { return !present.contains(entry.first); });
    const bool free = std::ranges::none_of(leaving_, [&](const auto& entry) { return wanted.contains(entry.second); });
    if (free || context_.clock.steady_now() + pause > end) return;
    context_.log.debug(fmt::format("{}: waiting for machines that are being deleted", context_.identity.key()));
    context_.clock.sleep_for(pause);
    pause = std::min<std::chrono::milliseconds>(pause * 2, std::chrono::seconds{5});
  }
}

std::vector<NodeOutcome> GceProvider::stop(std::span<const NodeName> nodes) {
  const auto claims = claims_.running_or_none(context_.log);
  const Inventory inventory = read_inventory(context_);
  auto machines = machines_of(inventory, context_.identity, context_.settings);
  add_claimed_machines(claims, machines);
  const std::unordered_set<std::string_view> wanted(nodes.begin(), nodes.end());
  std::unordered_set<NodeName> with_machine;
  std::vector<Machine> doomed;
  for (auto& machine : machines) {
    if (!machine.node || !wanted.contains(*machine.node)) continue;
    if (machine.state == MachineState::stopping) continue;  // it is ending already
    with_machine.insert(*machine.node);
    doomed.push_back(std::move(machine));
  }
  std::vector<NodeOutcome> outcomes = end(doomed, inventory);
  for (const auto& node : nodes)
    if (!with_machine.contains(node)) outcomes.push_back({node, Outcome::ready, {}, {}, {}});
  return outcomes;
}

std::vector<NodeOutcome> GceProvider::stop_machines(std::span<const Machine> machines) {
  // What a flex machine's end means for its instance group depends on the others.
  return end(machines, context_.is_flex() ? read_inventory(context_) : Inventory{});
}

std::vector<NodeOutcome> GceProvider::end(std::span<const Machine> machines, const Inventory& inventory) {
  std::vector<std::string> ids;
  for (const auto& machine : machines)
    if (!is_claim_id(machine.id)) ids.push_back(machine.id);
  const auto failed = context_.is_flex()
                          ? end_flex_machines(context_, inventory, std::set<std::string>(ids.begin(), ids.end()))
                          : delete_instances(context_, ids);
  std::vector<NodeOutcome> outcomes;
  for (const auto& machine : machines) {
    NodeOutcome outcome;
    outcome.node = machine.node.value_or("");
    outcome.machine = machine;
    if (is_claim_id(machine.id)) {
      outcome = still_starting(machine);
    } else if (const auto error = failed.find(machine.id); error != failed.end()) {
      outcome.outcome = error->second.code == "SharedRequest" ? Outcome::pending : Outcome::rejected;
      outcome.code = error->second.code;
      outcome.message = error->second.message;
    } else if (machine.node) {
      leaving_.insert_or_assign(machine.id, *machine.node);
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace burst::gce
