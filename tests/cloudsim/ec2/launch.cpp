// SPDX-License-Identifier: Apache-2.0
// What CreateFleet and RunInstances have in common: templates, subnets, tags, client tokens.
#include <algorithm>

#include <fmt/format.h>

#include "ec2/actions.h"

namespace cloudsim::ec2 {

namespace {

std::string text_of(const CallParameters& data, const std::string& name) {
  const auto found = data.find(name);
  return found == data.end() ? "" : found->second;
}

std::string first_of(std::initializer_list<std::string> candidates) {
  const auto* const found =
      std::find_if(candidates.begin(), candidates.end(), [](const auto& text) { return !text.empty(); });
  return found == candidates.end() ? "" : *found;
}

const Subnet* subnet_in_zone(const Region& region, const std::string& zone) {
  const auto found = std::find_if(region.subnets.begin(), region.subnets.end(),
                                  [&](const auto& subnet) { return zone.empty() || subnet.zone == zone; });
  return found == region.subnets.end() ? nullptr : &*found;
}

std::optional<Refusal> place(const Region& region, const std::string& subnet_id, const std::string& zone,
                             LaunchSpec& spec) {
  const Subnet* subnet = nullptr;
  if (subnet_id.empty()) {
    subnet = subnet_in_zone(region, zone);
    if (subnet == nullptr) {
      return Refusal{"InvalidParameterValue", fmt::format("Invalid availability zone: [{}]", zone)};
    }
  } else {
    const auto found = std::find_if(region.subnets.begin(), region.subnets.end(),
                                    [&](const auto& known) { return known.id == subnet_id; });
    if (found == region.subnets.end()) {
      return Refusal{"InvalidSubnetID.NotFound", fmt::format("The subnet ID '{}' does not exist", subnet_id)};
    }
    subnet = &*found;
  }
  spec.subnet_id = subnet->id;
  spec.zone = subnet->zone;
  return std::nullopt;
}

}  // namespace

ResolvedTemplate resolve_template(const Region& region, const Parameters& specification) {
  const auto id = specification.text("LaunchTemplateId");
  const auto name = specification.text("LaunchTemplateName");
  if (id.empty() == name.empty()) {
    throw ApiError(id.empty() ? "MissingParameter" : "InvalidParameterCombination",
                   "Exactly one of LaunchTemplateId and LaunchTemplateName must be given");
  }
  const auto found = std::find_if(region.templates.begin(), region.templates.end(),
                                  [&](const auto& known) { return id.empty() ? known.name == name : known.id == id; });
  if (found == region.templates.end()) {
    return id.empty() ? ResolvedTemplate{nullptr, "",
                                         Refusal{"InvalidLaunchTemplateName.NotFoundException",
                                                 "The specified launch template, with template name " + name +
                                                     ", does not exist."}}
                      : ResolvedTemplate{
                            nullptr, "",
                            Refusal{"InvalidLaunchTemplateId.NotFound",
                                    "The specified launch template, with template ID " + id + ", does not exist."}};
  }
  const auto version = specification.text("Version", "$Default");
  if (version != "$Default" && version != "$Latest" && version != "1") {
    return {nullptr, "",
            Refusal{"InvalidLaunchTemplateId.VersionNotFound",
                    fmt::format("Could not find launch template version {} of {}", version, found->id)}};
  }
  return {&*found, "1", std::nullopt};
}

ResolvedLaunch resolve_launch(const Call& call, const Parameters& given, const ResolvedTemplate& from) {
  ResolvedLaunch out;
  if (from.refusal) {
    out.refusal = from.refusal;
    return out;
  }
  const CallParameters none;
  const auto& data = from.found == nullptr ? none : from.found->data;
  out.spec.template_id = from.found == nullptr ? "" : from.found->id;
  out.spec.template_version = from.version;
  const bool by_requirements = given.at("InstanceRequirements").any();
  out.spec.type =
      first_of({given.text("InstanceType"), by_requirements ? "m5.large" : "", text_of(data, "InstanceType")});
  out.spec.image_id = first_of({given.text("ImageId"), text_of(data, "ImageId")});
  out.spec.placement_group = first_of({given.text("Placement.GroupName"), text_of(data, "Placement.GroupName")});
  out.spec.metadata_tags = first_of({given.text("MetadataOptions.InstanceMetadataTags"),
                                     text_of(data, "MetadataOptions.InstanceMetadataTags")}) == "enabled";
  if (out.spec.type.empty() || out.spec.type.find('.') == std::string::npos) {
    out.refusal = Refusal{"InvalidParameterValue", fmt::format("Invalid value '{}' for InstanceType.", out.spec.type)};
    return out;
  }
  if (out.spec.image_id.empty()) {
    out.refusal = Refusal{"MissingParameter", "The request must contain the parameter ImageId"};
    return out;
  }
  const auto zone = first_of({given.text("AvailabilityZone"), given.text("Placement.AvailabilityZone")});
  auto subnet = first_of({given.text("SubnetId"), given.text("NetworkInterface.1.SubnetId")});
  if (subnet.empty() && zone.empty()) {
    subnet = text_of(data, "NetworkInterface.1.SubnetId");
  }
  out.refusal = place(call.region, subnet, zone, out.spec);
  return out;
}

Tags tags_for(const Parameters& parameters, std::string_view resource_type) {
  Tags out;
  for (const auto& specification : parameters.structures("TagSpecification")) {
    const auto type = specification.required("ResourceType");
    auto tags = parse_tags(specification);
    if (type == resource_type) {
      out.merge(tags);
    }
  }
  return out;
}

std::optional<std::string> replayed(const Call& call, const std::string& action) {
  const auto token = call.parameters.text("ClientToken");
  if (token.empty()) {
    return std::nullopt;
  }
  const bool ascii = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (token.size() > 64 || !ascii) {
    throw ApiError("InvalidParameterValue", "ClientToken must be at most 64 ASCII characters");
  }
  const auto found = call.region.remembered.find(action + "/" + token);
  if (found == call.region.remembered.end()) {
    return std::nullopt;
  }
  if (found->second.parameters != call.parameters.copy()) {
    throw ApiError("IdempotentParameterMismatch",
                   "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).");
  }
  return found->second.body;
}

void remember(const Call& call, const std::string& action, const std::string& body) {
  const auto token = call.parameters.text("ClientToken");
  if (!token.empty()) {
    call.region.remembered[action + "/" + token] = {call.parameters.copy(), body};
  }
}

}  // namespace cloudsim::ec2
