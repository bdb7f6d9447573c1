// SPDX-License-Identifier: Apache-2.0
// EC2's XML replies, read with pugixml.
#include "providers/ec2/ec2_replies.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "burst/error.h"
#include "burst/text.h"

namespace burst::ec2 {
namespace {

pugi::xml_node parse(pugi::xml_document& document, std::string_view xml, const char* root) {
  const auto result = document.load_buffer(xml.data(), xml.size());
  const pugi::xml_node node = document.child(root);
  if (!result || !node)
    throw Error("InvalidReply", fmt::format("expected a {} of EC2, found \"{}\"", root, one_line(xml, 80)));
  return node;
}

/// `2026-11-21T09:00:00.000Z`; the epoch when it is not a time.
std::chrono::sys_seconds parse_time(const char* text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  // NOLINTNEXTLINE(cert-err34-c): the count of fields is checked
  if (std::sscanf(text, "%d-%u-%uT%d:%d:%d", &year, &month, &day, &hour, &minute, &second) != 6) return {};
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (!date.ok()) return {};
  return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second};
}

Instance parse_instance(const pugi::xml_node& item) {
  Instance instance;
  instance.id = item.child_value("instanceId");
  instance.state = item.child("instanceState").child_value("name");
  instance.address = item.child_value("privateIpAddress");
  if (instance.address.empty()) instance.address = item.child_value("ipv6Address");
  instance.private_dns = item.child_value("privateDnsName");
  instance.type = item.child_value("instanceType");
  instance.zone = item.child("placement").child_value("availabilityZone");
  instance.state_reason = item.child("stateReason").child_value("code");
  instance.launched = parse_time(item.child_value("launchTime"));
  for (const auto& tag : item.child("tagSet").children("item"))
    instance.tags.emplace_back(tag.child_value("key"), tag.child_value("value"));
  return instance;
}

}  // namespace

std::string Instance::tag(std::string_view key) const {
  const auto found = std::find_if(tags.begin(), tags.end(), [&](const auto& entry) { return entry.first == key; });
  return found == tags.end() ? "" : found->second;
}

DescribeReply parse_describe_instances(std::string_view xml) {
  pugi::xml_document document;
  const auto root = parse(document, xml, "DescribeInstancesResponse");
  DescribeReply reply;
  for (const auto& reservation : root.child("reservationSet").children("item")) {
    for (const auto& item : reservation.child("instancesSet").children("item"))
      reply.instances.push_back(parse_instance(item));
  }
  reply.next_token = root.child_value("nextToken");
  return reply;
}

FleetReply parse_create_fleet(std::string_view xml) {
  pugi::xml_document document;
  const auto root = parse(document, xml, "CreateFleetResponse");
  FleetReply reply;
  reply.fleet_id = root.child_value("fleetId");
  reply.request_id = root.child_value("requestId");
  for (const auto& item : root.child("fleetInstanceSet").children("item")) {
    for (const auto& id : item.child("instanceIds").children("item")) reply.instance_ids.emplace_back(id.child_value());
  }
  for (const auto& item : root.child("errorSet").children("item"))
    reply.errors.push_back({one_line(item.child_value("errorCode")), one_line(item.child_value("errorMessage"))});
  return reply;
}

std::optional<ErrorReply> parse_error(std::string_view xml) {
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size())) return std::nullopt;
  const auto root = document.child("Response");
  const auto error = root.child("Errors").child("Error");
  if (!error) return std::nullopt;
  return ErrorReply{one_line(error.child_value("Code")), one_line(error.child_value("Message")),
                    one_line(root.child_value("RequestID"))};
}

bool is_whole(std::string_view xml, std::string_view action) {
  const auto end = xml.find_last_not_of(" \t\r\n");
  return end != std::string_view::npos && xml.substr(0, end + 1).ends_with(fmt::format("</{}Response>", action));
}

}  // namespace burst::ec2
