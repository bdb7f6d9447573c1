// SPDX-License-Identifier: Apache-2.0
// tests/data/compute-v1.json, read once.
#include "gce/api_description.h"

#include <set>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "gce/compute_v1_json.h"

namespace cloudsim::gce {

namespace {

using Shape = FieldType::Shape;
using Kind = FieldType::Kind;

// JSON has integers of 64 bits as strings, so Google's typed client, and with it the file, calls them strings. Google
// takes a number for them too, but not for a string. Which ones they are: google/cloud/compute/v1/compute.proto.
bool is_int64(const std::string& message, const std::string& field) {
  static const std::map<std::string, std::set<std::string>> kFields{
      {"AllocationSpecificSKUAllocationAllocatedInstancePropertiesReservedDisk", {"diskSizeGb"}},
      {"AllocationSpecificSKUReservation", {"assuredCount", "count", "inUseCount"}},
      {"AttachedDisk", {"diskSizeGb"}},
      {"AttachedDiskInitializeParams", {"diskSizeGb", "provisionedIops", "provisionedThroughput"}},
      {"BulkInsertInstanceResource", {"count", "minCount"}},
      {"Duration", {"seconds"}},
      {"InstanceFlexibilityPolicyInstanceSelection", {"rank"}},
      {"MachineType", {"maximumPersistentDisksSizeGb"}},
      {"Operation", {"targetId"}},
      {"ReservationsResizeRequest", {"specificSkuCount"}},
  };
  const auto found = kFields.find(message);
  return field == "id" || (found != kFields.end() && found->second.count(field) > 0);
}

// Types that the client spells out in place. The file has the first field of each; the others are the client's own.
const std::map<std::string, Message>& inline_messages() {
  static const FieldType kText{Shape::one, Kind::text, ""};
  static const FieldType kAny{Shape::list, Kind::any, ""};
  static const std::map<std::string, Message> kMessages{
      {"{key?: string", {{"key", kText}, {"value", kText}}},
      {"{ code?: string", {{"code", kText}, {"message", kText}, {"data", kAny}, {"location", kText}}},
      {"{ errors?: Array<{ code?: string", {{"errors", kAny}}},
      {"{ guestAcceleratorCount?: number",
       {{"guestAcceleratorCount", {Shape::one, Kind::int32, ""}}, {"guestAcceleratorType", kText}}},
  };
  return kMessages;
}

bool take_prefix(std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.erase(0, prefix.size());
  return true;
}

FieldType parse_type(std::string text) {
  FieldType out;
  if (text.ends_with("[]")) {
    text.erase(text.size() - 2);
    out.shape = Shape::list;
  } else if (take_prefix(text, "Array<")) {
    out.shape = Shape::list;
  } else if (take_prefix(text, "map<string,")) {
    text.pop_back();
    out.shape = Shape::map;
  } else if (take_prefix(text, "{ [ key: string ]: ")) {
    out.shape = Shape::map;
  }
  if (text == "string") {
    out.kind = Kind::text;
  } else if (text == "number") {
    out.kind = Kind::int32;
  } else if (text == "boolean") {
    out.kind = Kind::boolean;
  } else if (!text.starts_with("{[")) {
    out.kind = Kind::message;
    out.message = text;
  }
  return out;
}

Message parse_message(const std::string& name, const nlohmann::json& fields) {
  Message out;
  for (const auto& [field, type] : fields.items()) {
    auto& parsed = out[field] = parse_type(type.get<std::string>());
    if (parsed.kind == Kind::text && is_int64(name, field)) {
      parsed.kind = Kind::int64;
    } else if (parsed.kind == Kind::int32 && name == "Quota") {
      parsed.kind = Kind::real;
    }
  }
  return out;
}

ApiDescription read() {
  const auto file = nlohmann::json::parse(kComputeV1Json);
  ApiDescription out;
  out.messages = inline_messages();
  for (const auto& [name, fields] : file.at("schemas").items()) {
    out.messages[name] = parse_message(name, fields);
  }
  // The client's DiskConsistencyGroupPolicy has no fields; the file gives it those of the message that follows.
  auto& without_fields = out.messages["ResourcePolicyDiskConsistencyGroupPolicy"];
  out.messages["ResourcePolicyGroupPlacementPolicy"] = std::exchange(without_fields, {});
  for (const auto& [name, method] : file.at("methods").items()) {
    MethodDescription one{name,
                          method.at("method"),
                          {},
                          method.value("required", std::vector<std::string>{}),
                          parse_message("", method.at("params")),
                          method.value("body", "")};
    for (const auto segment : split(method.at("path").get_ref<const std::string&>(), '/')) {
      one.segments.emplace_back(segment);
    }
    out.methods.push_back(std::move(one));
  }
  for (const auto& [name, message] : out.messages) {
    for (const auto& [field, type] : message) {
      if (type.kind == Kind::message && out.messages.count(type.message) == 0) {
        throw std::logic_error("compute-v1.json: " + name + "." + field + " is of unknown type " + type.message);
      }
    }
  }
  return out;
}

}  // namespace

const ApiDescription& compute_v1() {
  static const ApiDescription kDescription = read();
  return kDescription;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = text.find(separator);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return out;
    }
    text.remove_prefix(end + 1);
  }
}

}  // namespace cloudsim::gce
