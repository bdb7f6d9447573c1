// SPDX-License-Identifier: Apache-2.0
// A cloud in memory that fails as clouds do, and the provider of its node groups.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "burst/clock.h"
#include "burst/error.h"
#include "burst/launch_journal.h"
#include "burst/provider.h"

namespace burst {

/// What the cloud holds for one node group, how it behaves, and what it was asked. A group's part is used by one
/// thread at a time, as its provider is.
struct FakeGroupCloud {
  std::vector<Machine> machines;  ///< all that live; machine.node: the name that the cloud knows (its tag)
  std::vector<std::string> ended;
  std::vector<Launch> launches;
  int connects = 0, lists = 0, starts = 0, finishes = 0, stops = 0;

  // How it fails.
  std::size_t capacity = std::numeric_limits<std::size_t>::max();  ///< machines that it still gives
  Outcome short_of = Outcome::no_capacity;
  std::string short_code = "InsufficientInstanceCapacity";
  std::map<NodeName, std::pair<std::string, std::string>> rejects;  ///< node -> code, message
  LaunchNeeds needs;
  bool claims = false;               ///< start() needs no lock
  bool queues = false;               ///< start() only puts machines into the queue
  std::set<NodeName> slow;           ///< nodes whose machines have no address yet
  std::set<NodeName> naming_fails;   ///< nodes for which finish() fails
  std::set<std::string> cannot_end;  ///< ids
  std::set<std::string> end_later;   ///< ids that end when they come
  std::optional<Error> fail_connect, fail_list, fail_start, fail_finish, fail_stop;
  bool dies_before_answer = false;  ///< fail_start strikes after machines were made and Slurm was told

  // Where a test looks at what has happened so far.
  std::function<void()> before_list = [] {}, before_start = [] {}, before_finish = [] {}, before_stop = [] {};

  void out_of_capacity(std::size_t after = 0) { capacity = after; }
  void over_quota(std::size_t after = 0) {
    capacity = after;
    short_of = Outcome::over_quota;
    short_code = "VcpuLimitExceeded";
  }
  /// Every call but connecting fails as a whole.
  void fails_whole(const std::string& code) {
    fail_list = fail_start = fail_stop = Error(code, "the provider was not able to validate the credentials");
  }

  /// Nothing is started or ended, ever.
  bool untouched() const { return starts == 0 && stops == 0 && finishes == 0 && ended.empty(); }
  std::size_t count(const NodeName& node) const {
    return static_cast<std::size_t>(
        std::count_if(machines.begin(), machines.end(), [&](const Machine& machine) { return machine.node == node; }));
  }
  Machine* find(const std::string& id) {
    const auto found =
        std::find_if(machines.begin(), machines.end(), [&](const Machine& machine) { return machine.id == id; });
    return found == machines.end() ? nullptr : &*found;
  }
};

class FakeCloud {
 public:
  FakeCloud(const Clock& clock, LaunchJournal& journal) : clock_(clock), journal_(journal) {}

  FakeGroupCloud& group(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return groups_[key];
  }

  /// A machine that runs since `age`; without a node one that was never named.
  Machine& add_machine(const std::string& key, std::optional<NodeName> node, std::chrono::seconds age) {
    Machine machine = make_machine(key);
    machine.created -= age;
    machine.state = MachineState::running;
    machine.node = std::move(node);
    return group(key).machines.emplace_back(std::move(machine));
  }

  Machine make_machine(const std::string& key) {
    const std::lock_guard lock(mutex_);
    ++last_;
    Machine machine;
    machine.id = "i-" + std::to_string(last_);
    machine.address = "10.0.0." + std::to_string(last_);
    machine.hostname = "ip-10-0-0-" + std::to_string(last_);
    machine.launch = "old-" + key;
    machine.created = std::chrono::floor<std::chrono::seconds>(clock_.now());
    return machine;
  }

  std::string new_launch_id() {
    const std::lock_guard lock(mutex_);
    return "launch-" + std::to_string(++last_launch_);
  }

  LaunchJournal& journal() { return journal_; }
  std::unique_ptr<Provider> provider(const NodeGroup& node_group);

 private:
  const Clock& clock_;
  LaunchJournal& journal_;
  std::mutex mutex_;
  std::map<std::string, FakeGroupCloud> groups_;  // a map: references stay
  int last_ = 0, last_launch_ = 0;
};

/// Names its machines late, as EC2's does: until finish() only the journal knows which node's they are.
class FakeProvider : public Provider {
 public:
  FakeProvider(FakeCloud& cloud, std::string key) : cloud_(cloud), key_(std::move(key)), group_(cloud.group(key_)) {}

  LaunchNeeds launch_needs() const override { return group_.needs; }

  bool claim(std::span<const Launch>) override { return group_.claims; }

  std::vector<NodeOutcome> start(std::span<const Launch> launches, const StartedSink& started) override {
    ++group_.starts;
    group_.before_start();
    group_.launches.insert(group_.launches.end(), launches.begin(), launches.end());
    if (!group_.dies_before_answer) fail_if(group_.fail_start);
    std::vector<NodeOutcome> outcomes, ready;
    for (const auto& launch : launches) {
      for (auto& outcome : run(launch)) {
        if (outcome.outcome == Outcome::ready) ready.push_back(outcome);
        outcomes.push_back(std::move(outcome));
      }
    }
    if (!ready.empty()) started(ready);
    fail_if(group_.fail_start);
    return outcomes;
  }

  std::vector<NodeOutcome> finish() override {
    ++group_.finishes;
    group_.before_finish();
    fail_if(group_.fail_finish);
    std::vector<NodeOutcome> failed;
    for (const auto& [id, node] : unnamed_) {
      Machine* machine = group_.find(id);
      if (machine == nullptr) continue;
      if (group_.naming_fails.contains(node)) {
        failed.push_back({node, Outcome::pending, *machine, "InvalidInstanceID.NotFound", "no such instance"});
      } else {
        machine->node = node;
      }
    }
    unnamed_.clear();
    if (failed.empty()) {
      for (const auto& record : records_) record->finished();
    }
    records_.clear();
    return failed;
  }

  std::vector<NodeOutcome> stop(std::span<const NodeName> nodes) override {
    std::vector<NodeOutcome> outcomes;
    std::vector<Machine> machines;
    for (const auto& machine : known()) {
      if (machine.node && std::find(nodes.begin(), nodes.end(), *machine.node) != nodes.end())
        machines.push_back(machine);
    }
    for (const auto& node : nodes) {
      if (std::none_of(machines.begin(), machines.end(), [&](const Machine& machine) { return machine.node == node; }))
        outcomes.push_back({node, Outcome::ready, {}, {}, {}});
    }
    for (auto& outcome : stop_machines(machines)) outcomes.push_back(std::move(outcome));
    return outcomes;
  }

  std::vector<NodeOutcome> stop_machines(std::span<const Machine> machines) override {
    ++group_.stops;
    group_.before_stop();
    fail_if(group_.fail_stop);
    std::vector<NodeOutcome> outcomes;
    for (const auto& machine : machines) {
      NodeOutcome outcome{machine.node.value_or(""), Outcome::ready, machine, {}, {}};
      if (group_.cannot_end.contains(machine.id)) {
        outcome.outcome = Outcome::rejected;
        outcome.code = "OperationNotPermitted";
        outcome.message = "the instance may not be terminated";
      } else if (group_.end_later.contains(machine.id)) {
        outcome.outcome = Outcome::pending;
        outcome.message = "its request serves other nodes too";
      } else {
        std::erase_if(group_.machines, [&](const Machine& other) { return other.id == machine.id; });
        group_.ended.push_back(machine.id);
      }
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  }

  std::vector<Machine> list() override {
    ++group_.lists;
    group_.before_list();
    fail_if(group_.fail_list);
    auto machines = known();
    for (const auto& machine : group_.machines) {
      const auto assigned = cloud_.journal().assignments(key_);
      if (!machine.node && assigned.contains(machine.id) && !cloud_.journal().running(key_, machine.launch))
        unnamed_.emplace_back(machine.id, assigned.at(machine.id));
    }
    return machines;
  }

 private:
  FakeCloud& cloud_;
  std::string key_;
  FakeGroupCloud& group_;
  std::vector<std::pair<std::string, NodeName>> unnamed_;
  std::vector<std::unique_ptr<LaunchRecord>> records_;

  static void fail_if(const std::optional<Error>& error) {
    if (error) throw Error(*error);
  }

  /// The cloud's machines with the nodes that the journal knows.
  std::vector<Machine> known() {
    const auto assigned = cloud_.journal().assignments(key_);
    auto machines = group_.machines;
    for (auto& machine : machines) {
      if (const auto entry = assigned.find(machine.id); !machine.node && entry != assigned.end())
        machine.node = entry->second;
    }
    return machines;
  }

  std::vector<NodeOutcome> run(const Launch& launch) {
    records_.push_back(cloud_.journal().begin(key_, cloud_.new_launch_id()));
    const bool none = launch.all_or_nothing && group_.capacity < launch.nodes.size();
    std::vector<NodeOutcome> outcomes;
    Assignments assigned;
    for (const auto& node : launch.nodes) {
      const auto rejected = group_.rejects.find(node);
      if (rejected != group_.rejects.end()) {
        outcomes.push_back({node, Outcome::rejected, {}, rejected->second.first, rejected->second.second});
      } else if (none || group_.capacity == 0) {
        outcomes.push_back({node, group_.short_of, {}, group_.short_code, "not enough for " + node});
      } else {
        --group_.capacity;
        outcomes.push_back(start_one(node));
        assigned.emplace(outcomes.back().machine.id, node);
      }
    }
    records_.back()->assign(assigned);
    return outcomes;
  }

  NodeOutcome queue_one(Machine machine, const NodeName& node) {
    machine.state = MachineState::queued;
    machine.address.clear();
    machine.hostname.clear();
    machine.detail = "the request is accepted";
    machine.node = node;
    group_.machines.push_back(machine);
    return {node, Outcome::pending, machine, {}, {}};
  }

  NodeOutcome start_one(const NodeName& node) {
    Machine machine = cloud_.make_machine(key_);
    machine.launch = records_.back()->id();
    if (group_.queues) return queue_one(std::move(machine), node);
    const bool slow = group_.slow.contains(node);
    if (slow) machine.address.clear();
    group_.machines.push_back(machine);
    unnamed_.emplace_back(machine.id, node);
    machine.node = node;
    if (slow) return {node, Outcome::pending, machine, "AddressUnknown", "no address yet"};
    return {node, Outcome::ready, machine, {}, {}};
  }
};

inline std::unique_ptr<Provider> FakeCloud::provider(const NodeGroup& node_group) {
  auto& part = group(node_group.key());
  ++part.connects;
  if (part.fail_connect) throw Error(*part.fail_connect);
  return std::make_unique<FakeProvider>(*this, node_group.key());
}

}  // namespace burst
