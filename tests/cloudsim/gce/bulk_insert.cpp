// SPDX-License-Identifier: Apache-2.0
// bulkInsert, in a zone and in a region: many machines by one call, whose operation tells how many there are.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "gce/methods.h"
#include "gce/names.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostAtOnce = 5000;

enum class Shape { any, any_single_zone, balanced };

/// What is asked for.
struct Order {
  std::string project, location;
  std::vector<std::string> names, zones;
  std::int64_t min_count = 0;
  Shape shape = Shape::any;
  Json properties;
};

struct Refused {
  Place place;
  Failure failure;
};

/// What came of it.
struct Outcome {
  std::vector<Place> created;
  std::vector<Refused> refused;
};

std::vector<std::string> names_of(const Json& body, std::int64_t count) {
  std::vector<std::string> names;
  const auto pattern = body.value("namePattern", "");
  const auto hash = pattern.find('#');
  if (hash != std::string::npos) {
    const auto digits = pattern.find_first_not_of('#', hash) == std::string::npos
                            ? pattern.size() - hash
                            : pattern.find_first_not_of('#', hash) - hash;
    for (std::int64_t i = 1; i <= count; ++i) {
      names.push_back(pattern.substr(0, hash) + fmt::format("{:0{}}", i, digits) + pattern.substr(hash + digits));
    }
  }
  const auto each = body.value("perInstanceProperties", Json::object());
  for (const auto& [name, properties] : each.items()) {
    names.push_back(name);
  }
  const auto wrong = std::find_if_not(names.begin(), names.end(), is_resource_name);
  if (wrong != names.end()) {
    throw invalid_field("resource.perInstanceProperties", *wrong,
                        "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'");
  }
  if (static_cast<std::int64_t>(names.size()) != count) {
    throw invalid_field(
        "resource.perInstanceProperties", std::to_string(names.size()),
        fmt::format("The number of names must be the count, {}; give either names or a name pattern.", count));
  }
  return names;
}

Json properties_of(World& world, const Json& body, const std::string& project) {
  auto properties = Json::object();
  const auto reference = body.value("sourceInstanceTemplate", "");
  if (reference.empty() && !body.contains("instanceProperties")) {
    throw api_error(400, "required",
                    "Either 'resource.instanceProperties' or 'resource.sourceInstanceTemplate' must be specified.");
  }
  if (!reference.empty()) {
    properties = world.templates.resolve(project, reference, "resource.sourceInstanceTemplate").properties;
  }
  properties.merge_patch(body.value("instanceProperties", Json::object()));
  check_properties(properties, "resource.instanceProperties");
  return properties;
}

std::string zone_in(const std::string& reference, const std::string& region, const GceKnobs& knobs) {
  auto zone = segment_after(reference, "zones");
  if (zone.empty() || region_of_zone(zone) != region || !zone_exists(knobs, zone)) {
    throw invalid_field("resource.locationPolicy", reference, "It is no zone of region '" + region + "'.");
  }
  return zone;
}

/// Those that the policy allows: a list of zones, or all of the region but those denied.
std::vector<std::string> zones_of(const Json& policy, const std::string& region, const GceKnobs& knobs) {
  std::vector<std::string> zones;
  if (policy.contains("zones")) {
    if (policy.contains("locations")) {
      throw invalid("'locationPolicy.zones' and 'locationPolicy.locations' must not be given together.");
    }
    for (const auto& item : policy["zones"]) {
      zones.push_back(zone_in(item.value("zone", ""), region, knobs));
    }
  } else {
    std::set<std::string> denied;
    const auto locations = policy.value("locations", Json::object());
    for (const auto& [reference, location] : locations.items()) {
      const auto zone = zone_in(reference, region, knobs);
      if (location.value("preference", "ALLOW") == "DENY") {
        denied.insert(zone);
      }
    }
    for (const auto& letter : knobs.regions.at(region)) {
      if (const auto zone = region + "-" + letter; denied.count(zone) == 0) {
        zones.push_back(zone);
      }
    }
  }
  if (zones.empty()) {
    throw invalid("The location policy allows no zone.");
  }
  return zones;
}

Shape shape_of(const Json& policy) {
  static const std::map<std::string, Shape> kShapes{
      {"ANY", Shape::any}, {"ANY_SINGLE_ZONE", Shape::any_single_zone}, {"BALANCED", Shape::balanced}};
  const auto text = policy.value("targetShape", "ANY");
  const auto found = kShapes.find(text);
  if (found == kShapes.end()) {
    throw invalid_field("resource.locationPolicy.targetShape", text, "Unknown enum value.");
  }
  return found->second;
}

Order order_of(World& world, const ApiCall& call) {
  const auto& body = call.body;
  Order out;
  out.project = parameter(call, "project");
  out.location = location_of(call);
  const auto count = std::stoll(body.value("count", "0"));
  if (count < 1 || count > kMostAtOnce) {
    throw invalid_field("resource.count", std::to_string(count),
                        fmt::format("Must be greater than or equal to 1 and not above {}.", kMostAtOnce));
  }
  out.min_count = std::stoll(body.value("minCount", std::to_string(count)));
  if (out.min_count < 1 || out.min_count > count) {
    throw invalid_field("resource.minCount", std::to_string(out.min_count), "Must be from 1 to the count, inclusive.");
  }
  out.names = names_of(body, count);
  out.properties = properties_of(world, body, out.project);
  const auto zone = parameter(call, "zone");
  if (!zone.empty() && body.contains("locationPolicy")) {
    throw invalid("'resource.locationPolicy' must not be given for a request to a zone.");
  }
  const auto policy = body.value("locationPolicy", Json::object());
  out.shape = shape_of(policy);
  out.zones =
      zone.empty() ? zones_of(policy, parameter(call, "region"), world.cloud.knobs()) : std::vector<std::string>{zone};
  if (const auto type = type_of(out.properties); !machine_type_exists(type)) {
    throw invalid_field("resource.instanceProperties.machineType", type,
                        fmt::format("Machine type with name '{}' does not exist in zone '{}'.", type, out.zones[0]));
  }
  return out;
}

/// The one that has room for all, or for most.
std::string best_zone(const Cloud& cloud, const Order& order) {
  const auto room = [&](const std::string& zone) {
    return std::min(cloud.available(order.properties, {order.project, zone, ""}),
                    static_cast<std::int64_t>(order.names.size()));
  };
  return *std::max_element(order.zones.begin(), order.zones.end(),
                           [&](const auto& a, const auto& b) { return room(a) < room(b); });
}

Outcome launch_all(Cloud& cloud, const Order& order) {
  const auto zones =
      order.shape == Shape::any_single_zone ? std::vector<std::string>{best_zone(cloud, order)} : order.zones;
  Outcome out;
  std::size_t turn = 0;
  for (const auto& name : order.names) {
    std::optional<Failure> refusal;
    for (std::size_t tried = 0; tried < zones.size(); ++tried) {
      const auto first = order.shape == Shape::balanced ? turn : 0;
      const Place place{order.project, zones[(first + tried) % zones.size()], name};
      refusal = cloud.launch({place, order.properties, ""});
      if (!refusal) {
        out.created.push_back(place);
        break;
      }
      if (tried + 1 == zones.size() || refusal->code == "RESOURCE_ALREADY_EXISTS") {
        out.refused.push_back({place, *refusal});
        break;
      }
    }
    ++turn;
  }
  return out;
}

Json per_location(const Outcome& outcome, const std::string& status, bool rolled_back) {
  struct Counts {
    std::int64_t created = 0, refused = 0;
  };
  std::map<std::string, Counts> zones;
  for (const auto& place : outcome.created) {
    ++zones[place.zone].created;
  }
  for (const auto& refused : outcome.refused) {
    ++zones[refused.place.zone].refused;
  }
  auto out = Json::object();
  for (const auto& [zone, counts] : zones) {
    out["zones/" + zone] = {{"targetVmCount", counts.created + counts.refused},
                            {"createdVmCount", counts.created},
                            {"deletedVmCount", rolled_back ? counts.created : 0},
                            {"failedToCreateVmCount", counts.refused},
                            {"status", status}};
  }
  return {{"perLocationStatus", out}};
}

/// Follows an order to its end.
class BulkInsert {
 public:
  BulkInsert(World& world, const Order& order) : world_(world), min_count_(order.min_count) {
    group_ = world.cloud.new_uuid();
    auto& operation = world.operations.begin(
        {order.project, order.location, "bulkInsert", "projects/" + order.project + "/" + order.location, 0, group_});
    key_ = Operations::key_of(operation);
    outcome_ = launch_all(world.cloud, order);
    operation.bulk_insert = per_location(outcome_, "CREATING", false);
    failed_ = static_cast<std::int64_t>(outcome_.created.size()) < min_count_;
    begin_inserts();
  }

  const std::string& key() const { return key_; }

  void end() {
    for (const auto& [key, failures] : inserts_) {
      world_.operations.finish(key, failures);
    }
    if (failed_ && !outcome_.created.empty()) {
      roll_back();
    } else {
      finish();
    }
  }

 private:
  void begin_inserts() {
    if (failed_ && !world_.cloud.knobs().insert_operations) {
      return;
    }
    const auto begin = [&](const Place& place, std::vector<Failure> failures) {
      const auto* const instance = failures.empty() ? world_.cloud.find(place) : nullptr;
      const auto& operation = world_.operations.begin({place.project, "zones/" + place.zone, "insert", place.resource(),
                                                       instance == nullptr ? 0 : instance->id, group_});
      inserts_.emplace_back(Operations::key_of(operation), std::move(failures));
    };
    for (const auto& place : outcome_.created) {
      begin(place, {});
    }
    for (const auto& refused : outcome_.refused) {
      begin(refused.place, {refused.failure});
    }
  }

  void roll_back() {
    if (auto* const operation = world_.operations.find(key_)) {
      operation->bulk_insert = per_location(outcome_, "ROLLING_BACK", false);
    }
    auto left = std::make_shared<std::size_t>(outcome_.created.size());
    for (const auto& place : outcome_.created) {
      auto* const instance = world_.cloud.find(place);
      const auto gone = [self = *this, left]() mutable {
        if (--*left == 0) {
          self.finish();
        }
      };
      if (instance == nullptr) {
        gone_already(gone);
      } else {
        world_.cloud.remove(*instance, gone);
      }
    }
  }

  template <typename Gone>
  void gone_already(Gone gone) {
    world_.cloud.later(Millis{0}, gone);
  }

  void finish() {
    if (auto* const operation = world_.operations.find(key_)) {
      operation->bulk_insert = per_location(outcome_, "DONE", failed_);
    }
    std::vector<Failure> failures;
    if (failed_) {
      failures.push_back({"VM_MIN_COUNT_NOT_REACHED",
                          fmt::format("Requested minimum count of {} VMs could not be created.", min_count_)});
    }
    world_.operations.finish(key_, failures);
  }

  World world_;
  std::string key_, group_;
  std::int64_t min_count_;
  bool failed_ = false;
  Outcome outcome_;
  std::vector<std::pair<std::string, std::vector<Failure>>> inserts_;
};

Json bulk_insert(World& world, const ApiCall& call) {
  auto work = std::make_shared<BulkInsert>(world, order_of(world, call));
  world.cloud.later(world.cloud.knobs().operation, [work] { work->end(); });
  return to_json(*world.operations.find(work->key()));
}

}  // namespace

Json bulk_insert_in_zone(World& world, const ApiCall& call) { return bulk_insert(world, call); }

Json bulk_insert_in_region(World& world, const ApiCall& call) { return bulk_insert(world, call); }

}  // namespace cloudsim::gce
