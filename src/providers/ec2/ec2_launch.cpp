// SPDX-License-Identifier: Apache-2.0
// Node groups whose machines are EC2 instances: starting them by instant fleets.
#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "burst/error.h"
#include "providers/ec2/ec2_errors.h"
#include "providers/ec2/ec2_provider.h"

namespace burst::ec2 {
namespace {

/// RequestLimitExceeded inside a fleet's reply: the rest is asked for again, this often, after 1, 2, 4 s.
constexpr int kFleetRounds = 4;
/// How long an address may be missing before change_state takes over.
constexpr std::chrono::seconds kAddressPatience{10};

bool is_worth_asking_again(const FleetBatch& batch) {
  const auto passing = [](const FleetError& error) {
    const ErrorKind kind = error_kind(error.code);
    return kind == ErrorKind::throttled || kind == ErrorKind::transient;
  };
  return is_short(batch) && batch.round < kFleetRounds && !batch.errors.empty() &&
         std::all_of(batch.errors.begin(), batch.errors.end(), passing);
}

NodeOutcome refused(const NodeName& node, const FleetError& error) {
  return {node, outcome_of(error_kind(error.code)), {}, error.code, error.message};
}

NodeOutcome pending(const NodeName& node, const std::string& instance_id) {
  NodeOutcome outcome{node, Outcome::pending, {}, "AddressUnknown", "EC2 does not tell the instance's address yet"};
  outcome.machine.id = instance_id;
  outcome.machine.node = node;
  return outcome;
}

}  // namespace

std::string Ec2Provider::new_launch_id() { return fmt::format("sb-{:016x}", random_.next()); }

std::vector<FleetBatch> Ec2Provider::plan_batches(std::span<const Launch> launches) {
  std::vector<FleetBatch> batches;
  for (std::size_t launch = 0; launch < launches.size(); ++launch) {
    const auto& nodes = launches[launch].nodes;
    for (std::size_t first = 0; first < nodes.size(); first += kMachinesPerFleet) {
      FleetBatch batch;
      batch.launch = launch;
      batch.all_or_nothing = launches[launch].all_or_nothing;
      const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(first);
      batch.nodes.assign(begin, begin + static_cast<std::ptrdiff_t>(std::min(kMachinesPerFleet, nodes.size() - first)));
      batch.record = journal_.begin(group_.key(), new_launch_id());
      batches.push_back(std::move(batch));
    }
  }
  return batches;
}

LaunchNeeds Ec2Provider::launch_needs() const {
  LaunchNeeds needs;
  needs.hands_over = true;
  return needs;
}

std::vector<NodeOutcome> Ec2Provider::start(std::span<const Launch> launches, const StartedSink& started) {
  auto batches = plan_batches(launches);
  std::vector<std::string> surplus;
  run_fleets(batches, surplus);
  record_moves(batches, share_machines(batches, surplus));
  for (const auto& [id, error] : terminate(surplus))
    log_.error(fmt::format("Failed to terminate surplus instance {}: {}: {}", id, error.code, error.message));

  std::vector<NodeOutcome> outcomes = await_addresses(batches, started);
  for (auto& batch : batches) {
    const FleetError error = main_error(batch.errors);
    for (std::size_t i = batch.instance_ids.size(); i < batch.nodes.size(); ++i)
      outcomes.push_back(refused(batch.nodes[i], error));
    open_records_.push_back(std::move(batch.record));
  }
  return outcomes;
}

void Ec2Provider::run_fleets(std::vector<FleetBatch>& batches, std::vector<std::string>& surplus) {
  std::chrono::milliseconds pause{1000};
  for (;;) {
    std::vector<FleetBatch*> asked;
    std::vector<HttpCall> calls;
    for (auto& batch : batches) {
      if (batch.done) continue;
      FleetRequest request;
      request.client_token = fmt::format("{}-{}", batch.record->id(), batch.round++);
      request.count = batch.nodes.size() - batch.instance_ids.size();
      request.all_or_nothing = batch.all_or_nothing;
      request.tags = launch_tags(settings_, group_, cluster_, batch.record->id());
      batch.errors.clear();
      calls.push_back(api_.call("CreateFleet", create_fleet_parameters(settings_, request)));
      asked.push_back(&batch);
    }
    if (calls.empty()) return;
    const auto responses = api_.send(std::move(calls));
    for (std::size_t i = 0; i < responses.size(); ++i) take_fleet_reply(*asked[i], responses[i], surplus);
    if (std::none_of(batches.begin(), batches.end(), [](const FleetBatch& batch) { return !batch.done; })) return;
    clock_.sleep_for(pause);
    pause *= 2;
  }
}

void Ec2Provider::take_fleet_reply(FleetBatch& batch, const HttpResponse& response, std::vector<std::string>& surplus) {
  const std::string action = "CreateFleet";
  batch.done = true;
  if (const auto wrong = api_.failure(action, response)) {
    batch.errors.push_back(
        {wrong->code, fmt::format("{} in {}: {}{}", action, api_.region(), wrong->message,
                                  wrong->request_id.empty() ? "" : " (request id " + wrong->request_id + ")")});
    return;
  }
  FleetReply reply = parse_create_fleet(response.body);
  batch.errors = std::move(reply.errors);
  for (auto& error : batch.errors) error.message += fmt::format(" (request id {})", reply.request_id);
  Assignments assignments;
  for (auto& id : reply.instance_ids) {
    if (!is_short(batch)) {
      surplus.push_back(std::move(id));
      continue;
    }
    assignments.emplace(id, batch.nodes[batch.instance_ids.size()]);
    batch.instance_ids.push_back(std::move(id));
  }
  record_assignments(batch, assignments, surplus);
  if (is_short(batch) && !batch.errors.empty()) {
    std::string codes;
    for (const auto& error : batch.errors) codes += (codes.empty() ? "" : ", ") + error.code;
    log_.warning("EC2 Fleet error codes: " + codes);
    for (const auto& error : batch.errors) log_.debug(fmt::format("EC2 Fleet error {}: {}", error.code, error.message));
  }
  if (is_worth_asking_again(batch)) batch.done = false;
}

/// What can't be recorded is given back: nothing may run that nobody would know.
void Ec2Provider::record_assignments(FleetBatch& batch, const Assignments& assignments,
                                     std::vector<std::string>& surplus) const {
  try {
    if (!assignments.empty()) batch.record->assign(assignments);
  } catch (const Error& error) {
    log_.error(fmt::format("Failed to record {} instances of launch {}: {}; ending them", assignments.size(),
                           batch.record->id(), error.what()));
    surplus.insert(surplus.end(), batch.instance_ids.begin(), batch.instance_ids.end());
    batch.instance_ids.clear();
    batch.errors = {{error.code(), error.what()}};
  }
}

/// Only after a kill does it matter that one could not be written: then change_state ends the machine.
void Ec2Provider::record_moves(const std::vector<FleetBatch>& batches, std::span<const Move> moves) const {
  std::map<std::size_t, Assignments> by_batch;
  for (const auto& move : moves) by_batch[move.made_by].insert_or_assign(move.instance_id, move.node);
  for (const auto& [batch, assignments] : by_batch) {
    try {
      batches[batch].record->assign(assignments);
    } catch (const Error& error) {
      log_.error(fmt::format("Failed to record whose instances of launch {} are now: {}", batches[batch].record->id(),
                             error.what()));
    }
  }
  if (!moves.empty())
    log_.info(
        fmt::format("{}: {} instances of launches that came short serve other launches", group_.key(), moves.size()));
}

std::vector<Instance> Ec2Provider::describe_launches(const std::vector<FleetBatch>& batches) const {
  // By the launch's tag, not by id: DescribeInstances refuses a whole request for one id that is not visible yet.
  constexpr std::size_t launches_per_query = 150;
  std::vector<Filters> queries;
  std::size_t machines = kMachinesPerFleet + 1;
  std::vector<std::size_t> kept(batches.size());  // by the launch whose tag they bear
  for (const auto& batch : batches)
    for (const std::size_t made_by : batch.made_by) ++kept[made_by];
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (kept[i] == 0) continue;
    const bool fits = machines + kept[i] <= kMachinesPerFleet && queries.back()[0].second.size() < launches_per_query;
    if (!fits) {
      queries.push_back({{"tag:" + std::string(kLaunchTag), {}}});
      machines = 0;
    }
    machines += kept[i];
    queries.back()[0].second.push_back(batches[i].record->id());
  }
  try {
    return api_.describe_instances(std::move(queries));
  } catch (const Error& error) {
    // The machines run: they keep their nodes, and the next look, or change_state, learns their addresses.
    log_.error(fmt::format("Failed to describe instances of {}: {}", group_.key(), error.what()));
    return {};
  }
}

std::vector<NodeOutcome> Ec2Provider::await_addresses(std::vector<FleetBatch>& batches, const StartedSink& started) {
  std::unordered_map<std::string, NodeName> waiting;  // instance id -> node
  for (const auto& batch : batches) {
    for (std::size_t i = 0; i < batch.instance_ids.size(); ++i) waiting.emplace(batch.instance_ids[i], batch.nodes[i]);
  }
  const std::size_t total = waiting.size();
  std::vector<NodeOutcome> outcomes;
  const auto end = clock_.steady_now() + kAddressPatience;
  std::chrono::milliseconds pause{100};
  while (!waiting.empty()) {
    std::vector<NodeOutcome> ready;
    for (const auto& instance : describe_launches(batches)) {
      const auto entry = waiting.find(instance.id);
      if (entry == waiting.end()) continue;
      Machine machine = to_machine(instance);
      machine.node = entry->second;
      if (machine.state == MachineState::stopping) {
        const std::string reason = instance.state_reason.empty() ? "InstanceEnded" : instance.state_reason;
        outcomes.push_back(refused(entry->second, {reason, fmt::format("{} ended while it started", instance.id)}));
      } else if (!machine.address.empty()) {
        namings_.push_back({entry->second, instance.id, node_tags(settings_, entry->second, machine)});
        ready.push_back({entry->second, Outcome::ready, std::move(machine), {}, {}});
      } else {
        continue;
      }
      waiting.erase(entry);
    }
    if (!ready.empty()) started(ready);
    std::move(ready.begin(), ready.end(), std::back_inserter(outcomes));
    if (waiting.empty() || clock_.steady_now() + pause > end) break;
    log_.debug(fmt::format("{} of {} instances have no address yet", waiting.size(), total));
    clock_.sleep_for(pause);
    pause = std::min<std::chrono::milliseconds>(pause * 2, std::chrono::seconds{2});
  }
  for (const auto& [id, node] : waiting) {
    NodeOutcome outcome = pending(node, id);
    namings_.push_back({node, id, node_tags(settings_, node, outcome.machine)});
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace burst::ec2
