// SPDX-License-Identifier: Apache-2.0
// Machines: what they look like, and the methods that read and delete them.
#include <utility>

#include <fmt/format.h>

#include "gce/methods.h"
#include "gce/names.h"
#include "gce/pages.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kFingerprint = "42WmSpB8rSM=";

// A reference from "global/" or "regions/" on belongs to the project.
std::string full_link(const std::string& project, const std::string& reference) {
  const auto resource = without_host(reference);
  return link_to(resource.starts_with("projects/") ? resource : "projects/" + project + "/" + resource);
}

Json interfaces_of(const Cloud& cloud, const Instance& instance) {
  const auto& place = instance.place;
  auto out = instance.properties.value("networkInterfaces", Json::array());
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto& card = out[i];
    card["kind"] = "compute#networkInterface";
    card["name"] = fmt::format("nic{}", i);
    card["fingerprint"] = kFingerprint;
    card["stackType"] = "IPV4_ONLY";
    card["network"] = full_link(place.project, card.value("network", "global/networks/default"));
    card["subnetwork"] = full_link(
        place.project, card.value("subnetwork", "regions/" + region_of_zone(place.zone) + "/subnetworks/default"));
    if (const auto address = cloud.address_of(instance); i == 0 && !address.empty()) {
      card["networkIP"] = address;
    }
  }
  return out;
}

Json disks_of(const Instance& instance) {
  auto out = instance.properties.value("disks", Json::array());
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto& disk = out[i];
    disk.erase("initializeParams");
    disk["kind"] = "compute#attachedDisk";
    disk["index"] = i;
    disk["mode"] = "READ_WRITE";
    disk["deviceName"] = fmt::format("persistent-disk-{}", i);
    disk["source"] = link_to(fmt::format("projects/{}/zones/{}/disks/{}", instance.place.project, instance.place.zone,
                                         i == 0 ? instance.place.name : fmt::format("{}-{}", instance.place.name, i)));
  }
  return out;
}

Json scheduling_of(const Instance& instance) {
  const bool stays = !instance.spot && model_of(instance.properties) == "STANDARD";
  Json out{{"onHostMaintenance", stays ? "MIGRATE" : "TERMINATE"},
           {"automaticRestart", stays},
           {"preemptible", instance.spot},
           {"provisioningModel", model_of(instance.properties)}};
  out.update(instance.properties.value("scheduling", Json::object()));
  return out;
}

Json metadata_of(const Instance& instance) {
  Json out = instance.properties.value("metadata", Json::object());
  out["kind"] = "compute#metadata";
  out["fingerprint"] = kFingerprint;
  return out;
}

Place place_of(const ApiCall& call) {
  return {parameter(call, "project"), parameter(call, "zone"), parameter(call, "instance")};
}

Instance& instance_of(World& world, const ApiCall& call) {
  const auto place = place_of(call);
  auto* const found = world.cloud.find(place);
  if (found == nullptr) {
    throw not_found(place.resource());
  }
  return *found;
}

/// Those that lists show, in one zone or, with an empty one, in all.
std::vector<Listed> listed(const World& world, const std::string& project, const std::string& zone) {
  const auto prefix = "projects/" + project + "/zones/" + (zone.empty() ? "" : zone + "/");
  const auto& all = world.cloud.instances();
  std::vector<Listed> out;
  for (auto at = all.lower_bound(prefix); at != all.end() && at->first.starts_with(prefix); ++at) {
    const auto& instance = *at->second;
    if (world.cloud.is_visible(instance) && world.cloud.knobs().unreachable.count(instance.place.zone) == 0) {
      out.push_back({instance.place.zone + "/" + instance.place.name,
                     [&world, &instance] { return to_json(world.cloud, instance); }});
    }
  }
  return out;
}

Json warning(const std::string& code, const std::string& message, const std::string& scope) {
  return {{"warning", {{"code", code}, {"message", message}, {"data", {{{"key", "scope"}, {"value", scope}}}}}}};
}

}  // namespace

Json to_json(const Cloud& cloud, const Instance& instance) {
  const auto& place = instance.place;
  const auto home = "projects/" + place.project + "/zones/" + place.zone;
  Json out{{"kind", "compute#instance"},
           {"id", std::to_string(instance.id)},
           {"creationTimestamp", timestamp(instance.launched)},
           {"name", place.name},
           {"machineType", link_to(home + "/machineTypes/" + instance.type)},
           {"status", name_of(instance.state)},
           {"zone", link_to(home)},
           {"networkInterfaces", interfaces_of(cloud, instance)},
           {"disks", disks_of(instance)},
           {"metadata", metadata_of(instance)},
           {"scheduling", scheduling_of(instance)},
           {"selfLink", link_to(place.resource())},
           {"cpuPlatform", "Intel Cascade Lake"},
           {"labelFingerprint", kFingerprint},
           {"fingerprint", kFingerprint},
           {"deletionProtection", false},
           {"startRestricted", false},
           {"resourceStatus", {{"scheduling", Json::object()}}}};
  for (const auto* const key : {"labels", "tags", "serviceAccounts", "reservationAffinity", "resourcePolicies",
                                "guestAccelerators", "description", "canIpForward", "minCpuPlatform"}) {
    if (instance.properties.contains(key)) {
      out[key] = instance.properties[key];
    }
  }
  if (instance.state >= InstanceState::staging) {
    out["lastStartTimestamp"] = timestamp(instance.launched);
  }
  if (instance.ends) {
    out["resourceStatus"]["scheduling"]["terminationTimestamp"] = timestamp(*instance.ends);
  }
  return out;
}

Json get_instance(World& world, const ApiCall& call) { return to_json(world.cloud, instance_of(world, call)); }

Json list_instances(World& world, const ApiCall& call) {
  return list_reply("compute#instanceList", home_of(call) + "/instances",
                    page_of(call, "Instance", listed(world, parameter(call, "project"), parameter(call, "zone"))));
}

Json aggregated_instances(World& world, const ApiCall& call) {
  const auto& knobs = world.cloud.knobs();
  const auto project = parameter(call, "project");
  const bool partial = parameter(call, "returnPartialSuccess") == "true";
  if (!knobs.unreachable.empty() && !partial) {
    throw api_error(503, "backendError",
                    fmt::format("The zone '{}' is currently unreachable.", *knobs.unreachable.begin()));
  }
  auto page = page_of(call, "Instance", listed(world, project, ""));
  auto items = Json::object();
  auto unreachables = Json::array();
  for (auto& instance : page.items) {
    items["zones/" + last_segment(instance["zone"])]["instances"].push_back(std::move(instance));
  }
  for (const auto& [region, letters] : knobs.regions) {
    for (const auto& letter : letters) {
      const auto zone = region + "-" + letter;
      const auto scope = "zones/" + zone;
      if (knobs.unreachable.count(zone) != 0) {
        items[scope] = warning("UNREACHABLE", fmt::format("The scope '{}' is unreachable.", scope), scope);
        unreachables.push_back(scope);
      } else if (!items.contains(scope)) {
        items[scope] = warning("NO_RESULTS_ON_PAGE",
                               fmt::format("There are no results for scope '{}' on this page.", scope), scope);
      }
    }
  }
  page.items.clear();
  auto out =
      list_reply("compute#instanceAggregatedList", "projects/" + project + "/aggregated/instances", std::move(page));
  out["items"] = std::move(items);
  if (!unreachables.empty()) {
    out["unreachables"] = std::move(unreachables);
  }
  return out;
}

Json delete_instance(World& world, const ApiCall& call) {
  auto& instance = instance_of(world, call);
  auto& operation = world.operations.begin(
      {instance.place.project, location_of(call), "delete", instance.place.resource(), instance.id, ""});
  auto out = to_json(operation);
  // Both must have passed: the operation's own time, and the machine's.
  world.cloud.remove(instance, [&world, key = Operations::key_of(operation), begun = std::chrono::steady_clock::now()] {
    const auto passed = std::chrono::steady_clock::now() - begun;
    const auto left = std::chrono::duration_cast<Millis>(world.cloud.knobs().operation - passed);
    world.cloud.later(std::max(left, Millis{0}), [&world, key] { world.operations.finish(key); });
  });
  return out;
}

}  // namespace cloudsim::gce
