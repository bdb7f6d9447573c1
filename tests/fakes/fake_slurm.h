// SPDX-License-Identifier: Apache-2.0
// A small slurmctld: nodes with states that updates change, and a record of what it was told.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "burst/error.h"
#include "burst/slurm.h"

namespace burst {

class FakeSlurm : public Slurm {
 public:
  struct StateCall {
    std::vector<NodeName> nodes;
    StateChange change = StateChange::idle;
    std::string reason;
  };

  std::map<NodeName, SlurmNode> known;
  std::vector<SlurmJob> queue;
  std::vector<SlurmReservation> reserved;

  // What it was asked and told.
  int reads = 0;      ///< of nodes, all or some
  int job_reads = 0;  ///< of the queue
  int reservation_reads = 0;
  std::vector<std::vector<NodeAddress>> address_calls;
  std::vector<StateCall> state_calls;
  std::vector<std::pair<JobId, std::string>> comments;
  std::vector<std::string> reservation_calls;  ///< `create NAME`, `delete NAME`

  // Calls that fail, with this message.
  std::optional<std::string> fail_nodes, fail_jobs, fail_set_addresses, fail_set_state, fail_set_job_comment,
      fail_reservations, fail_reserve;
  /// Run before each update and each reading of nodes: where a test looks at what has happened so far.
  std::function<void()> before_update = [] {}, before_read = [] {};

  /// `IDLE+CLOUD+POWERED_DOWN`, as scontrol shows it.
  SlurmNode& add(const NodeName& name, std::string_view state) {
    SlurmNode node;
    node.name = node.address = node.hostname = name;
    node.state = parse_node_state(state);
    return known[name] = node;
  }

  int updates() const {
    return static_cast<int>(address_calls.size() + state_calls.size() + comments.size() + reservation_calls.size());
  }

  /// The nodes that were told to change so, in all calls.
  std::set<NodeName> told(StateChange change) const {
    std::set<NodeName> nodes;
    for (const auto& call : state_calls) {
      if (call.change == change) nodes.insert(call.nodes.begin(), call.nodes.end());
    }
    return nodes;
  }

  std::vector<SlurmNode> nodes() override {
    before_read();
    const std::lock_guard lock(mutex_);
    ++reads;
    fail_if(fail_nodes);
    std::vector<SlurmNode> all;
    for (const auto& [name, node] : known) all.push_back(node);
    return all;
  }

  std::vector<SlurmNode> nodes(std::span<const NodeName> names) override {
    before_read();
    const std::lock_guard lock(mutex_);
    ++reads;
    fail_if(fail_nodes);
    std::vector<SlurmNode> some;
    for (const auto& name : names) {
      if (const auto node = known.find(name); node != known.end()) some.push_back(node->second);
    }
    return some;
  }

  std::vector<SlurmJob> jobs() override {
    const std::lock_guard lock(mutex_);
    ++job_reads;
    fail_if(fail_jobs);
    return queue;
  }

  void set_addresses(std::span<const NodeAddress> addresses) override {
    before_update();
    const std::lock_guard lock(mutex_);
    address_calls.emplace_back(addresses.begin(), addresses.end());
    fail_if(fail_set_addresses);
    for (const auto& entry : addresses) {
      auto& node = node_of(entry.node);
      node.address = entry.address;
      node.hostname = entry.hostname;
    }
  }

  void set_state(std::span<const NodeName> names, StateChange change, std::string_view reason) override {
    before_update();
    const std::lock_guard lock(mutex_);
    state_calls.push_back({{names.begin(), names.end()}, change, std::string(reason)});
    fail_if(fail_set_state);
    for (const auto& name : names) {
      auto& node = node_of(name);
      apply(node.state, change);
      if (!reason.empty()) node.reason = reason;
    }
  }

  void set_job_comment(JobId job, std::string_view comment) override {
    before_update();
    const std::lock_guard lock(mutex_);
    comments.emplace_back(job, comment);
    fail_if(fail_set_job_comment);
    for (auto& entry : queue) {
      if (entry.id == job) entry.comment = comment.substr(0, 240);
    }
  }

  std::vector<SlurmReservation> reservations(std::string_view prefix) override {
    before_read();
    const std::lock_guard lock(mutex_);
    ++reservation_reads;
    fail_if(fail_reservations);
    std::vector<SlurmReservation> found;
    for (const auto& entry : reserved) {
      if (entry.name.starts_with(prefix)) found.push_back(entry);
    }
    return found;
  }

  void create_reservation(const SlurmReservation& reservation) override {
    before_update();
    const std::lock_guard lock(mutex_);
    reservation_calls.push_back("create " + reservation.name);
    fail_if(fail_reserve);
    for (const auto& entry : reserved) {
      if (entry.name == reservation.name) throw Error("ScontrolError", "Reservation name is duplicate");
    }
    for (const auto& node : reservation.nodes) node_of(node);
    reserved.push_back(reservation);
  }

  void delete_reservation(const std::string& name) override {
    before_update();
    const std::lock_guard lock(mutex_);
    reservation_calls.push_back("delete " + name);
    fail_if(fail_reserve);
    std::erase_if(reserved, [&](const SlurmReservation& entry) { return entry.name == name; });
  }

  SlurmVersion version() override { return {23, 11, 4}; }

 private:
  std::mutex mutex_;

  static void fail_if(const std::optional<std::string>& message) {
    if (message) throw Error("ScontrolError", *message);
  }

  SlurmNode& node_of(const NodeName& name) {
    const auto node = known.find(name);
    if (node == known.end()) throw Error("ScontrolError", "Invalid node name specified: " + name);
    return node->second;
  }

  static void clear(NodeState& state, std::initializer_list<NodeFlag> flags) {
    for (const auto flag : flags) state.flags &= ~(1U << static_cast<unsigned>(flag));
  }

  static void apply(NodeState& state, StateChange change) {
    switch (change) {
      case StateChange::down:
        state.base = NodeBase::down;
        return;
      case StateChange::idle:
        state.base = NodeBase::idle;
        return clear(state, {NodeFlag::not_responding});
      case StateChange::resume:
        if (state.has(NodeFlag::powering_down)) state.set(NodeFlag::powered_down);
        if (state.base == NodeBase::down) state.base = NodeBase::idle;
        return clear(state, {NodeFlag::powering_down, NodeFlag::drain});
      case StateChange::undrain:
        return clear(state, {NodeFlag::drain});
      case StateChange::power_up:
        state.set(NodeFlag::powering_up);
        return clear(state, {NodeFlag::powered_down});
      case StateChange::power_down_force:
        state.base = NodeBase::idle;  // its jobs are requeued
        [[fallthrough]];
      case StateChange::power_down:
        state.set(NodeFlag::powering_down);
        return clear(state, {NodeFlag::powering_up, NodeFlag::powered_down});
    }
  }
};

}  // namespace burst
