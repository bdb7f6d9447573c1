// SPDX-License-Identifier: Apache-2.0
// Compute Engine's JSON replies, read.
#include "providers/gce/gce_replies.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/iso_time.h"
#include "burst/error.h"
#include "burst/text.h"
#include "providers/json_fields.h"

namespace burst::gce {
namespace {

using nlohmann::json;
using reply::member;
using reply::text;
using reply::throw_invalid;

constexpr std::size_t kMessageLimit = 1000;

/// `https://.../zones/us-central1-a` -> `us-central1-a`.
std::string last_part(const std::string& url) { return url.substr(url.rfind('/') + 1); }

std::chrono::sys_seconds time_of(const json& object, const char* key) {
  return auth::parse_iso_time(text(object, key)).value_or(std::chrono::sys_seconds());
}

json parse_object(std::string_view reply, const char* what) {
  json document = json::parse(reply, nullptr, false);
  if (!document.is_object()) throw_invalid(what, "the reply is not JSON");
  return document;
}

std::string required(const json& object, const char* key, const char* what) {
  std::string value = text(object, key);
  if (value.empty()) throw_invalid(what, fmt::format("no \"{}\"", key));
  return value;
}

/// `{"errors": [{"code", "message"}]}`, of operations and resize requests.
std::vector<ApiError> errors_of(const json& object) {
  std::vector<ApiError> errors;
  for (const auto& error : member(object, "errors"))
    errors.push_back({text(error, "code"), one_line(text(error, "message"), kMessageLimit)});
  return errors;
}

std::optional<ApiError> first_error(const json& object) {
  const auto errors = errors_of(object);
  if (errors.empty()) return std::nullopt;
  return main_error(errors, {});
}

/// NO_RESULTS_ON_PAGE is a matter of course.
bool is_out_of_reach(const json& scope) { return text(member(scope, "warning"), "code") == "UNREACHABLE"; }

[[noreturn]] void throw_unreachable(const std::string& where) {
  throw Error("Unreachable", fmt::format("Compute Engine can't list {} at present", where));
}

Instance instance_of(const json& object) {
  constexpr const char* what = "a list of instances";
  Instance instance;
  instance.name = required(object, "name", what);
  instance.zone = last_part(required(object, "zone", what));
  instance.status = required(object, "status", what);
  const json& interfaces = member(object, "networkInterfaces");
  if (interfaces.is_array() && !interfaces.empty()) instance.address = text(interfaces.front(), "networkIP");
  instance.hostname = text(object, "hostname");
  if (instance.hostname.empty()) instance.hostname = instance.name;
  instance.type = last_part(text(object, "machineType"));
  for (const auto& [key, value] : member(object, "labels").items())
    if (value.is_string()) instance.labels.emplace(key, value.get<std::string>());
  instance.created = time_of(object, "creationTimestamp");
  instance.expires =
      auth::parse_iso_time(text(member(member(object, "resourceStatus"), "scheduling"), "terminationTimestamp"));
  return instance;
}

Operation operation_of(const json& object) {
  constexpr const char* what = "an operation";
  Operation operation;
  operation.name = required(object, "name", what);
  operation.done = required(object, "status", what) == "DONE";
  operation.zone = last_part(text(object, "zone"));
  operation.group_id = text(object, "operationGroupId");
  operation.target = last_part(text(object, "targetLink"));
  operation.errors = errors_of(member(object, "error"));
  for (const auto& [scope, status] :
       member(member(object, "instancesBulkInsertOperationMetadata"), "perLocationStatus").items()) {
    operation.zones.push_back(last_part(scope));
    const json& created = member(status, "createdVmCount");
    if (created.is_number_unsigned()) operation.created = operation.created.value_or(0) + created.get<std::size_t>();
  }
  return operation;
}

InstanceGroup group_of(const json& object) {
  InstanceGroup group{required(object, "name", "an instance group"), text(object, "description"),
                      time_of(object, "creationTimestamp")};
  const json& size = member(object, "targetSize");
  if (size.is_number_unsigned()) group.target_size = size.get<std::size_t>();
  return group;
}

ResizeRequest request_of(const json& object) {
  constexpr const char* what = "a resize request";
  ResizeRequest request;
  request.name = required(object, "name", what);
  request.state = required(object, "state", what);
  for (const auto& instance : member(object, "instances")) request.nodes.push_back(required(instance, "name", what));
  const json& status = member(object, "status");
  request.error = first_error(member(status, "error"));
  request.last_word = first_error(member(member(status, "lastAttempt"), "error"));
  return request;
}

/// A list of one scope: `{"items": [...], "nextPageToken": "..."}`.
template <typename Item>
Page<Item> page_of(std::string_view reply, const char* what, Item (*read)(const json&)) {
  const json document = parse_object(reply, what);
  if (is_out_of_reach(document)) throw_unreachable(what);
  Page<Item> page;
  page.next_token = text(document, "nextPageToken");
  const json& items = member(document, "items");
  if (!items.is_null() && !items.is_array()) throw_invalid(what, "\"items\" is not a list");
  for (const auto& item : items) page.items.push_back(read(item));
  return page;
}

}  // namespace

std::string Instance::label(std::string_view key) const {
  const auto found = labels.find(std::string(key));
  return found == labels.end() ? std::string() : found->second;
}

Page<Instance> parse_instances(std::string_view reply, std::string_view region) {
  constexpr const char* what = "a list of instances";
  const json document = parse_object(reply, what);
  const auto is_ours = [&](const std::string& scope) {
    return last_part(scope).starts_with(std::string(region) + "-") || last_part(scope) == region;
  };
  for (const auto& scope : member(document, "unreachables"))
    if (scope.is_string() && is_ours(scope.get<std::string>())) throw_unreachable(scope.get<std::string>());
  if (is_out_of_reach(document) && member(document, "unreachables").empty()) throw_unreachable("instances");
  Page<Instance> page;
  page.next_token = text(document, "nextPageToken");
  const json& scopes = member(document, "items");
  if (!scopes.is_null() && !scopes.is_object()) throw_invalid(what, "\"items\" is not an object");
  for (const auto& [scope, list] : scopes.items()) {
    if (is_out_of_reach(list) && is_ours(scope)) throw_unreachable(scope);
    for (const auto& object : member(list, "instances")) page.items.push_back(instance_of(object));
  }
  return page;
}

Page<Operation> parse_operations(std::string_view reply) {
  return page_of<Operation>(reply, "a list of operations", operation_of);
}

Page<InstanceGroup> parse_instance_groups(std::string_view reply) {
  return page_of<InstanceGroup>(reply, "a list of instance groups", group_of);
}

Page<ResizeRequest> parse_resize_requests(std::string_view reply) {
  return page_of<ResizeRequest>(reply, "a list of resize requests", request_of);
}

Page<Instance> parse_managed_instances(std::string_view reply) {
  constexpr const char* what = "a list of managed instances";
  const json document = parse_object(reply, what);
  Page<Instance> page;
  page.next_token = text(document, "nextPageToken");
  const json& managed = member(document, "managedInstances");
  if (!managed.is_null() && !managed.is_array()) throw_invalid(what, "\"managedInstances\" is not a list");
  for (const auto& object : managed) {
    Instance instance;
    instance.status = text(object, "instanceStatus");
    if (instance.status.empty()) continue;                        // wanted, not there
    const std::string link = required(object, "instance", what);  // .../zones/ZONE/instances/NAME
    instance.name = instance.hostname = last_part(link);
    const std::string place = link.substr(0, link.rfind("/instances/"));
    instance.zone = last_part(place);
    instance.expires = auth::parse_iso_time(text(member(object, "scheduling"), "terminationTimestamp"));
    page.items.push_back(std::move(instance));
  }
  return page;
}

InstanceGroup parse_instance_group(std::string_view reply) {
  return group_of(parse_object(reply, "an instance group"));
}

Operation parse_operation(std::string_view reply) { return operation_of(parse_object(reply, "an operation")); }

std::optional<ApiError> parse_error(std::string_view reply) {
  const json document = json::parse(reply, nullptr, false);
  const json& error = member(document, "error");
  if (!error.is_object()) return std::nullopt;
  ApiError found{"", one_line(text(error, "message"), kMessageLimit)};
  const json& reasons = member(error, "errors");
  if (reasons.is_array() && !reasons.empty()) found.code = text(reasons.front(), "reason");
  for (const auto& detail : member(error, "details"))
    if (found.code.empty()) found.code = text(detail, "reason");  // google.rpc.ErrorInfo
  if (found.code.empty()) found.code = text(error, "status");
  return found;
}

bool is_whole(std::string_view reply) {
  const auto begin = reply.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && reply[begin] == '{' && json::accept(reply);
}

}  // namespace burst::gce
