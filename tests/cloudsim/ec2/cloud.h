// SPDX-License-Identifier: Apache-2.0
// The state of the simulated EC2 and what happens to instances in the course of time; it knows no protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "address_pool.h"
#include "ec2/ec2_knobs.h"
#include "ec2/model.h"
#include "event_loop.h"
#include "knobs.h"
#include "machine_boot.h"

namespace cloudsim::ec2 {

/// What a new instance is to be.
struct LaunchSpec {
  std::string type, image_id, zone, subnet_id, placement_group;
  std::string template_id, template_version;
  std::string reservation_id, fleet_id, client_token;
  bool spot = false;
  bool metadata_tags = false;
  Tags tags;
};

struct Refusal {
  std::string code, message;
};

class Cloud {
 public:
  /// All of them outlive the cloud. `metadata_base` is the URL that an instance's id is appended to.
  Cloud(EventLoop& loop, MachineBoot& boot, Knobs& knobs, Ec2Knobs& ec2_knobs, std::uint64_t seed);

  Region& region(const std::string& name);  ///< made on first use
  const std::map<std::string, Region>& regions() const { return regions_; }
  void preload_known_regions();  ///< with the templates and subnets that the knobs have got since
  void set_metadata_base(std::string url) { metadata_base_ = std::move(url); }

  /// Takes capacity and quota for one instance; what is taken is given back by release() or an instance's end.
  std::optional<Refusal> reserve(const LaunchSpec& spec);
  void release(const std::string& type, const std::string& zone, const std::string& subnet_id, bool spot);
  /// Makes an instance. Its place was reserved. `boots` false: it never runs the boot command.
  Instance& launch(Region& region, const LaunchSpec& spec, bool boots = true);
  void terminate(Instance& instance, const std::string& reason_code, const std::string& reason_message);
  void freeze(Instance& instance, bool frozen);

  /// As describe and tag calls see it: null for one that does not exist yet.
  Instance* find_visible(Region& region, const std::string& id) const;
  Instance* find_anywhere(const std::string& id);
  bool is_visible(const Instance& instance) const;
  std::string address_of(const Instance& instance) const;  ///< empty while there is none
  std::string hostname_of(const Instance& instance) const;

  /// `prefix` and 17 hexadecimal digits.
  std::string new_id(std::string_view prefix);
  std::string new_request_id();
  std::mt19937_64& random() { return random_; }
  const Ec2Knobs& ec2_knobs() const { return *ec2_knobs_; }
  const Knobs& knobs() const { return *knobs_; }
  void reset();  ///< every instance ends at once, all regions are as at the start

 private:
  void preload(Region& region) const;
  void became_running(std::uint64_t generation, const std::string& region, std::uint64_t sequence);
  void ended(std::uint64_t generation, const std::string& region, std::uint64_t sequence);
  void later(Millis delay, const Instance& instance,
             void (Cloud::*step)(std::uint64_t, const std::string&, std::uint64_t));
  Instance* find(const std::string& region, std::uint64_t sequence);
  CapacityRule* capacity_rule(const std::string& type, const std::string& zone, const std::string& subnet_id,
                              bool spot);

  EventLoop* loop_;
  MachineBoot* boot_;
  Knobs* knobs_;
  Ec2Knobs* ec2_knobs_;
  std::mt19937_64 random_;
  std::map<std::string, Region> regions_;
  std::string metadata_base_;
  std::uint64_t generation_ = 0;  ///< counts resets: timers of an earlier one do nothing
  std::uint64_t launches_ = 0;
  AddressPool addresses_;
  std::int64_t vcpus_used_ = 0;
  std::int64_t spot_used_ = 0;
};

/// From the size in the name: `c5.2xlarge` has 8.
std::int64_t vcpus_of(const std::string& instance_type);

}  // namespace cloudsim::ec2
