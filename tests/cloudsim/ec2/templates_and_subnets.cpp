// SPDX-License-Identifier: Apache-2.0
// CreateLaunchTemplate, DescribeLaunchTemplates and DescribeSubnets.
#include <algorithm>

#include <fmt/format.h>

#include "ec2/actions.h"

namespace cloudsim::ec2 {

namespace {

void write_template(XmlWriter& xml, const Call& call, const LaunchTemplate& known) {
  xml.text("launchTemplateId", known.id);
  xml.text("launchTemplateName", known.name);
  xml.text("createTime", iso_time(known.created));
  xml.text("createdBy", fmt::format("arn:aws:iam::{}:user/cloudsim", call.cloud.ec2_knobs().account));
  xml.text("defaultVersionNumber", "1");
  xml.text("latestVersionNumber", "1");
  write_tags(xml, known.tags);
}

/// Throws `code` for the first wanted value that no item has.
template <typename Items, typename Field>
void require_all(const Items& items, const std::vector<std::string>& wanted, Field field, const std::string& code) {
  for (const auto& value : wanted) {
    if (std::none_of(items.begin(), items.end(), [&](const auto& item) { return item.*field == value; })) {
      throw ApiError(code, fmt::format("The ID or name '{}' does not exist", value));
    }
  }
}

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

bool passes(const Filter& filter, const LaunchTemplate& known) {
  return filter.is_about_tags() ? filter.accepts_tags(known.tags) : filter.accepts(known.name);
}

bool passes(const Filter& filter, const Subnet& subnet) {
  if (filter.is_about_tags()) {
    return filter.accepts_tags(subnet.tags);
  }
  if (filter.name == "subnet-id") {
    return filter.accepts(subnet.id);
  }
  return filter.name == "vpc-id" ? filter.accepts("vpc-12345678") : filter.accepts(subnet.zone);
}

template <typename Item>
bool passes_all(const std::vector<Filter>& filters, const Item& item) {
  return std::all_of(filters.begin(), filters.end(), [&](const auto& filter) { return passes(filter, item); });
}

}  // namespace

std::string create_launch_template(const Call& call) {
  if (auto body = replayed(call, "CreateLaunchTemplate")) {
    return *body;
  }
  const auto name = call.parameters.required("LaunchTemplateName");
  const auto data = call.parameters.at("LaunchTemplateData");
  if (!data.any()) {
    throw ApiError("MissingParameter", "The request must contain the parameter LaunchTemplateData");
  }
  auto& templates = call.region.templates;
  if (std::any_of(templates.begin(), templates.end(), [&](const auto& known) { return known.name == name; })) {
    throw ApiError("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.");
  }
  templates.push_back({call.cloud.new_id("lt-"), name, data.copy(), tags_for(call.parameters, "launch-template"),
                       std::chrono::system_clock::now()});
  XmlWriter xml;
  xml.element("launchTemplate", [&] { write_template(xml, call, templates.back()); });
  auto body = xml.take();
  remember(call, "CreateLaunchTemplate", body);
  return body;
}

std::string describe_launch_templates(const Call& call) {
  const auto ids = call.parameters.list("LaunchTemplateId");
  const auto names = call.parameters.list("LaunchTemplateName");
  require_all(call.region.templates, ids, &LaunchTemplate::id, "InvalidLaunchTemplateId.NotFound");
  require_all(call.region.templates, names, &LaunchTemplate::name, "InvalidLaunchTemplateName.NotFoundException");
  const auto filters = parse_filters(call.parameters, {"launch-template-name"});
  XmlWriter xml;
  xml.element("launchTemplates", [&] {
    for (const auto& known : call.region.templates) {
      if (contains(ids, known.id) && contains(names, known.name) && passes_all(filters, known)) {
        xml.element("item", [&] { write_template(xml, call, known); });
      }
    }
  });
  return xml.take();
}

std::string describe_subnets(const Call& call) {
  const auto ids = call.parameters.list("SubnetId");
  require_all(call.region.subnets, ids, &Subnet::id, "InvalidSubnetID.NotFound");
  const auto filters = parse_filters(call.parameters, {"subnet-id", "vpc-id", "availability-zone", "availabilityZone"});
  XmlWriter xml;
  xml.element("subnetSet", [&] {
    for (const auto& subnet : call.region.subnets) {
      if (!contains(ids, subnet.id) || !passes_all(filters, subnet)) {
        continue;
      }
      xml.element("item", [&] {
        xml.text("subnetId", subnet.id);
        xml.text("state", "available");
        xml.text("vpcId", "vpc-12345678");
        xml.text("cidrBlock", subnet.cidr);
        xml.text("availableIpAddressCount", "4091");
        xml.text("availabilityZone", subnet.zone);
        write_tags(xml, subnet.tags);
      });
    }
  });
  return xml.take();
}

}  // namespace cloudsim::ec2
