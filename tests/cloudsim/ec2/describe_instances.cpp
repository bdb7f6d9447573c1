// SPDX-License-Identifier: Apache-2.0
// DescribeInstances and DescribeInstanceStatus.
#include <algorithm>

#include <fmt/format.h>

#include "ec2/actions.h"

namespace cloudsim::ec2 {

namespace {

constexpr std::size_t kMaxIds = 1000;

bool is_instance_id(const std::string& id) {
  const auto digits = std::string_view(id).substr(std::min<std::size_t>(2, id.size()));
  return id.starts_with("i-") && (digits.size() == 8 || digits.size() == 17) &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool passes(const Filter& filter, const Call& call, const Instance& instance) {
  if (filter.is_about_tags()) {
    return filter.accepts_tags(instance.tags);
  }
  if (filter.name == "instance-state-name") {
    return filter.accepts(std::string(name_of(instance.state)));
  }
  if (filter.name == "instance-state-code") {
    return filter.accepts(std::to_string(static_cast<int>(instance.state)));
  }
  if (filter.name == "instance-id") {
    return filter.accepts(instance.id);
  }
  if (filter.name == "private-ip-address") {
    return filter.accepts(call.cloud.address_of(instance));
  }
  if (filter.name == "private-dns-name") {
    return filter.accepts(call.cloud.hostname_of(instance));
  }
  if (filter.name == "instance-type") {
    return filter.accepts(instance.type);
  }
  if (filter.name == "availability-zone") {
    return filter.accepts(instance.zone);
  }
  if (filter.name == "subnet-id") {
    return filter.accepts(instance.subnet_id);
  }
  if (filter.name == "client-token") {
    return filter.accepts(instance.client_token);
  }
  if (filter.name == "reservation-id") {
    return filter.accepts(instance.reservation_id);
  }
  return filter.accepts(instance.spot ? "spot" : "");  // instance-lifecycle
}

struct Selection {
  std::vector<const Instance*> instances;
  std::string next_token;
};

/// The instances that ids, filters and page leave, in the order of their launches.
Selection select(const Call& call, const std::vector<Filter>& filters, bool only_running) {
  const auto page = parse_page(call.parameters, "InstanceId");
  const auto wanted = [&](const Instance& instance) {
    return call.cloud.is_visible(instance) && (!only_running || instance.state == InstanceState::running) &&
           std::all_of(filters.begin(), filters.end(),
                       [&](const auto& filter) { return passes(filter, call, instance); });
  };
  Selection out;
  const auto ids = call.parameters.list("InstanceId");
  if (!ids.empty()) {
    for (const auto* instance : named_instances(call, ids)) {
      if (wanted(*instance)) {
        out.instances.push_back(instance);
      }
    }
    std::sort(out.instances.begin(), out.instances.end(),
              [](const auto* left, const auto* right) { return left->sequence < right->sequence; });
    out.instances.erase(std::unique(out.instances.begin(), out.instances.end()), out.instances.end());
    return out;
  }
  for (auto it = call.region.instances.upper_bound(page.after); it != call.region.instances.end(); ++it) {
    if (!wanted(*it->second)) {
      continue;
    }
    if (page.limit != 0 && out.instances.size() == page.limit) {
      out.next_token = page_token(out.instances.back()->sequence);
      break;
    }
    out.instances.push_back(it->second.get());
  }
  return out;
}

void write_state(XmlWriter& xml, std::string_view element, InstanceState state) {
  xml.element(element, [&] {
    xml.text("code", std::to_string(static_cast<int>(state)));
    xml.text("name", name_of(state));
  });
}

/// Leaves a field out for the fault `missing_field`.
std::string_view left_out(const Call& call) {
  return call.fault && call.fault->kind == FaultKind::missing_field ? std::string_view{call.fault->field}
                                                                    : std::string_view{};
}

void write_reason(XmlWriter& xml, const Instance& instance) {
  if (instance.reason_code.empty()) {
    return;
  }
  xml.text("reason", instance.reason_message);
  xml.element("stateReason", [&] {
    xml.text("code", instance.reason_code);
    xml.text("message", instance.reason_code + ": " + instance.reason_message);
  });
}

void write_network(XmlWriter& xml, const Instance& instance, const std::string& address, std::string_view without) {
  if (address.empty() || without == "networkInterfaceSet" || without == "privateIpAddress") {
    xml.raw("<networkInterfaceSet/>");
    return;
  }
  xml.element("networkInterfaceSet", [&] {
    xml.element("item", [&] {
      xml.text("networkInterfaceId", "eni-" + instance.id.substr(2));
      xml.text("subnetId", instance.subnet_id);
      xml.text("status", "in-use");
      xml.text("privateIpAddress", address);
    });
  });
}

void write_status(XmlWriter& xml, const Instance& instance) {
  const auto* const status = instance.state != InstanceState::running ? "not-applicable"
                             : instance.frozen                        ? "impaired"
                                                                      : "ok";
  xml.element("item", [&] {
    xml.text("instanceId", instance.id);
    xml.text("availabilityZone", instance.zone);
    write_state(xml, "instanceState", instance.state);
    for (const auto* const kind : {"systemStatus", "instanceStatus"}) {
      xml.element(kind, [&] {
        const auto* const own = kind == std::string_view("systemStatus") && instance.frozen ? "ok" : status;
        xml.text("status", own);
        xml.element("details", [&] {
          xml.element("item", [&] {
            xml.text("name", "reachability");
            xml.text("status", own == std::string_view("ok") ? "passed" : "failed");
          });
        });
      });
    }
  });
}

}  // namespace

std::vector<Instance*> named_instances(const Call& call, const std::vector<std::string>& ids) {
  if (ids.size() > kMaxIds) {
    throw ApiError("InvalidParameterValue", fmt::format("At most {} instance ids can be given", kMaxIds));
  }
  for (const auto& id : ids) {
    if (!is_instance_id(id)) {
      throw ApiError("InvalidInstanceID.Malformed", fmt::format("Invalid id: \"{}\"", id));
    }
  }
  std::vector<Instance*> out;
  std::string missing;
  int count = 0;
  for (const auto& id : ids) {
    auto* instance = call.cloud.find_visible(call.region, id);
    if (instance == nullptr) {
      missing += (missing.empty() ? "" : ", ") + id;
      ++count;
    } else {
      out.push_back(instance);
    }
  }
  if (count > 0) {
    throw ApiError("InvalidInstanceID.NotFound",
                   fmt::format("The instance {} '{}' {} not exist", count == 1 ? "ID" : "IDs", missing,
                               count == 1 ? "does" : "do"));
  }
  return out;
}

void write_tags(XmlWriter& xml, const Tags& tags) {
  xml.element("tagSet", [&] {
    for (const auto& tag : tags) {
      xml.element("item", [&] {
        xml.text("key", tag.first);
        xml.text("value", tag.second);
      });
    }
  });
}

void write_instance(XmlWriter& xml, const Call& call, const Instance& instance, std::string_view without) {
  const auto address = call.cloud.address_of(instance);
  const auto field = [&](std::string_view name, std::string_view value) {
    if (name != without) {
      xml.text(name, value);
    }
  };
  xml.element("item", [&] {
    field("instanceId", instance.id);
    field("imageId", instance.image_id);
    write_state(xml, "instanceState", instance.state);
    field("privateDnsName", call.cloud.hostname_of(instance));
    xml.raw("<dnsName/>");
    field("instanceType", instance.type);
    field("launchTime", iso_time(instance.launched, true));
    xml.element("placement", [&] {
      field("availabilityZone", instance.zone);
      xml.text("groupName", instance.placement_group);
      xml.text("tenancy", "default");
    });
    field("subnetId", instance.subnet_id);
    if (!address.empty()) {
      field("privateIpAddress", address);
    }
    write_reason(xml, instance);
    xml.text("clientToken", instance.client_token);
    if (instance.spot) {
      field("instanceLifecycle", "spot");
    }
    if (without != "tagSet") {
      auto tags = instance.tags;
      if (!instance.fleet_id.empty()) {
        tags["aws:ec2:fleet-id"] = instance.fleet_id;
      }
      if (!instance.template_id.empty()) {
        tags["aws:ec2launchtemplate:id"] = instance.template_id;
        tags["aws:ec2launchtemplate:version"] = instance.template_version;
      }
      write_tags(xml, tags);
    }
    write_network(xml, instance, address, without);
    xml.element("metadataOptions",
                [&] { xml.text("instanceMetadataTags", instance.metadata_tags ? "enabled" : "disabled"); });
  });
}

std::string describe_instances(const Call& call) {
  const auto filters =
      parse_filters(call.parameters, {"instance-state-name", "instance-state-code", "instance-id", "private-ip-address",
                                      "private-dns-name", "instance-type", "availability-zone", "subnet-id",
                                      "client-token", "reservation-id", "instance-lifecycle"});
  const auto selection = select(call, filters, false);
  XmlWriter xml;
  xml.open("reservationSet");
  const std::string* open_reservation = nullptr;
  for (const auto* instance : selection.instances) {
    if (open_reservation == nullptr || *open_reservation != instance->reservation_id) {
      if (open_reservation != nullptr) {
        xml.raw("</instancesSet></item>");
      }
      open_reservation = &instance->reservation_id;
      xml.open("item");
      xml.text("reservationId", instance->reservation_id);
      xml.text("ownerId", call.cloud.ec2_knobs().account);
      xml.raw("<groupSet/><instancesSet>");
    }
    write_instance(xml, call, *instance, left_out(call));
  }
  if (open_reservation != nullptr) {
    xml.raw("</instancesSet></item>");
  }
  xml.close("reservationSet");
  if (!selection.next_token.empty()) {
    xml.text("nextToken", selection.next_token);
  }
  return xml.take();
}

std::string describe_instance_status(const Call& call) {
  const auto filters =
      parse_filters(call.parameters, {"instance-state-name", "instance-state-code", "availability-zone"});
  const auto selection = select(call, filters, !call.parameters.boolean("IncludeAllInstances"));
  XmlWriter xml;
  xml.element("instanceStatusSet", [&] {
    for (const auto* instance : selection.instances) {
      write_status(xml, *instance);
    }
  });
  if (!selection.next_token.empty()) {
    xml.text("nextToken", selection.next_token);
  }
  return xml.take();
}

}  // namespace cloudsim::ec2
