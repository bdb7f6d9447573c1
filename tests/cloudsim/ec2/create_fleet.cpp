// SPDX-License-Identifier: Apache-2.0
// CreateFleet of type instant: pools in order of the strategy, instances and errors side by side.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "ec2/actions.h"

namespace cloudsim::ec2 {

namespace {

constexpr std::int64_t kMaxTarget = 10'000;
constexpr std::int64_t kMaxMinTarget = 1000;

/// One launch template with one override.
struct Pool {
  Parameters override_parameters;
  std::string template_id, template_version;
  LaunchSpec spec;
  double weight = 1;
  double priority = 1e9;
  std::optional<Refusal> broken{};  ///< it can never deliver
};

struct PoolError {
  const Pool* pool;
  bool spot;
  Refusal refusal;
};

struct Delivery {
  const Pool* pool;
  bool spot;
  std::int64_t count;
  std::vector<std::string> ids{};
};

struct Outcome {
  std::vector<Delivery> deliveries;
  std::vector<PoolError> errors;
};

/// What is asked for of one lifecycle.
struct Demand {
  bool spot = false;
  std::int64_t target = 0;
  std::int64_t minimum = 0;
  bool single_type = false, single_zone = false;
  std::string strategy;
};

void check_duplicates(const std::vector<Pool>& pools) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& pool : pools) {
    if (!pool.broken && !seen.emplace(pool.spec.type, pool.spec.zone).second) {
      throw ApiError("InvalidFleetConfig", "The fleet configuration contains duplicate instance pools.");
    }
  }
}

Pool make_pool(const Call& call, const Parameters& config, const Parameters& over) {
  if (over.text("SubnetId").find(',') != std::string::npos) {
    throw ApiError("InvalidFleetConfig", "A fleet of type instant can have only one subnet in an override.");
  }
  const auto from = resolve_template(call.region, config.at("LaunchTemplateSpecification"));
  auto launch = resolve_launch(call, over, from);
  Pool pool{over, launch.spec.template_id, from.version, std::move(launch.spec)};
  pool.broken = std::move(launch.refusal);
  pool.weight = over.number("WeightedCapacity").value_or(1);
  pool.priority = over.number("Priority").value_or(1e9);
  if (pool.weight <= 0) {
    throw ApiError("InvalidParameterValue", "WeightedCapacity must be greater than 0");
  }
  return pool;
}

std::vector<Pool> read_pools(const Call& call) {
  const auto configs = call.parameters.structures("LaunchTemplateConfigs");
  if (configs.empty()) {
    throw ApiError("MissingParameter", "The request must contain the parameter LaunchTemplateConfigs");
  }
  if (configs.size() > 50) {
    throw ApiError("InvalidParameterValue", "A fleet can have at most 50 launch template configurations");
  }
  std::vector<Pool> pools;
  for (const auto& config : configs) {
    const auto overrides = config.structures("Overrides");
    if (overrides.empty()) {
      pools.push_back(make_pool(call, config, config.at("Overrides.1")));
    }
    for (const auto& over : overrides) {
      pools.push_back(make_pool(call, config, over));
    }
  }
  check_duplicates(pools);
  const auto tags = tags_for(call.parameters, "instance");
  const auto token = call.parameters.text("ClientToken");
  for (auto& pool : pools) {
    pool.spec.tags = tags;
    pool.spec.client_token = token;
    if (pool.spec.metadata_tags && !pool.broken) {
      try {
        check_metadata_tag_keys(tags);
      } catch (const ApiError& error) {
        pool.broken = Refusal{error.code(), error.what()};
      }
    }
  }
  return pools;
}

Demand read_demand(const Parameters& options, bool spot, std::int64_t target) {
  Demand demand;
  demand.spot = spot;
  demand.target = target;
  demand.strategy =
      spot ? options.choice("AllocationStrategy", {"lowest-price", "diversified", "capacity-optimized",
                                                   "capacity-optimized-prioritized", "price-capacity-optimized"})
           : options.choice("AllocationStrategy", {"lowest-price", "prioritized"});
  demand.single_type = options.boolean("SingleInstanceType");
  demand.single_zone = options.boolean("SingleAvailabilityZone");
  demand.minimum = options.integer("MinTargetCapacity", 1, kMaxMinTarget).value_or(0);
  if (demand.minimum > 0 && !demand.single_type && !demand.single_zone) {
    throw ApiError("InvalidParameterCombination",
                   "MinTargetCapacity requires SingleInstanceType or SingleAvailabilityZone");
  }
  if (target > 0 && demand.minimum > target) {
    throw ApiError("InvalidParameterValue", "MinTargetCapacity must not exceed the target capacity");
  }
  return demand;
}

std::pair<Demand, Demand> read_demands(const Parameters& parameters) {
  const auto target = parameters.at("TargetCapacitySpecification");
  target.required("TotalTargetCapacity");
  const auto total = target.integer("TotalTargetCapacity", 1, kMaxTarget).value_or(0);
  auto on_demand = target.integer("OnDemandTargetCapacity", 0, total).value_or(0);
  auto spot = target.integer("SpotTargetCapacity", 0, total).value_or(0);
  if (on_demand + spot > total) {
    throw ApiError("InvalidTargetCapacitySpecification",
                   "OnDemandTargetCapacity and SpotTargetCapacity exceed TotalTargetCapacity");
  }
  const bool rest_is_spot = target.choice("DefaultTargetCapacityType", {"on-demand", "spot"}) == "spot";
  (rest_is_spot ? spot : on_demand) += total - on_demand - spot;
  parameters.choice("OnDemandOptions.CapacityReservationOptions.UsageStrategy", {"use-capacity-reservations-first"});
  parameters.choice("SpotOptions.InstanceInterruptionBehavior", {"terminate", "stop", "hibernate"});
  return {read_demand(parameters.at("OnDemandOptions"), false, on_demand),
          read_demand(parameters.at("SpotOptions"), true, spot)};
}

/// Reserves up to `wanted` instances of a pool; the refusal is why it is fewer.
std::pair<std::int64_t, std::optional<Refusal>> reserve_from(Cloud& cloud, const Pool& pool, bool spot,
                                                             std::int64_t wanted) {
  if (pool.broken) {
    return {0, pool.broken};
  }
  auto spec = pool.spec;
  spec.spot = spot;
  for (std::int64_t got = 0; got < wanted; ++got) {
    if (auto refusal = cloud.reserve(spec)) {
      return {got, std::move(refusal)};
    }
  }
  return {wanted, std::nullopt};
}

void give_back(Cloud& cloud, const Outcome& outcome) {
  for (const auto& delivery : outcome.deliveries) {
    for (std::int64_t i = 0; i < delivery.count; ++i) {
      cloud.release(delivery.pool->spec.type, delivery.pool->spec.zone, delivery.pool->spec.subnet_id, delivery.spot);
    }
  }
}

double units(const Outcome& outcome) {
  double sum = 0;
  for (const auto& delivery : outcome.deliveries) {
    sum += static_cast<double>(delivery.count) * delivery.pool->weight;
  }
  return sum;
}

/// Goes through the pools; with `diversified`, first an equal share each, then what is missing.
Outcome fill(Cloud& cloud, const std::vector<const Pool*>& pools, const Demand& demand) {
  Outcome outcome;
  const auto target = static_cast<double>(demand.target);
  const auto take = [&](const Pool& pool, double most_units) {
    const double missing = std::min(most_units, target - units(outcome));
    const auto wanted = static_cast<std::int64_t>(std::ceil(missing / pool.weight - 1e-9));
    if (wanted <= 0) {
      return;
    }
    auto [got, refusal] = reserve_from(cloud, pool, demand.spot, wanted);
    if (got > 0) {
      outcome.deliveries.push_back({&pool, demand.spot, got});
    }
    if (refusal) {
      outcome.errors.push_back({&pool, demand.spot, std::move(*refusal)});
    }
  };
  if (demand.spot && demand.strategy == "diversified") {
    for (const auto* pool : pools) {
      take(*pool, std::ceil(target / static_cast<double>(pools.size())));
    }
  }
  for (const auto* pool : pools) {
    const bool refused = std::any_of(outcome.errors.begin(), outcome.errors.end(),
                                     [&](const auto& error) { return error.pool == pool; });
    if (!refused) {
      take(*pool, target);
    }
  }
  return outcome;
}

std::vector<const Pool*> ordered(const std::vector<Pool>& pools, const Demand& demand) {
  std::vector<const Pool*> out(pools.size());
  std::transform(pools.begin(), pools.end(), out.begin(), [](const auto& pool) { return &pool; });
  if (demand.strategy.ends_with("prioritized")) {
    std::stable_sort(out.begin(), out.end(),
                     [](const auto* left, const auto* right) { return left->priority < right->priority; });
  }
  return out;
}

/// With SingleInstanceType or SingleAvailabilityZone: the first group of pools that gives all, else the one that gives
/// most; nothing at all when that is less than the minimum.
Outcome serve(Cloud& cloud, const std::vector<Pool>& pools, const Demand& demand) {
  const auto all = ordered(pools, demand);
  if (demand.target == 0) {
    return {};
  }
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<const Pool*>>> groups;
  for (const auto* pool : all) {
    const std::pair key{demand.single_type ? pool->spec.type : "", demand.single_zone ? pool->spec.zone : ""};
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) { return known.first == key; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {key, {}});
    }
    group->second.push_back(pool);
  }
  Outcome best;
  std::vector<PoolError> errors;
  for (const auto& [key, members] : groups) {
    auto outcome = fill(cloud, members, demand);
    errors.insert(errors.end(), outcome.errors.begin(), outcome.errors.end());
    if (units(outcome) > units(best)) {
      std::swap(best, outcome);
    }
    give_back(cloud, outcome);
    if (units(best) >= static_cast<double>(demand.target)) {
      break;
    }
  }
  if (units(best) < static_cast<double>(demand.minimum)) {
    give_back(cloud, best);
    best.deliveries.clear();
  }
  best.errors = std::move(errors);
  return best;
}

/// The knob `fleet_extra`: EC2 delivering more than was asked for, or silently less.
void over_or_under_deliver(Cloud& cloud, Outcome& outcome) {
  auto extra = cloud.ec2_knobs().fleet_extra;
  if (outcome.deliveries.empty()) {
    return;
  }
  auto& last = outcome.deliveries.back();
  for (; extra > 0; --extra) {
    auto spec = last.pool->spec;
    spec.spot = last.spot;
    if (cloud.reserve(spec)) {
      return;
    }
    ++last.count;
  }
  for (; extra < 0 && !outcome.deliveries.empty(); ++extra) {
    auto& delivery = outcome.deliveries.back();
    cloud.release(delivery.pool->spec.type, delivery.pool->spec.zone, delivery.pool->spec.subnet_id, delivery.spot);
    if (--delivery.count == 0) {
      outcome.deliveries.pop_back();
    }
  }
}

void write_pool(XmlWriter& xml, const Pool& pool, bool spot) {
  const auto& over = pool.override_parameters;
  xml.element("launchTemplateAndOverrides", [&] {
    xml.element("launchTemplateSpecification", [&] {
      if (!pool.template_id.empty()) {
        xml.text("launchTemplateId", pool.template_id);
        xml.text("version", pool.template_version);
      }
    });
    xml.element("overrides", [&] {
      for (const auto& [name, wire] : {std::pair{"InstanceType", "instanceType"},
                                       {"SubnetId", "subnetId"},
                                       {"AvailabilityZone", "availabilityZone"},
                                       {"WeightedCapacity", "weightedCapacity"},
                                       {"Priority", "priority"}}) {
        if (over.has(name)) {
          xml.text(wire, over.text(name));
        }
      }
      if (over.has("Placement.GroupName")) {
        xml.element("placement", [&] { xml.text("groupName", over.text("Placement.GroupName")); });
      }
    });
  });
  xml.text("lifecycle", spot ? "spot" : "on-demand");
}

void launch_all(const Call& call, Outcome& outcome, const std::string& fleet_id) {
  for (auto& delivery : outcome.deliveries) {
    auto spec = delivery.pool->spec;
    spec.spot = delivery.spot;
    spec.fleet_id = fleet_id;
    spec.reservation_id = call.cloud.new_id("r-");
    for (std::int64_t i = 0; i < delivery.count; ++i) {
      delivery.ids.push_back(call.cloud.launch(call.region, spec).id);
    }
  }
}

std::string render(const Outcome& outcome, const std::string& fleet_id) {
  XmlWriter xml;
  xml.text("fleetId", fleet_id);
  xml.element("errorSet", [&] {
    for (const auto& error : outcome.errors) {
      xml.element("item", [&] {
        write_pool(xml, *error.pool, error.spot);
        xml.text("errorCode", error.refusal.code);
        xml.text("errorMessage", error.refusal.message);
      });
    }
  });
  xml.element("fleetInstanceSet", [&] {
    for (const auto& delivery : outcome.deliveries) {
      xml.element("item", [&] {
        write_pool(xml, *delivery.pool, delivery.spot);
        xml.element("instanceIds", [&] {
          for (const auto& id : delivery.ids) {
            xml.text("item", id);
          }
        });
        xml.text("instanceType", delivery.pool->spec.type);
      });
    }
  });
  return xml.take();
}

/// The fault `fleet_error`: only `delivered` of what was asked for, and its code for the rest.
void limit_to_fault(const Fault& fault, Demand& on_demand, Demand& spot) {
  on_demand.target = std::min(on_demand.target, fault.delivered);
  spot.target = std::min(spot.target, fault.delivered - on_demand.target);
}

}  // namespace

std::string create_fleet(const Call& call) {
  if (call.parameters.text("Type", "maintain") != "instant") {
    throw ApiError("Unsupported", "cloudsim simulates only fleets of type instant");
  }
  if (auto body = replayed(call, "CreateFleet")) {
    return *body;
  }
  auto [on_demand, spot] = read_demands(call.parameters);
  const auto pools = read_pools(call);
  const bool faulty = call.fault && call.fault->kind == FaultKind::fleet_error;
  const bool first_is_spot = on_demand.target == 0;
  if (faulty) {
    limit_to_fault(*call.fault, on_demand, spot);
  }
  auto outcome = serve(call.cloud, pools, on_demand);
  auto more = serve(call.cloud, pools, spot);
  std::move(more.deliveries.begin(), more.deliveries.end(), std::back_inserter(outcome.deliveries));
  std::move(more.errors.begin(), more.errors.end(), std::back_inserter(outcome.errors));
  if (faulty) {
    outcome.errors.push_back({&pools.front(), first_is_spot, {call.fault->code, call.fault->message}});
  }
  over_or_under_deliver(call.cloud, outcome);
  const auto fleet_id = call.cloud.new_id("fleet-");
  launch_all(call, outcome, fleet_id);
  auto body = render(outcome, fleet_id);
  remember(call, "CreateFleet", body);
  return body;
}

}  // namespace cloudsim::ec2
