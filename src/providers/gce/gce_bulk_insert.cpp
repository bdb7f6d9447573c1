// SPDX-License-Identifier: Apache-2.0
// Starting machines at once: one bulkInsert a launch.
#include "providers/gce/gce_bulk_insert.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"

namespace burst::gce {
namespace {

/// How long a machine that Google has made may be missing in lists, or its address, before change_state takes over.
constexpr std::chrono::seconds kPatience{10};

/// One bulkInsert.
struct Batch {
  std::size_t launch = 0;  ///< index of its Launch
  Request request;
  CallResult result;
  std::unordered_map<NodeName, ApiError> node_errors;
};

/// What lists say of a batch's nodes.
using Found = std::unordered_map<NodeName, Machine>;

std::vector<Batch> plan_batches(std::span<const Launch> launches, Random& random) {
  std::vector<Batch> batches;
  for (std::size_t launch = 0; launch < launches.size(); ++launch) {
    const std::span<const NodeName> nodes = launches[launch].nodes;
    for (std::size_t first = 0; first < nodes.size(); first += kMachinesPerBulkInsert) {
      const auto part = nodes.subspan(first, std::min(kMachinesPerBulkInsert, nodes.size() - first));
      Batch batch;
      batch.launch = launch;
      batch.request.launch = fmt::format("sb-{:016x}", random.next());
      batch.request.nodes.assign(part.begin(), part.end());
      batch.request.job = launches[launch].job;
      batch.request.all_or_nothing = launches[launch].all_or_nothing;
      batches.push_back(std::move(batch));
    }
  }
  return batches;
}

ApiCall insert_call(const GroupContext& context, const Request& request) {
  const auto& settings = context.settings;
  std::string body = bulk_insert_body(settings, context.identity, request);
  // Without a choice to make the zone's own call has less to go wrong.
  if (settings.zones.size() == 1)
    return {"instances.bulkInsert", fmt::format("zones/{}/instances/bulkInsert", settings.zones.front()), {}, body};
  return {"regionInstances.bulkInsert", context.regional("instances/bulkInsert"), {}, body};
}

NodeOutcome refused(const NodeName& node, const ApiError& error) {
  return {node, outcome_of(error.code), {}, error.code, error.message};
}

NodeOutcome pending(const NodeName& node, Machine machine, const char* code, const std::string& message) {
  machine.node = node;
  return {node, Outcome::pending, std::move(machine), code, message};
}

class BulkStart {
 public:
  BulkStart(const GroupContext& context, std::span<const Launch> launches, const StartedSink& started)
      : context_(context), launches_(launches), started_(started) {}

  std::vector<NodeOutcome> run() {
    batches_ = plan_batches(launches_, context_.random);
    std::vector<ApiCall> calls;
    for (const auto& batch : batches_) calls.push_back(insert_call(context_, batch.request));
    auto results = context_.api.run(calls);
    for (std::size_t i = 0; i < batches_.size(); ++i) batches_[i].result = std::move(results[i]);

    await_machines();
    read_node_errors();
    give_back_incomplete();
    for (const auto& batch : batches_) {
      for (const auto& node : batch.request.nodes)
        if (!told_.contains(node)) outcomes_.push_back(outcome_without_address(batch, node));
    }
    return std::move(outcomes_);
  }

 private:
  const GroupContext& context_;
  std::span<const Launch> launches_;
  const StartedSink& started_;
  std::vector<Batch> batches_;
  Found found_;  ///< machines that live
  std::unordered_set<NodeName> told_;
  std::set<std::size_t> given_back_;  ///< launches
  std::vector<NodeOutcome> outcomes_;
  bool list_failed_ = false;

  /// Whether a machine that no list shows yet may still appear.
  static bool may_appear(const Batch& batch, std::size_t live) {
    if (!batch.result.ok()) return false;
    return live < batch.result.operation->created.value_or(batch.request.nodes.size());
  }

  bool is_missing(const NodeName& node) const { return !found_.contains(node); }

  void await_machines() {
    const auto end = context_.clock.steady_now() + kPatience;
    std::chrono::milliseconds pause{100};
    for (;;) {
      std::vector<std::string> launches;
      for (const auto& batch : batches_)
        if (has_business(batch)) launches.push_back(batch.request.launch);
      if (launches.empty() || !look(launches)) return;
      const bool more = tell_addresses();
      if (!more || context_.clock.steady_now() + pause > end) return;
      context_.clock.sleep_for(pause);
      pause = std::min<std::chrono::milliseconds>(pause * 2, std::chrono::seconds{2});
    }
  }

  /// A call that was refused outright has made nothing.
  bool has_business(const Batch& batch) const {
    if (!batch.result.operation && !batch.result.unknown) return false;
    return !std::ranges::all_of(batch.request.nodes, [&](const NodeName& node) { return told_.contains(node); });
  }

  bool look(const std::vector<std::string>& launches) {
    try {
      for (const auto& instance : read_instances(context_, launches)) {
        Machine machine = to_machine(instance, context_.identity);
        if (!machine.node) continue;
        const NodeName node = *machine.node;
        if (machine.state == MachineState::stopping || machine.state == MachineState::failed) {
          found_.erase(node);
        } else {
          found_.insert_or_assign(node, std::move(machine));
        }
      }
      return true;
    } catch (const Error& error) {
      // The machines run: they keep their nodes, and the next look, or change_state, learns their addresses.
      context_.log.error(
          fmt::format("Failed to list the new instances of {}: {}", context_.identity.key(), error.what()));
      list_failed_ = true;
      return false;
    }
  }

  std::size_t live_nodes(const Batch& batch) const {
    return batch.request.nodes.size() - static_cast<std::size_t>(std::ranges::count_if(
                                            batch.request.nodes, [&](const auto& node) { return is_missing(node); }));
  }

  /// Hands on what is ready; returns whether another look may show more.
  bool tell_addresses() {
    bool more = false;
    std::vector<NodeOutcome> ready;
    for (const auto& batch : batches_) {
      const std::size_t live = live_nodes(batch);
      if (may_appear(batch, live)) more = true;
      // A launch that may be given back tells nothing before it is whole.
      if (batch.request.all_or_nothing && !is_whole_launch(batch.launch)) continue;
      for (const auto& node : batch.request.nodes) {
        const auto machine = found_.find(node);
        if (machine == found_.end() || told_.contains(node)) continue;
        if (machine->second.address.empty()) {
          more = true;
          continue;
        }
        told_.insert(node);
        ready.push_back({node, Outcome::ready, machine->second, {}, {}});
      }
    }
    if (!ready.empty()) started_(ready);
    std::move(ready.begin(), ready.end(), std::back_inserter(outcomes_));
    return more;
  }

  bool is_whole_launch(std::size_t launch) const {
    return std::ranges::all_of(batches_, [&](const Batch& batch) {
      return batch.launch != launch || live_nodes(batch) == batch.request.nodes.size();
    });
  }

  /// Whether some node of the launch has no machine and will have none.
  bool is_short_launch(std::size_t launch) const {
    return std::ranges::any_of(batches_, [&](const Batch& batch) {
      const std::size_t live = live_nodes(batch);
      return batch.launch == launch && live < batch.request.nodes.size() && !may_appear(batch, live);
    });
  }

  /// Why single machines could not be made stands in operations of their own, which name the bulk insert's group.
  void read_node_errors() {
    std::vector<ApiCall> lists;
    std::vector<Batch*> batch_of;
    for (auto& batch : batches_) {
      if (!batch.result.operation || live_nodes(batch) == batch.request.nodes.size()) continue;
      const Operation& operation = *batch.result.operation;
      if (operation.group_id.empty()) continue;
      auto zones = operation.zones;
      if (zones.empty()) zones = context_.settings.zones;
      for (const auto& zone : zones) {
        lists.push_back({"zoneOperations.list",
                         fmt::format("zones/{}/operations", zone),
                         {{"filter", fmt::format("operationGroupId = \"{}\"", operation.group_id)}}});
        batch_of.push_back(&batch);
      }
    }
    try {
      context_.api.list(lists, [&](std::size_t index, std::string_view body) {
        const auto page = parse_operations(body);
        for (const auto& operation : page.items) take_node_error(*batch_of[index], operation);
        return page.next_token;
      });
    } catch (const Error& error) {
      context_.log.warning(fmt::format("Failed to learn why instances of {} could not be made: {}",
                                       context_.identity.key(), error.what()));
    }
  }

  static void take_node_error(Batch& batch, const Operation& operation) {
    if (operation.errors.empty() || operation.name == batch.result.operation->name) return;
    ApiError error = explained(main_error(operation.errors, {}), false);
    error.message = fmt::format("{}: {} (operation {})", error.code, error.message, operation.name);
    if (error_kind(error.code) == ErrorKind::exists)
      error.message =
          "an instance of the node's name exists that this cluster's node group does not own: " + error.message;
    batch.node_errors.insert_or_assign(operation.target, std::move(error));
  }

  /// All-or-nothing launches that came short keep nothing.
  void give_back_incomplete() {
    std::vector<std::string> names, doomed;
    for (const auto& batch : batches_) {
      if (!batch.request.all_or_nothing || !is_short_launch(batch.launch)) continue;
      given_back_.insert(batch.launch);
      if (batch.result.operation || batch.result.unknown) names.push_back(batch.request.launch);
    }
    if (names.empty()) return;
    try {
      for (const auto& instance : read_instances(context_, names))
        if (state_of(instance) != MachineState::stopping) doomed.push_back(machine_id(instance));
      for (const auto& [id, error] : delete_instances(context_, doomed))
        context_.log.error(fmt::format("Failed to give back instance {}: {}: {}", id, error.code, error.message));
    } catch (const Error& error) {
      context_.log.error(fmt::format("Failed to give back instances of {}: {}", context_.identity.key(), error.what()));
    }
  }

  /// Of a node that none was ready for.
  NodeOutcome outcome_without_address(const Batch& batch, const NodeName& node) const {
    const bool given_back = given_back_.contains(batch.launch);
    if (const auto machine = found_.find(node); machine != found_.end() && !given_back)
      return pending(node, machine->second, "AddressUnknown",
                     "Compute Engine does not tell the instance's address yet");
    if (const auto error = batch.node_errors.find(node); error != batch.node_errors.end())
      return refused(node, error->second);
    const bool may_live = list_failed_ && (batch.result.operation || batch.result.unknown);
    if (may_live || (!given_back && may_appear(batch, live_nodes(batch))))
      return pending(node, {}, "NotListed", "Compute Engine does not list the instance yet");
    return refused(node, error_of_launch(batch));
  }

  /// The batch's own error; of the others of an all-or-nothing launch; of another node; else that there is none.
  ApiError error_of_launch(const Batch& batch) const {
    std::vector<ApiError> errors;
    if (batch.result.error) errors.push_back(*batch.result.error);
    for (const auto& other : batches_) {
      if (other.launch != batch.launch) continue;
      if (other.result.error) errors.push_back(*other.result.error);
      for (const auto& [node, error] : other.node_errors) errors.push_back(error);
    }
    const std::string operation = batch.result.operation ? batch.result.operation->name : "";
    return main_error(
        errors,
        {"NoMachine", fmt::format("Compute Engine made no instance and does not say why (operation {})", operation)});
  }
};

}  // namespace

std::vector<NodeOutcome> start_by_bulk_insert(const GroupContext& context, std::span<const Launch> launches,
                                              const StartedSink& started) {
  return BulkStart(context, launches, started).run();
}

std::map<std::string, ApiError> delete_instances(const GroupContext& context, const std::vector<std::string>& ids) {
  std::vector<ApiCall> calls;
  for (const auto& id : ids) {
    const auto slash = id.find('/');
    calls.push_back(
        {"instances.delete", fmt::format("zones/{}/instances/{}", id.substr(0, slash), id.substr(slash + 1)), {}, {}});
  }
  const auto results = context.api.send(calls);
  std::map<std::string, ApiError> failed;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (results[i].error && error_kind(results[i].error->code) != ErrorKind::gone)
      failed.emplace(ids[i], *results[i].error);
  return failed;
}

}  // namespace burst::gce
