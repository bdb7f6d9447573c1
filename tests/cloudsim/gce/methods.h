// SPDX-License-Identifier: Apache-2.0
// The methods of the simulated Compute Engine: each a function from a checked call to its reply.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "gce/cloud.h"
#include "gce/operations.h"
#include "gce/schema.h"
#include "gce/templates.h"

namespace cloudsim::gce {

class Groups;

/// Everything that a method may look at and change.
struct World {
  Cloud& cloud;
  Operations& operations;
  Templates& templates;
  Groups& groups;
};

/// Throws ApiError.
using Method = nlohmann::json (*)(World&, const ApiCall&);

nlohmann::json get_instance(World& world, const ApiCall& call);
nlohmann::json list_instances(World& world, const ApiCall& call);
nlohmann::json aggregated_instances(World& world, const ApiCall& call);
nlohmann::json delete_instance(World& world, const ApiCall& call);
nlohmann::json bulk_insert_in_zone(World& world, const ApiCall& call);
nlohmann::json bulk_insert_in_region(World& world, const ApiCall& call);

nlohmann::json get_operation(World& world, const ApiCall& call);
nlohmann::json list_operations(World& world, const ApiCall& call);

nlohmann::json get_zone(World& world, const ApiCall& call);
nlohmann::json list_zones(World& world, const ApiCall& call);
nlohmann::json get_region(World& world, const ApiCall& call);
nlohmann::json list_regions(World& world, const ApiCall& call);
nlohmann::json get_machine_type(World& world, const ApiCall& call);
nlohmann::json list_machine_types(World& world, const ApiCall& call);

nlohmann::json get_template(World& world, const ApiCall& call);
nlohmann::json list_templates(World& world, const ApiCall& call);
nlohmann::json insert_template(World& world, const ApiCall& call);
nlohmann::json delete_template(World& world, const ApiCall& call);

nlohmann::json insert_group(World& world, const ApiCall& call);
nlohmann::json get_group(World& world, const ApiCall& call);
nlohmann::json list_groups(World& world, const ApiCall& call);
nlohmann::json delete_group(World& world, const ApiCall& call);
nlohmann::json list_managed_instances(World& world, const ApiCall& call);
nlohmann::json delete_managed_instances(World& world, const ApiCall& call);

nlohmann::json insert_resize_request(World& world, const ApiCall& call);
nlohmann::json get_resize_request(World& world, const ApiCall& call);
nlohmann::json list_resize_requests(World& world, const ApiCall& call);
nlohmann::json cancel_resize_request(World& world, const ApiCall& call);
nlohmann::json delete_resize_request(World& world, const ApiCall& call);

/// The call's parameter, or an empty text.
std::string parameter(const ApiCall& call, const std::string& name);
/// The call's project, zone or region, checked: throws ApiError for one that does not exist.
void check_places(const GceKnobs& knobs, const ApiCall& call);
/// "zones/Z", "regions/R" or "global", by the call's parameters.
std::string location_of(const ApiCall& call);
/// "projects/P/" and its location.
std::string home_of(const ApiCall& call);
bool zone_exists(const GceKnobs& knobs, const std::string& zone);
bool machine_type_exists(const std::string& type);
nlohmann::json to_json(const Cloud& cloud, const Instance& instance);
/// Instance properties as Google checks them for new machines; throws ApiError. `field`: where they stand.
void check_properties(const nlohmann::json& properties, const std::string& field);

}  // namespace cloudsim::gce
