// SPDX-License-Identifier: Apache-2.0
// Makes nodes of a NodeSet active and looks after their pods for a while.
#include "providers/kubernetes/node_set_launch.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "burst/error.h"
#include "providers/kubernetes/pod_failure.h"

namespace burst::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// How long a launch waits for the operator to take away a node's pod of before. One that has not begun to end would be
/// kept as it is, and its slurmd booted before the node was asked for: slurmctld would not take it.
constexpr seconds kLeavingPatience{60};
constexpr milliseconds kFirstPause{250}, kLongestPause{2'000};
/// So long a pod may well not be there yet; from then on it is asked why not.
constexpr seconds kOperatorsTurn{2};
/// Between the API server's clock and ours, for events of the launch itself.
constexpr seconds kClockSkew{2};

struct Node {
  NodeName name;
  std::size_t launch;
  std::optional<JobId> job;
  std::int64_t ordinal = -1;
  bool is_asked = false;  ///< its ordinal has been made active; else it waits for its pod of before to leave
  bool has_pod = false;
  bool is_told = false;
  std::optional<Machine> machine = std::nullopt;
  std::optional<MachineFailure> failure = std::nullopt;

  bool is_ready() const { return machine && machine->state == MachineState::running; }
  bool is_open() const { return !failure && !is_ready(); }
  bool is_leaving() const { return !failure && !is_asked; }
};

class NodeSetStart {
 public:
  NodeSetStart(const NodeSetGroup& group, std::span<const Launch> launches, const StartedSink& started)
      : group_(group), started_(started) {
    for (const auto& launch : launches) {
      for (const auto& name : launch.nodes) nodes_.push_back({name, all_or_nothing_.size(), launch.job});
      all_or_nothing_.push_back(launch.all_or_nothing);
    }
  }

  std::vector<NodeOutcome> run() {
    check_node_set();
    share_failures();
    if (std::ranges::any_of(nodes_, &Node::is_open)) {
      activate(group_.api.pods());
      await_pods();
      refuse_leaving();
      refuse_by_events();
      share_failures();
      deactivate_failed();
    }
    tell(true);
    std::vector<NodeOutcome> outcomes;
    for (const auto& node : nodes_) outcomes.push_back(outcome_of_node(node));
    return outcomes;
  }

 private:
  const NodeSetGroup& group_;
  const StartedSink& started_;
  std::vector<Node> nodes_;
  std::vector<bool> all_or_nothing_;  ///< by launch
  std::chrono::sys_seconds asked_{};

  void check_node_set() {
    const NodeSet node_set = group_.api.node_set();
    const std::string& name = group_.settings.node_set;
    if (!node_set.ephemeral)
      throw Error("NotEphemeral", fmt::format("NodeSet {}: spec.ephemeralNodes is not true: soperator runs all of its "
                                              "nodes all the time",
                                              name));
    for (auto& node : nodes_) {
      const auto ordinal = group_.ordinal_of(node.name);
      if (ordinal && *ordinal < node_set.replicas) {
        node.ordinal = *ordinal;
      } else {
        node.failure = {Outcome::rejected, "UnknownOrdinal",
                        fmt::format("NodeSet {} has {} replicas: it has no such node", name, node_set.replicas)};
      }
    }
  }

  /// One node's refusal is that of all nodes of a launch that is to be kept whole.
  void share_failures() {
    std::map<std::size_t, MachineFailure> failures;
    for (const auto& node : nodes_)
      if (node.failure && all_or_nothing_[node.launch]) failures.try_emplace(node.launch, *node.failure);
    for (auto& node : nodes_)
      if (const auto failure = failures.find(node.launch); failure != failures.end() && !node.failure)
        node.failure = failure->second;
  }

  /// Makes active what is not in the way of its own pod of before. An absent object is made with the nodes that are
  /// wanted and those whose pods live: its absence says nothing about them.
  void activate(const std::map<std::int64_t, Pod>& pods) {
    const auto lives = [&](std::int64_t ordinal) {
      const auto pod = pods.find(ordinal);
      return pod != pods.end() && !pod->second.deleted;
    };
    Ordinals asked;
    if (asked_ == std::chrono::sys_seconds()) asked_ = now();
    group_.api.edit(
        [&](PowerState& state) {
          asked.clear();
          Ordinals wanted;
          for (const auto& node : nodes_) {
            if (!node.is_leaving()) continue;
            if (!state.exists() || state.active().contains(node.ordinal) || !lives(node.ordinal))
              asked.insert(node.ordinal);
          }
          wanted = asked;
          for (const auto& [ordinal, pod] : pods)
            if (!state.exists() && !pod.deleted) wanted.insert(ordinal);
          return state.add(wanted);
        },
        NodeSetApi::Absent::is_created);
    for (auto& node : nodes_) node.is_asked = node.is_asked || asked.contains(node.ordinal);
  }

  std::chrono::sys_seconds now() const { return std::chrono::floor<seconds>(group_.clock.now()); }

  void await_pods() {
    const auto begin = group_.clock.steady_now();
    auto end = begin + group_.settings.address_wait;
    milliseconds pause = kFirstPause;
    for (;;) {
      const bool leaving = std::ranges::any_of(nodes_, &Node::is_leaving);
      const auto last = leaving ? std::max(end, begin + kLeavingPatience) : end;
      if (std::ranges::none_of(nodes_, &Node::is_open) || group_.clock.steady_now() + pause > last) return;
      group_.clock.sleep_for(pause);
      pause = std::min(pause * 2, kLongestPause);
      try {
        const auto pods = group_.api.pods();
        look(pods);
        if (group_.clock.steady_now() - begin >= kOperatorsTurn) refuse_by_events();
        share_failures();
        if (leaving && has_left(pods)) {
          activate(pods);
          end = group_.clock.steady_now() + group_.settings.address_wait;
        }
      } catch (const Error& error) {
        // What is active stays so: change_state follows it.
        group_.log.error(fmt::format("{}: looking at the pods: {}", group_.group.key(), error.what()));
        return;
      }
      tell(false);
    }
  }

  bool has_left(const std::map<std::int64_t, Pod>& pods) const {
    return std::ranges::any_of(nodes_, [&](const Node& node) {
      const auto pod = pods.find(node.ordinal);
      return node.is_leaving() && (pod == pods.end() || pod->second.deleted);
    });
  }

  void look(const std::map<std::int64_t, Pod>& pods) {
    for (auto& node : nodes_) {
      const auto pod = pods.find(node.ordinal);
      if (!node.is_asked || node.failure || node.is_told || pod == pods.end() || pod->second.deleted) continue;
      node.has_pod = true;
      node.machine = group_.machine(node.ordinal, pod->second);
      node.failure = node.machine->failure;
    }
  }

  /// A launch that may be given back tells nothing before it is whole.
  void tell(bool is_over) {
    std::vector<bool> whole(all_or_nothing_.size(), true);
    for (const auto& node : nodes_)
      if (node.is_open() && all_or_nothing_[node.launch] && !is_over) whole[node.launch] = false;
    std::vector<NodeOutcome> ready;
    for (auto& node : nodes_) {
      if (node.is_told || node.failure || !node.is_ready() || !whole[node.launch]) continue;
      node.is_told = true;
      ready.push_back(outcome_of_node(node));
    }
    if (!ready.empty()) started_(ready);
  }

  void refuse_leaving() {
    for (auto& node : nodes_)
      if (node.is_leaving())
        node.failure = {
            Outcome::rejected, "PodTerminating",
            fmt::format("soperator has not taken away the node's pod of before within {} s", kLeavingPatience.count())};
  }

  /// Why there is no pod at all stands in no pod.
  void refuse_by_events() {
    const auto lacks_pod = [](const Node& node) { return node.is_asked && !node.failure && !node.has_pod; };
    if (std::ranges::none_of(nodes_, lacks_pod)) return;
    try {
      const auto refused = group_.api.refused_pods(asked_ - kClockSkew);
      for (auto& node : nodes_) {
        const auto error = refused.find(node.ordinal);
        if (!lacks_pod(node) || error == refused.end()) continue;
        node.machine = group_.machine_without_pod(node.ordinal);
        node.machine->detail = fmt::format("{}: {}", error->second.code, error->second.message);
        if (error->second.meaning != ErrorMeaning::retry)
          node.failure = {outcome_of(error->second), error->second.code, error->second.message};
      }
    } catch (const Error& error) {
      group_.log.warning(fmt::format("{}: reading why pods are missing: {}", group_.group.key(), error.what()));
    }
  }

  /// Slurm gives these nodes up: their pods must not come later.
  void deactivate_failed() {
    Ordinals doomed;
    for (const auto& node : nodes_)
      if (node.failure && node.is_asked) doomed.insert(node.ordinal);
    if (doomed.empty()) return;
    try {
      group_.api.edit([&](PowerState& state) { return state.remove(doomed); }, NodeSetApi::Absent::is_left);
    } catch (const Error& error) {
      group_.log.error(fmt::format("{}: taking back nodes that were refused: {}", group_.group.key(), error.what()));
    }
  }

  NodeOutcome outcome_of_node(const Node& node) const {
    if (node.failure) return {node.name, node.failure->outcome, {}, node.failure->code, node.failure->message};
    NodeOutcome outcome{
        node.name, Outcome::ready, node.machine.value_or(group_.machine_without_pod(node.ordinal)), {}, {}};
    outcome.machine.job = node.job;
    if (!node.is_ready()) {
      outcome.outcome = Outcome::pending;
      outcome.code = outcome.machine.state == MachineState::queued ? "Queued" : "AddressUnknown";
      outcome.message = outcome.machine.detail;
    }
    return outcome;
  }
};

}  // namespace

std::optional<std::int64_t> NodeSetGroup::ordinal_of(const NodeName& node) const {
  const auto ordinal = ordinal_in(node, group.key());
  return ordinal && owns(*ordinal) ? ordinal : std::nullopt;
}

std::string NodeSetGroup::pod_name(std::int64_t ordinal) const {
  return fmt::format("{}-{}", settings.node_set, ordinal);
}

Machine NodeSetGroup::machine(std::int64_t ordinal, const Pod& pod) const {
  Machine machine = machine_of(pod, settings, std::chrono::floor<seconds>(clock.now()));
  machine.node = node(ordinal);
  return machine;
}

Machine NodeSetGroup::machine_without_pod(std::int64_t ordinal) const {
  Machine machine;
  machine.id = fmt::format("{}/{}", settings.node_set, ordinal);
  machine.node = node(ordinal);
  machine.hostname = pod_name(ordinal);
  machine.state = MachineState::queued;
  machine.detail = "soperator has made no pod for it yet";
  return machine;
}

std::vector<NodeOutcome> start_in_node_set(const NodeSetGroup& group, std::span<const Launch> launches,
                                           const StartedSink& started) {
  return NodeSetStart(group, launches, started).run();
}

}  // namespace burst::kubernetes
