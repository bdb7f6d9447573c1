// SPDX-License-Identifier: Apache-2.0
// Instance templates, and the methods about them.
#include "gce/templates.h"

#include <regex>
#include <utility>

#include "gce/methods.h"
#include "gce/names.h"
#include "gce/pages.h"

namespace cloudsim::gce {

namespace {

using Json = nlohmann::json;

std::string folder_of(const ApiCall& call) { return home_of(call) + "/instanceTemplates/"; }

std::string resource_of(const std::string& project, const std::string& region, const std::string& name) {
  const auto place = region.empty() ? "global" : "regions/" + region;
  return "projects/" + project + "/" + place + "/instanceTemplates/" + name;
}

}  // namespace

void Templates::seed(const std::string& project) {
  for (const auto& wanted : cloud_->knobs().templates) {
    auto& known = templates_[resource_of(project, wanted.region, wanted.name)];
    if (known.id == 0) {
      known = {wanted.name, wanted.region, cloud_->new_id(), "", wanted.properties, std::chrono::system_clock::now()};
    }
  }
}

const Template* Templates::find(const std::string& resource) {
  seed(segment_after(resource, "projects"));
  const auto found = templates_.find(resource);
  return found == templates_.end() ? nullptr : &found->second;
}

const Template& Templates::resolve(const std::string& project, const std::string& reference, const std::string& field) {
  static const std::regex kPattern("projects/[^/]+/(global|regions/[^/]+)/instanceTemplates/[^/]+");
  auto resource = without_host(reference);
  if (resource.starts_with("global/") || resource.starts_with("regions/")) {
    resource.insert(0, "projects/" + project + "/");
  }
  if (!std::regex_match(resource, kPattern)) {
    throw invalid_field(field, reference, "The URL is malformed.");
  }
  const auto* const found = find(resource);
  if (found == nullptr) {
    throw not_found(resource);
  }
  return *found;
}

Templates::Map Templates::below(const std::string& prefix) {
  seed(segment_after(prefix, "projects"));
  Map out;
  for (const auto& [resource, known] : templates_) {
    if (resource.starts_with(prefix)) {
      out[resource] = known;
    }
  }
  return out;
}

Json to_json(const std::string& resource, const Template& found) {
  Json out{{"kind", "compute#instanceTemplate"},
           {"id", std::to_string(found.id)},
           {"creationTimestamp", timestamp(found.created)},
           {"name", found.name},
           {"description", found.description},
           {"properties", found.properties},
           {"selfLink", link_to(resource)}};
  if (!found.region.empty()) {
    out["region"] = link_to("projects/" + segment_after(resource, "projects") + "/regions/" + found.region);
  }
  return out;
}

Json get_template(World& world, const ApiCall& call) {
  const auto resource = folder_of(call) + parameter(call, "instanceTemplate");
  const auto* const found = world.templates.find(resource);
  if (found == nullptr) {
    throw not_found(resource);
  }
  return to_json(resource, *found);
}

Json list_templates(World& world, const ApiCall& call) {
  std::vector<Listed> all;
  for (const auto& [resource, found] : world.templates.below(folder_of(call))) {
    all.push_back({found.name, [resource = resource, found = found] { return to_json(resource, found); }});
  }
  return list_reply("compute#instanceTemplateList", home_of(call) + "/instanceTemplates",
                    page_of(call, "InstanceTemplate", std::move(all)));
}

Json insert_template(World& world, const ApiCall& call) {
  const auto name = call.body.value("name", "");
  if (!is_resource_name(name)) {
    throw invalid_field("resource.name", name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'");
  }
  const auto properties = call.body.value("properties", Json::object());
  check_properties(properties, "resource.properties");
  const auto resource = folder_of(call) + name;
  if (world.templates.find(resource) != nullptr) {
    throw already_exists(resource);
  }
  Template made{name,       parameter(call, "region"),       world.cloud.new_id(), call.body.value("description", ""),
                properties, std::chrono::system_clock::now()};
  const auto id = made.id;
  world.templates.insert(resource, std::move(made));
  return to_json(
      world.operations.begin_timed({parameter(call, "project"), location_of(call), "insert", resource, id, ""}));
}

Json delete_template(World& world, const ApiCall& call) {
  const auto resource = folder_of(call) + parameter(call, "instanceTemplate");
  if (world.templates.find(resource) == nullptr) {
    throw not_found(resource);
  }
  world.templates.erase(resource);
  return to_json(
      world.operations.begin_timed({parameter(call, "project"), location_of(call), "delete", resource, 0, ""}));
}

}  // namespace cloudsim::gce
