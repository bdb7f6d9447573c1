// SPDX-License-Identifier: Apache-2.0
// Managed instance groups of a region and their resize requests, and what happens to them in the course of time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "gce/cloud.h"
#include "gce/operations.h"

namespace cloudsim::gce {

enum class RequestState { creating, accepted, succeeded, failed, cancelled };
std::string_view name_of(RequestState state);  ///< as Google spells it

/// A machine that a resize request asks for by name.
struct WantedInstance {
  std::string name;
  std::map<std::string, std::string> metadata;  ///< of its preservedState
};

struct ResizeRequest {
  std::string name, description;
  std::uint64_t id = 0;
  RequestState state = RequestState::creating;
  std::vector<WantedInstance> instances;
  std::int64_t resize_by = 0;  ///< instead of names, which are made up then
  std::optional<std::int64_t> run_seconds;
  std::vector<Failure> errors, last_attempt;
  std::chrono::system_clock::time_point created{};
  bool is_active() const { return state == RequestState::creating || state == RequestState::accepted; }
};

/// A machine in a group, wanted or there.
struct ManagedInstance {
  std::string name;
  std::string zone;  ///< empty: its request is queued
  std::string request;
  std::uint64_t id = 0;
  bool deleting = false;
  std::vector<Failure> last_attempt;
};

struct Group {
  std::string project, region, name;
  std::uint64_t id = 0;
  nlohmann::json body;        ///< as it was inserted, with defaults
  nlohmann::json properties;  ///< of its template, with those of allInstancesConfig
  std::vector<std::string> zones;
  std::chrono::system_clock::time_point created{};
  std::map<std::string, ManagedInstance> managed;  ///< by name
  std::map<std::string, ResizeRequest> requests;   ///< by name
  bool deleting = false;
  bool emptied = false;                ///< its machines were told to go
  std::vector<std::string> deletions;  ///< operations that wait for its end
  std::string resource() const {
    return "projects/" + project + "/regions/" + region + "/instanceGroupManagers/" + name;
  }
  bool has_active_request() const;
};

class Groups {
 public:
  using Map = std::map<std::string, std::unique_ptr<Group>>;  ///< by resource

  Groups(Cloud& cloud, Operations& operations);

  Group* find(const std::string& resource) const;
  const Map& all() const { return groups_; }
  void insert(Group made);
  /// Its machines go, then it itself, then the operation ends. An active resize request is waited for.
  void remove(Group& group, const std::string& operation);
  /// CREATING; ACCEPTED when `delay` is over; tried after accepted_ms.
  void add_request(Group& group, ResizeRequest request, Millis delay);
  void erase_instances(Group& group, const std::vector<std::string>& names);
  /// CREATING, NONE, DELETING
  std::string action_of(const Group& group, const ManagedInstance& managed) const;
  const Instance* instance_of(const Group& group, const ManagedInstance& managed) const;

  /// Of an active request. All its machines in one zone, or none: then last_attempt says why, and it is tried again.
  void attempt(Group& group, ResizeRequest& request);
  /// attempt(), if need be out of turn: also for a request that is not accepted yet.
  void succeed(Group& group, ResizeRequest& request);
  /// Machines that were made are rolled back: the first `created` of them are made only for that.
  void fail(Group& group, ResizeRequest& request, const Failure& failure, std::size_t created = 0);
  void cancel(Group& group, ResizeRequest& request);
  void set_last_attempt(Group& group, ResizeRequest& request, const Failure& failure);
  void reset() { groups_.clear(); }

 private:
  void accept(Group& group, ResizeRequest& request);
  void attempt_later(const Group& group, const ResizeRequest& request, Millis delay);
  void drop_queued(Group& group, const ResizeRequest& request);
  void ended(Group& group);
  void go_on_removing(Group& group);
  LaunchSpec launch_spec(const Group& group, const ResizeRequest& request, const WantedInstance& wanted,
                         const std::string& zone) const;
  void forget_when_gone(const Group& group, Instance& instance);

  Cloud* cloud_;
  Operations* operations_;
  Map groups_;
};

}  // namespace cloudsim::gce
