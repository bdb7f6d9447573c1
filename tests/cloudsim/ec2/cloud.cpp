// SPDX-License-Identifier: Apache-2.0
// The state of the simulated EC2 and what happens to instances in the course of time.
#include "ec2/cloud.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace cloudsim::ec2 {

namespace {

constexpr std::chrono::hours kTerminatedVisible{1};

Subnet subnet_from(const SubnetSeed& seed, const std::string& region) {
  return {seed.id, seed.zone.size() == 1 ? region + seed.zone : seed.zone, seed.cidr, {}};
}

}  // namespace

std::string_view name_of(InstanceState state) {
  switch (state) {
    case InstanceState::pending:
      return "pending";
    case InstanceState::running:
      return "running";
    case InstanceState::shutting_down:
      return "shutting-down";
    default:
      return "terminated";
  }
}

bool is_live(InstanceState state) { return state == InstanceState::pending || state == InstanceState::running; }

std::int64_t vcpus_of(const std::string& instance_type) {
  const auto dot = instance_type.find('.');
  const auto size = dot == std::string::npos ? instance_type : instance_type.substr(dot + 1);
  if (size == "xlarge") {
    return 4;
  }
  std::int64_t times = 0;
  const auto result = std::from_chars(size.data(), size.data() + size.size(), times);
  if (std::string_view(result.ptr).starts_with("xlarge") && times > 0) {
    return 4 * times;
  }
  return size.starts_with("metal") ? 96 : 2;
}

Cloud::Cloud(EventLoop& loop, MachineBoot& boot, Knobs& knobs, Ec2Knobs& ec2_knobs, std::uint64_t seed)
    : loop_(&loop), boot_(&boot), knobs_(&knobs), ec2_knobs_(&ec2_knobs), random_(seed) {}

Region& Cloud::region(const std::string& name) {
  const auto [found, fresh] = regions_.try_emplace(name);
  if (fresh) {
    found->second.name = name;
    preload(found->second);
  }
  return found->second;
}

void Cloud::preload(Region& region) const {
  const auto missing = [](const auto& list, const std::string& id) {
    return std::none_of(list.begin(), list.end(), [&](const auto& known) { return known.id == id; });
  };
  for (const auto& seed : ec2_knobs_->templates) {
    if (missing(region.templates, seed.id)) {
      region.templates.push_back({seed.id, seed.name, seed.data, {}, std::chrono::system_clock::now()});
    }
  }
  for (const auto& seed : ec2_knobs_->subnets) {
    const bool here = seed.zone.size() == 1 || seed.zone.starts_with(region.name);
    if (here && missing(region.subnets, seed.id)) {
      region.subnets.push_back(subnet_from(seed, region.name));
    }
  }
}

void Cloud::preload_known_regions() {
  for (auto& [name, region] : regions_) {
    preload(region);
  }
}

CapacityRule* Cloud::capacity_rule(const std::string& type, const std::string& zone, const std::string& subnet_id,
                                   bool spot) {
  // The rule that says most about the place is the one that counts.
  const std::string lifecycle = spot ? "spot" : "on-demand";
  CapacityRule* best = nullptr;
  int best_score = -1;
  for (auto& rule : ec2_knobs_->capacity) {
    const bool fits = (rule.type == "*" || rule.type == type) &&
                      (rule.lifecycle == "*" || rule.lifecycle == lifecycle) &&
                      (rule.where == "*" || rule.where == zone || rule.where == subnet_id);
    const int score = (rule.type == "*" ? 0 : 8) + (rule.where == subnet_id ? 4 : 0) + (rule.where == zone ? 2 : 0) +
                      (rule.lifecycle == "*" ? 0 : 1);
    if (fits && score > best_score) {
      best = &rule;
      best_score = score;
    }
  }
  return best;
}

std::optional<Refusal> Cloud::reserve(const LaunchSpec& spec) {
  if (spec.spot && ec2_knobs_->spot_quota && spot_used_ >= *ec2_knobs_->spot_quota) {
    return Refusal{"MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"};
  }
  const auto vcpus = vcpus_of(spec.type);
  if (!spec.spot && ec2_knobs_->vcpu_quota && vcpus_used_ + vcpus > *ec2_knobs_->vcpu_quota) {
    return Refusal{"VcpuLimitExceeded",
                   fmt::format("You have requested more vCPU capacity than your current vCPU limit of {} allows for "
                               "the instance bucket that the specified instance type belongs to.",
                               *ec2_knobs_->vcpu_quota)};
  }
  if (auto* rule = capacity_rule(spec.type, spec.zone, spec.subnet_id, spec.spot)) {
    if (rule->available <= 0) {
      return Refusal{"InsufficientInstanceCapacity",
                     fmt::format("We currently do not have sufficient {} capacity in the Availability Zone you "
                                 "requested ({}).",
                                 spec.type, spec.zone)};
    }
    --rule->available;
  }
  (spec.spot ? spot_used_ : vcpus_used_) += spec.spot ? 1 : vcpus;
  return std::nullopt;
}

void Cloud::release(const std::string& type, const std::string& zone, const std::string& subnet_id, bool spot) {
  if (auto* rule = capacity_rule(type, zone, subnet_id, spot)) {
    ++rule->available;
  }
  (spot ? spot_used_ : vcpus_used_) -= spot ? 1 : vcpus_of(type);
}

Instance& Cloud::launch(Region& region, const LaunchSpec& spec, bool boots) {
  auto made = std::make_unique<Instance>();
  auto& instance = *made;
  instance.id = new_id("i-");
  instance.sequence = ++launches_;
  instance.region = region.name;
  instance.zone = spec.zone;
  instance.subnet_id = spec.subnet_id;
  instance.type = spec.type;
  instance.image_id = spec.image_id;
  instance.address = addresses_.take(ec2_knobs_->first_address);
  instance.hostname = "ip-" + instance.address + ".ec2.internal";
  std::replace(instance.hostname.begin() + 3, instance.hostname.end() - 13, '.', '-');
  instance.reservation_id = spec.reservation_id;
  instance.fleet_id = spec.fleet_id;
  instance.client_token = spec.client_token;
  instance.template_id = spec.template_id;
  instance.template_version = spec.template_version;
  instance.placement_group = spec.placement_group;
  instance.role = ec2_knobs_->role;
  instance.spot = spec.spot;
  instance.metadata_tags = spec.metadata_tags && ec2_knobs_->metadata_tags;
  instance.tags = spec.tags;
  instance.launched = std::chrono::system_clock::now();
  instance.visible_from = std::chrono::system_clock::now() + ec2_knobs_->visible;
  instance.address_from = std::chrono::steady_clock::now() + ec2_knobs_->address;
  instance.boots = boots && knobs_->unbootable == 0;
  if (boots && knobs_->unbootable > 0) {
    --knobs_->unbootable;
  }
  region.by_id[instance.id] = &instance;
  region.instances[instance.sequence] = std::move(made);
  later(knobs_->boot, instance, &Cloud::became_running);
  return instance;
}

void Cloud::later(Millis delay, const Instance& instance,
                  void (Cloud::*step)(std::uint64_t, const std::string&, std::uint64_t)) {
  loop_->after(delay, [this, step, generation = generation_, region = instance.region, sequence = instance.sequence] {
    (this->*step)(generation, region, sequence);
  });
}

Instance* Cloud::find(const std::string& region, std::uint64_t sequence) {
  auto& instances = this->region(region).instances;
  const auto found = instances.find(sequence);
  return found == instances.end() ? nullptr : found->second.get();
}

void Cloud::became_running(std::uint64_t generation, const std::string& region, std::uint64_t sequence) {
  auto* instance = generation == generation_ ? find(region, sequence) : nullptr;
  if (instance == nullptr || instance->state != InstanceState::pending) {
    return;
  }
  instance->state = InstanceState::running;
  if (instance->boots) {
    boot_->start(instance->id, {"CLOUDSIM_INSTANCE_ID=" + instance->id, "CLOUDSIM_ADDRESS=" + instance->address,
                                "CLOUDSIM_REGION=" + instance->region,
                                "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + metadata_base_ + instance->id});
  }
}

void Cloud::terminate(Instance& instance, const std::string& reason_code, const std::string& reason_message) {
  if (!is_live(instance.state)) {
    return;
  }
  instance.state = InstanceState::shutting_down;
  instance.reason_code = reason_code;
  instance.reason_message = reason_message;
  boot_->stop(instance.id);
  release(instance.type, instance.zone, instance.subnet_id, instance.spot);
  later(knobs_->terminate, instance, &Cloud::ended);
}

void Cloud::ended(std::uint64_t generation, const std::string& region, std::uint64_t sequence) {
  auto* instance = generation == generation_ ? find(region, sequence) : nullptr;
  if (instance == nullptr) {
    return;
  }
  if (instance->state == InstanceState::shutting_down) {
    instance->state = InstanceState::terminated;
    addresses_.give_back(instance->address);
    later(kTerminatedVisible, *instance, &Cloud::ended);
  } else {
    auto& home = this->region(region);
    home.by_id.erase(instance->id);
    home.instances.erase(sequence);
  }
}

void Cloud::freeze(Instance& instance, bool frozen) {
  instance.frozen = frozen;
  if (frozen) {
    boot_->freeze(instance.id);
  } else {
    boot_->thaw(instance.id);
  }
}

bool Cloud::is_visible(const Instance& instance) const {
  return instance.visible_from <= std::chrono::system_clock::now();
}

Instance* Cloud::find_visible(Region& region, const std::string& id) const {
  const auto found = region.by_id.find(id);
  return found == region.by_id.end() || !is_visible(*found->second) ? nullptr : found->second;
}

Instance* Cloud::find_anywhere(const std::string& id) {
  for (auto& [name, region] : regions_) {
    const auto found = region.by_id.find(id);
    if (found != region.by_id.end()) {
      return found->second;
    }
  }
  return nullptr;
}

std::string Cloud::address_of(const Instance& instance) const {
  const bool has_one =
      instance.state != InstanceState::terminated && instance.address_from <= std::chrono::steady_clock::now();
  return has_one ? instance.address : "";
}

std::string Cloud::hostname_of(const Instance& instance) const {
  return address_of(instance).empty() ? "" : instance.hostname;
}

std::string Cloud::new_id(std::string_view prefix) { return fmt::format("{}0{:016x}", prefix, random_()); }

std::string Cloud::new_request_id() {
  const auto high = random_();
  const auto low = random_();
  return fmt::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", high >> 32U, (high >> 16U) & 0xffffU, high & 0xfffU,
                     low >> 52U, low & 0xffffffffffffU);
}

void Cloud::reset() {
  for (auto& [name, region] : regions_) {
    for (auto& [sequence, instance] : region.instances) {
      boot_->stop(instance->id);
    }
  }
  ++generation_;
  regions_.clear();
  addresses_.reset();
  vcpus_used_ = spot_used_ = 0;
}

}  // namespace cloudsim::ec2
