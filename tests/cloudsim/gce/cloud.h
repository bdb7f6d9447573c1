// SPDX-License-Identifier: Apache-2.0
// The machines of the simulated Compute Engine and what happens to them in the course of time; it knows no protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>

#include "address_pool.h"
#include "gce/gce_knobs.h"
#include "gce/model.h"
#include "shared_parts.h"

namespace cloudsim::gce {

struct LaunchSpec {
  Place place;
  nlohmann::json properties;  ///< InstanceProperties, complete
  std::string group;          ///< key of its MIG; empty: none
  bool boots = true;
};

std::string type_of(const nlohmann::json& properties);   ///< machine type's name
std::string model_of(const nlohmann::json& properties);  ///< provisioning model

class Cloud {
 public:
  using Instances = std::map<std::string, std::unique_ptr<Instance>>;  ///< by Place::resource()

  Cloud(const SharedParts& shared, GceKnobs& knobs, std::uint64_t seed);

  /// Machines that can still be made there, as the capacity rules and the quota have it.
  std::int64_t available(const nlohmann::json& properties, const Place& place) const;
  /// Why so many more cannot be made there; nothing: they can.
  std::optional<Failure> shortage(const nlohmann::json& properties, const Place& place, std::int64_t count) const;
  /// Makes a machine, or says why not: name taken, quota, capacity.
  std::optional<Failure> launch(const LaunchSpec& spec);
  /// STOPPING, then gone; `gone` is called then. A machine that is stopping already goes all the same.
  void remove(Instance& instance, std::function<void()> gone);
  void stop(Instance& instance);     ///< STOPPING, then TERMINATED
  void preempt(Instance& instance);  ///< as its instanceTerminationAction says
  void expire(Instance& instance);   ///< its maximum run duration is over
  void freeze(Instance& instance, bool frozen);

  Instance* find(const Place& place) const;
  const Instance* find_machine(const std::string& machine) const;  ///< by its name at the machine boot
  const Instances& instances() const { return instances_; }
  Instances& instances() { return instances_; }
  bool is_visible(const Instance& instance) const;         ///< in lists
  std::string address_of(const Instance& instance) const;  ///< empty while there is none
  /// Called when Google (not the user) ends a machine of a MIG: its place in the MIG is given up.
  void on_loss(std::function<void(Instance&)> callback) { lost_ = std::move(callback); }

  std::uint64_t new_id();
  std::string new_uuid();
  std::mt19937_64& random() { return random_; }
  const GceKnobs& knobs() const { return *knobs_; }
  EventLoop& loop() const { return shared_.loop; }
  std::uint64_t generation() const { return generation_; }  ///< counts resets
  /// What a machine's name is appended to: its GCE_METADATA_HOST.
  void set_metadata_base(std::string base) { metadata_base_ = std::move(base); }
  /// Runs `step` later, unless everything was reset by then.
  void later(Millis delay, std::function<void()> step);
  void reset();  ///< every machine ends at once

 private:
  CapacityRule* rule_for(const nlohmann::json& properties, const Place& place) const;
  std::optional<Failure> reserve(const LaunchSpec& spec);
  void release(Instance& instance);
  void schedule_life(Instance& instance);
  void became_running(Instance& instance);
  void begin_stopping(Instance& instance, std::function<void(Instance&)> then);
  void end_as_scheduled(Instance& instance, const std::string& fallback_action);
  void vanish(Instance& instance);
  void later_for(Millis delay, const Instance& instance, std::function<void(Instance&)> step);

  SharedParts shared_;
  GceKnobs* knobs_;
  std::mt19937_64 random_;
  Instances instances_;
  std::unordered_map<std::uint64_t, Instance*> by_sequence_;
  std::unordered_map<std::string, Instance*> by_machine_;
  std::map<std::string, std::int64_t> in_region_;
  AddressPool addresses_;
  std::string metadata_base_;
  std::function<void(Instance&)> lost_;
  std::uint64_t generation_ = 0;
  std::uint64_t launches_ = 0;
};

}  // namespace cloudsim::gce
