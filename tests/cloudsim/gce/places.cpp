// SPDX-License-Identifier: Apache-2.0
// Projects, regions, zones and machine types.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "gce/methods.h"
#include "gce/names.h"
#include "gce/pages.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

struct MachineType {
  const char* name;
  int cpus;
  int memory_mb;
  const char* accelerator;  ///< null: none
  int accelerators;
};

// Source: cloud.google.com/compute/docs/machine-resource.
constexpr std::array<MachineType, 30> kMachineTypes{{
    {"a2-highgpu-1g", 12, 87040, "nvidia-tesla-a100", 1},
    {"a2-highgpu-8g", 96, 696320, "nvidia-tesla-a100", 8},
    {"a3-highgpu-8g", 208, 1916928, "nvidia-h100-80gb", 8},
    {"a3-megagpu-8g", 208, 1916928, "nvidia-h100-mega-80gb", 8},
    {"a3-ultragpu-8g", 224, 3022848, "nvidia-h200-141gb", 8},
    {"a4-highgpu-8g", 224, 4063232, "nvidia-b200", 8},
    {"c2-standard-4", 4, 16384, nullptr, 0},
    {"c2-standard-60", 60, 245760, nullptr, 0},
    {"c2d-standard-112", 112, 458752, nullptr, 0},
    {"c3-standard-4", 4, 16384, nullptr, 0},
    {"c3-standard-176", 176, 720896, nullptr, 0},
    {"e2-medium", 2, 4096, nullptr, 0},
    {"e2-micro", 2, 1024, nullptr, 0},
    {"e2-standard-2", 2, 8192, nullptr, 0},
    {"e2-standard-4", 4, 16384, nullptr, 0},
    {"g2-standard-4", 4, 16384, "nvidia-l4", 1},
    {"g2-standard-96", 96, 393216, "nvidia-l4", 8},
    {"h3-standard-88", 88, 360448, nullptr, 0},
    {"h4d-standard-192", 192, 737280, nullptr, 0},
    {"n1-standard-1", 1, 3840, nullptr, 0},
    {"n1-standard-4", 4, 15360, nullptr, 0},
    {"n2-highmem-4", 4, 32768, nullptr, 0},
    {"n2-standard-16", 16, 65536, nullptr, 0},
    {"n2-standard-2", 2, 8192, nullptr, 0},
    {"n2-standard-32", 32, 131072, nullptr, 0},
    {"n2-standard-4", 4, 16384, nullptr, 0},
    {"n2-standard-8", 8, 32768, nullptr, 0},
    {"n2d-standard-4", 4, 16384, nullptr, 0},
    {"n4-standard-4", 4, 16384, nullptr, 0},
    {"t2d-standard-4", 4, 16384, nullptr, 0},
}};

// Of the same name, the same one in every run.
std::string id_of(const std::string& text) {
  return std::to_string(1000 + std::hash<std::string>()(text) % 1'000'000'000);
}

Json zone_json(const std::string& project, const std::string& zone) {
  const auto home = "projects/" + project;
  return {{"kind", "compute#zone"},
          {"id", id_of(zone)},
          {"creationTimestamp", "1969-12-31T16:00:00.000-08:00"},
          {"name", zone},
          {"description", zone},
          {"status", "UP"},
          {"region", link_to(home + "/regions/" + region_of_zone(zone))},
          {"selfLink", link_to(home + "/zones/" + zone)},
          {"availableCpuPlatforms", {"Intel Ice Lake", "Intel Cascade Lake"}},
          {"supportsPzs", false}};
}

Json region_json(const GceKnobs& knobs, const std::string& project, const std::string& region) {
  auto zones = Json::array();
  for (const auto& letter : knobs.regions.at(region)) {
    zones.push_back(link_to(fmt::format("projects/{}/zones/{}-{}", project, region, letter)));
  }
  const auto limit = knobs.vm_quota ? static_cast<double>(*knobs.vm_quota) : 6000.0;
  return {{"kind", "compute#region"},
          {"id", id_of(region)},
          {"creationTimestamp", "1969-12-31T16:00:00.000-08:00"},
          {"name", region},
          {"description", region},
          {"status", "UP"},
          {"zones", zones},
          {"quotas", {{{"metric", "INSTANCES"}, {"limit", limit}}}},
          {"selfLink", link_to("projects/" + project + "/regions/" + region)},
          {"supportsPzs", false}};
}

Json type_json(const std::string& project, const std::string& zone, const MachineType& type) {
  Json out{{"kind", "compute#machineType"},
           {"id", id_of(type.name)},
           {"creationTimestamp", "1969-12-31T16:00:00.000-08:00"},
           {"name", type.name},
           {"description", fmt::format("{} vCPUs, {} GB RAM", type.cpus, type.memory_mb / 1024)},
           {"guestCpus", type.cpus},
           {"memoryMb", type.memory_mb},
           {"imageSpaceGb", 0},
           {"maximumPersistentDisks", 128},
           {"maximumPersistentDisksSizeGb", "263168"},
           {"zone", zone},
           {"selfLink", link_to(fmt::format("projects/{}/zones/{}/machineTypes/{}", project, zone, type.name))},
           {"isSharedCpu", false},
           {"architecture", "X86_64"}};
  if (type.accelerator != nullptr) {
    out["accelerators"] = {{{"guestAcceleratorType", type.accelerator}, {"guestAcceleratorCount", type.accelerators}}};
  }
  return out;
}

}  // namespace

std::string parameter(const ApiCall& call, const std::string& name) {
  const auto found = call.parameters.find(name);
  return found == call.parameters.end() ? "" : found->second;
}

std::string location_of(const ApiCall& call) {
  if (const auto zone = parameter(call, "zone"); !zone.empty()) {
    return "zones/" + zone;
  }
  const auto region = parameter(call, "region");
  return region.empty() ? "global" : "regions/" + region;
}

std::string home_of(const ApiCall& call) { return "projects/" + parameter(call, "project") + "/" + location_of(call); }

bool zone_exists(const GceKnobs& knobs, const std::string& zone) {
  const auto region = knobs.regions.find(region_of_zone(zone));
  return region != knobs.regions.end() && std::find(region->second.begin(), region->second.end(),
                                                    zone.substr(zone.rfind('-') + 1)) != region->second.end();
}

bool machine_type_exists(const std::string& type) {
  return std::any_of(kMachineTypes.begin(), kMachineTypes.end(), [&](const auto& known) { return type == known.name; });
}

void check_places(const GceKnobs& knobs, const ApiCall& call) {
  const auto project = parameter(call, "project");
  const bool known = knobs.projects.empty() ||
                     std::find(knobs.projects.begin(), knobs.projects.end(), project) != knobs.projects.end();
  if (!known) {
    throw not_found("projects/" + project);
  }
  const auto zone = parameter(call, "zone");
  if (!zone.empty() && !zone_exists(knobs, zone)) {
    throw call.method.starts_with("Zones.") ? not_found(home_of(call)) : invalid_field("zone", zone, "Unknown zone.");
  }
  if (!zone.empty() && knobs.unreachable.count(zone) != 0) {
    throw api_error(503, "backendError", fmt::format("The zone '{}' is currently unreachable.", zone));
  }
  const auto region = parameter(call, "region");
  if (!region.empty() && knobs.regions.count(region) == 0) {
    throw call.method.starts_with("Regions.") ? not_found(home_of(call))
                                              : invalid_field("region", region, "Unknown region.");
  }
}

Json get_zone(World& /*world*/, const ApiCall& call) {
  return zone_json(parameter(call, "project"), parameter(call, "zone"));
}

Json list_zones(World& world, const ApiCall& call) {
  std::vector<Listed> all;
  const auto project = parameter(call, "project");
  for (const auto& [region, letters] : world.cloud.knobs().regions) {
    for (const auto& letter : letters) {
      const auto zone = region + "-" + letter;
      all.push_back({zone, [project, zone] { return zone_json(project, zone); }});
    }
  }
  return list_reply("compute#zoneList", "projects/" + project + "/zones", page_of(call, "Zone", std::move(all)));
}

Json get_region(World& world, const ApiCall& call) {
  return region_json(world.cloud.knobs(), parameter(call, "project"), parameter(call, "region"));
}

Json list_regions(World& world, const ApiCall& call) {
  std::vector<Listed> all;
  const auto project = parameter(call, "project");
  for (const auto& [region, letters] : world.cloud.knobs().regions) {
    all.push_back({region, [&knobs = world.cloud.knobs(), project, region = region] {
                     return region_json(knobs, project, region);
                   }});
  }
  return list_reply("compute#regionList", "projects/" + project + "/regions", page_of(call, "Region", std::move(all)));
}

Json get_machine_type(World& /*world*/, const ApiCall& call) {
  const auto wanted = parameter(call, "machineType");
  const auto* const found =
      std::find_if(kMachineTypes.begin(), kMachineTypes.end(), [&](const auto& known) { return wanted == known.name; });
  if (found == kMachineTypes.end()) {
    throw not_found(home_of(call) + "/machineTypes/" + wanted);
  }
  return type_json(parameter(call, "project"), parameter(call, "zone"), *found);
}

Json list_machine_types(World& /*world*/, const ApiCall& call) {
  std::vector<Listed> all;
  for (const auto& type : kMachineTypes) {
    all.push_back({type.name, [&] { return type_json(parameter(call, "project"), parameter(call, "zone"), type); }});
  }
  return list_reply("compute#machineTypeList", home_of(call) + "/machineTypes",
                    page_of(call, "MachineType", std::move(all)));
}

}  // namespace cloudsim::gce
