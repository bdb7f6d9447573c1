// SPDX-License-Identifier: Apache-2.0
// The machines of the simulated Compute Engine and what happens to them in the course of time.
#include "gce/cloud.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "gce/names.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

std::string region_key(const Place& place) { return place.project + "/" + region_of_zone(place.zone); }

std::string scheduling_text(const Json& properties, const char* key, const char* fallback) {
  return properties.value("scheduling", Json::object()).value(key, fallback);
}

/// How long it may run, in real time.
std::optional<Millis> run_duration(const Json& properties, double scale) {
  const auto scheduling = properties.value("scheduling", Json::object());
  if (!scheduling.contains("maxRunDuration")) {
    return std::nullopt;
  }
  const auto seconds = std::stoll(scheduling["maxRunDuration"].value("seconds", "0"));
  return Millis{static_cast<std::int64_t>(1000.0 * static_cast<double>(seconds) * scale)};
}

}  // namespace

std::string_view name_of(InstanceState state) {
  switch (state) {
    case InstanceState::provisioning:
      return "PROVISIONING";
    case InstanceState::staging:
      return "STAGING";
    case InstanceState::running:
      return "RUNNING";
    case InstanceState::stopping:
      return "STOPPING";
    default:
      return "TERMINATED";
  }
}

bool is_live(InstanceState state) { return state < InstanceState::stopping; }

std::string type_of(const Json& properties) { return last_segment(properties.value("machineType", "")); }

std::string model_of(const Json& properties) {
  const auto preemptible = properties.value("scheduling", Json::object()).value("preemptible", false);
  return scheduling_text(properties, "provisioningModel", preemptible ? "SPOT" : "STANDARD");
}

Cloud::Cloud(const SharedParts& shared, GceKnobs& knobs, std::uint64_t seed)
    : shared_(shared), knobs_(&knobs), random_(seed ^ 0x6ce) {}

CapacityRule* Cloud::rule_for(const Json& properties, const Place& place) const {
  // The rule that says most about the place is the one that counts.
  const auto type = type_of(properties);
  const auto model = model_of(properties);
  const auto region = region_of_zone(place.zone);
  CapacityRule* best = nullptr;
  int best_score = -1;
  for (auto& rule : knobs_->capacity) {
    const bool fits = (rule.type == "*" || rule.type == type) && (rule.model == "*" || rule.model == model) &&
                      (rule.where == "*" || rule.where == place.zone || rule.where == region);
    const int score = (rule.type == "*" ? 0 : 8) + (rule.where == place.zone ? 4 : 0) + (rule.where == region ? 2 : 0) +
                      (rule.model == "*" ? 0 : 1);
    if (fits && score > best_score) {
      best = &rule;
      best_score = score;
    }
  }
  return best;
}

std::int64_t Cloud::available(const Json& properties, const Place& place) const {
  auto out = std::numeric_limits<std::int64_t>::max();
  if (const auto* rule = rule_for(properties, place)) {
    out = std::min(out, rule->available);
  }
  if (knobs_->vm_quota) {
    const auto used = in_region_.find(region_key(place));
    out = std::min(out, *knobs_->vm_quota - (used == in_region_.end() ? 0 : used->second));
  }
  return std::max<std::int64_t>(out, 0);
}

std::optional<Failure> Cloud::shortage(const Json& properties, const Place& place, std::int64_t count) const {
  const auto region = in_region_.find(region_key(place));
  const auto used = region == in_region_.end() ? 0 : region->second;
  if (knobs_->vm_quota && used + count > *knobs_->vm_quota) {
    return Failure{"QUOTA_EXCEEDED", fmt::format("Quota 'INSTANCES' exceeded.  Limit: {}.0 in region {}.",
                                                 *knobs_->vm_quota, region_of_zone(place.zone))};
  }
  const auto* const rule = rule_for(properties, place);
  if (rule != nullptr && rule->available < count) {
    return Failure{rule->code,
                   fmt::format("The zone 'projects/{}/zones/{}' does not have enough resources available to fulfill "
                               "the request.  Try a different zone, or try again later.",
                               place.project, place.zone)};
  }
  return std::nullopt;
}

std::optional<Failure> Cloud::reserve(const LaunchSpec& spec) {
  const auto& place = spec.place;
  if (instances_.count(place.resource()) != 0) {
    return Failure{"RESOURCE_ALREADY_EXISTS", fmt::format("The resource '{}' already exists", place.resource())};
  }
  if (auto refusal = shortage(spec.properties, place, 1)) {
    return refusal;
  }
  if (auto* rule = rule_for(spec.properties, place)) {
    --rule->available;
  }
  ++in_region_[region_key(place)];
  return std::nullopt;
}

void Cloud::release(Instance& instance) {
  if (!std::exchange(instance.holds_capacity, false)) {
    return;
  }
  if (auto* rule = rule_for(instance.properties, instance.place)) {
    ++rule->available;
  }
  --in_region_[region_key(instance.place)];
}

std::optional<Failure> Cloud::launch(const LaunchSpec& spec) {
  if (auto refusal = reserve(spec)) {
    return refusal;
  }
  auto made = std::make_unique<Instance>();
  auto& instance = *made;
  instance.place = spec.place;
  instance.id = new_id();
  instance.sequence = ++launches_;
  instance.machine =
      by_machine_.count(spec.place.name) != 0 ? spec.place.zone + "." + spec.place.name : spec.place.name;
  instance.type = type_of(spec.properties);
  instance.spot = model_of(spec.properties) == "SPOT";
  instance.address = addresses_.take(knobs_->first_address);
  instance.properties = spec.properties;
  instance.group = spec.group;
  instance.launched = std::chrono::system_clock::now();
  instance.visible_from = std::chrono::steady_clock::now() + knobs_->visible;
  instance.address_from = std::chrono::steady_clock::now() + knobs_->address;
  instance.boots = spec.boots && shared_.knobs.unbootable == 0;
  if (spec.boots && shared_.knobs.unbootable > 0) {
    --shared_.knobs.unbootable;
  }
  by_sequence_[instance.sequence] = &instance;
  by_machine_[instance.machine] = &instance;
  instances_[spec.place.resource()] = std::move(made);
  schedule_life(instance);
  return std::nullopt;
}

void Cloud::schedule_life(Instance& instance) {
  later_for(shared_.knobs.boot / 2, instance, [](Instance& it) {
    if (it.state == InstanceState::provisioning) {
      it.state = InstanceState::staging;
    }
  });
  later_for(shared_.knobs.boot, instance, [this](Instance& it) { became_running(it); });
  if (const auto duration = run_duration(instance.properties, knobs_->run_duration_scale)) {
    instance.ends = instance.launched + *duration;
    later_for(*duration, instance, [this](Instance& it) { expire(it); });
  }
}

void Cloud::became_running(Instance& instance) {
  if (instance.state != InstanceState::staging && instance.state != InstanceState::provisioning) {
    return;
  }
  instance.state = InstanceState::running;
  if (instance.boots) {
    shared_.boot.start(
        instance.machine,
        {"CLOUDSIM_INSTANCE_ID=" + instance.place.name, "CLOUDSIM_ADDRESS=" + instance.address,
         "CLOUDSIM_REGION=" + region_of_zone(instance.place.zone), "CLOUDSIM_ZONE=" + instance.place.zone,
         "GCE_METADATA_HOST=" + metadata_base_ + instance.machine});
  }
}

void Cloud::begin_stopping(Instance& instance, std::function<void(Instance&)> then) {
  instance.state = InstanceState::stopping;
  shared_.boot.stop(instance.machine);
  release(instance);
  later_for(shared_.knobs.terminate, instance, std::move(then));
}

void Cloud::remove(Instance& instance, std::function<void()> gone) {
  if (gone) {
    instance.when_gone.push_back(std::move(gone));
  }
  if (is_live(instance.state) || instance.state == InstanceState::terminated) {
    begin_stopping(instance, [this](Instance& it) { vanish(it); });
  }
}

void Cloud::stop(Instance& instance) {
  if (!is_live(instance.state)) {
    return;
  }
  begin_stopping(instance, [this](Instance& it) {
    it.state = InstanceState::terminated;
    if (!it.when_gone.empty()) {  // it was to be deleted while it stopped
      vanish(it);
    }
  });
}

void Cloud::end_as_scheduled(Instance& instance, const std::string& fallback_action) {
  if (!is_live(instance.state)) {
    return;
  }
  const auto action = scheduling_text(instance.properties, "instanceTerminationAction", fallback_action.c_str());
  if (action != "DELETE") {
    stop(instance);
    return;
  }
  remove(instance, nullptr);
  if (lost_ && !instance.group.empty()) {
    lost_(instance);
  }
}

void Cloud::preempt(Instance& instance) { end_as_scheduled(instance, "STOP"); }

void Cloud::expire(Instance& instance) {
  instance.ends =
      std::min(instance.ends.value_or(std::chrono::system_clock::time_point::max()), std::chrono::system_clock::now());
  end_as_scheduled(instance, "DELETE");
}

void Cloud::vanish(Instance& instance) {
  addresses_.give_back(instance.address);
  const auto callbacks = std::move(instance.when_gone);
  by_sequence_.erase(instance.sequence);
  by_machine_.erase(instance.machine);
  instances_.erase(instance.place.resource());
  for (const auto& gone : callbacks) {
    gone();
  }
}

void Cloud::freeze(Instance& instance, bool frozen) {
  instance.frozen = frozen;
  if (frozen) {
    shared_.boot.freeze(instance.machine);
  } else {
    shared_.boot.thaw(instance.machine);
  }
}

Instance* Cloud::find(const Place& place) const {
  const auto found = instances_.find(place.resource());
  return found == instances_.end() ? nullptr : found->second.get();
}

const Instance* Cloud::find_machine(const std::string& machine) const {
  const auto found = by_machine_.find(machine);
  return found == by_machine_.end() ? nullptr : found->second;
}

bool Cloud::is_visible(const Instance& instance) const {
  return instance.visible_from <= std::chrono::steady_clock::now();
}

std::string Cloud::address_of(const Instance& instance) const {
  return instance.address_from <= std::chrono::steady_clock::now() ? instance.address : "";
}

// Google's ids have 19 digits or fewer.
std::uint64_t Cloud::new_id() { return 1'000'000'000'000'000'000 + random_() % 8'000'000'000'000'000'000; }

std::string Cloud::new_uuid() {
  const auto high = random_();
  const auto low = random_();
  return fmt::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU, high & 0xfffU,
                     low >> 52U, low & 0xffffffffffffU);
}

void Cloud::later(Millis delay, std::function<void()> step) {
  shared_.loop.after(delay, [this, generation = generation_, step = std::move(step)] {
    if (generation == generation_) {
      step();
    }
  });
}

void Cloud::later_for(Millis delay, const Instance& instance, std::function<void(Instance&)> step) {
  later(delay, [this, sequence = instance.sequence, step = std::move(step)] {
    const auto found = by_sequence_.find(sequence);
    if (found != by_sequence_.end()) {
      step(*found->second);
    }
  });
}

void Cloud::reset() {
  for (auto& [resource, instance] : instances_) {
    shared_.boot.stop(instance->machine);
  }
  ++generation_;
  instances_.clear();
  by_sequence_.clear();
  by_machine_.clear();
  in_region_.clear();
  addresses_.reset();
}

}  // namespace cloudsim::gce
