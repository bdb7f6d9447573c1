// SPDX-License-Identifier: Apache-2.0
// Errors in the words of k8s.io/apimachinery (api/errors, util/validation/field).
#include "kubernetes/api_status.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kubernetes/resource_type.h"

namespace cloudsim::kubernetes {

namespace {

nlohmann::json details_of(const ResourceType& type, const std::string& name) {
  nlohmann::json out{{"kind", type.plural}};
  if (!name.empty()) {
    out["name"] = name;
  }
  if (!type.group.empty()) {
    out["group"] = type.group;
  }
  return out;
}

}  // namespace

StatusError::StatusError(int code, std::string reason, const std::string& message, nlohmann::json details_in)
    : std::runtime_error(message), details(std::move(details_in)), code_(code), reason_(std::move(reason)) {}

int StatusError::retry_after() const { return details.value("retryAfterSeconds", 0); }

nlohmann::json StatusError::json() const {
  nlohmann::json out{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", metadata},
                     {"status", "Failure"}, {"message", what()},  {"code", code_}};
  if (!reason_.empty()) {
    out["reason"] = reason_;
  }
  if (!details.empty()) {
    out["details"] = details;
  }
  return out;
}

StatusError bad_request(const std::string& message) { return {400, "BadRequest", message}; }

StatusError unauthorized() { return {401, "Unauthorized", "Unauthorized"}; }

StatusError forbidden(const ResourceType& type, const std::string& name, const std::string& what) {
  const auto text = name.empty() ? fmt::format("{} is forbidden: {}", type.qualified(), what)
                                 : fmt::format("{} \"{}\" is forbidden: {}", type.qualified(), name, what);
  return {403, "Forbidden", text, details_of(type, name)};
}

StatusError not_found(const ResourceType& type, const std::string& name) {
  return {404, "NotFound", fmt::format("{} \"{}\" not found", type.qualified(), name), details_of(type, name)};
}

StatusError path_not_found() {
  return {404, "NotFound", "the server could not find the requested resource", nlohmann::json::object()};
}

StatusError method_not_allowed() {
  return {405, "MethodNotAllowed", "the server does not allow this method on the requested resource"};
}

StatusError already_exists(const ResourceType& type, const std::string& name, bool terminating) {
  return {
      409, "AlreadyExists",
      fmt::format("{}{} \"{}\" already exists", terminating ? "object is being deleted: " : "", type.qualified(), name),
      details_of(type, name)};
}

StatusError conflict(const ResourceType& type, const std::string& name, const std::string& why) {
  return {409, "Conflict", fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", type.qualified(), name, why),
          details_of(type, name)};
}

StatusError changed_meanwhile(const ResourceType& type, const std::string& name) {
  return conflict(type, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

StatusError invalid(const ResourceType& type, const std::string& name, const std::vector<Cause>& causes) {
  auto details = details_of(type, name);
  details["kind"] = type.kind;
  std::vector<std::string> texts;
  for (const auto& cause : causes) {
    texts.push_back(fmt::format("{}: {}", cause.field, cause.message));
    details["causes"].push_back({{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
  }
  const auto subject = type.group.empty() ? type.kind : type.kind + "." + type.group;
  const auto list = texts.size() == 1 ? texts.front() : fmt::format("[{}]", fmt::join(texts, ", "));
  return {422, "Invalid", fmt::format("{} \"{}\" is invalid: {}", subject, name, list), details};
}

StatusError expired(const std::string& message) { return {410, "Expired", message}; }

StatusError too_large_version(std::uint64_t wanted, std::uint64_t current) {
  return {504,
          "Timeout",
          fmt::format("Too large resource version: {}, current: {}", wanted, current),
          {{"causes", {{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}}},
           {"retryAfterSeconds", 1}}};
}

StatusError internal_error(const std::string& message) {
  return {500, "InternalError", "Internal error occurred: " + message, {{"causes", {{{"message", message}}}}}};
}

nlohmann::json success_status() {
  return {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", nlohmann::json::object()}, {"status", "Success"}};
}

Cause required(const std::string& field, const std::string& detail) {
  return {"FieldValueRequired", detail.empty() ? "Required value" : "Required value: " + detail, field};
}

Cause invalid_value(const std::string& field, const nlohmann::json& value, const std::string& detail) {
  return {"FieldValueInvalid", fmt::format("Invalid value: {}: {}", value.dump(), detail), field};
}

Cause not_supported(const std::string& field, const std::string& value, const std::vector<std::string>& supported) {
  std::vector<std::string> quoted;
  for (const auto& one : supported) {
    quoted.push_back("\"" + one + "\"");
  }
  return {"FieldValueNotSupported",
          fmt::format("Unsupported value: \"{}\": supported values: {}", value, fmt::join(quoted, ", ")), field};
}

Cause forbidden_field(const std::string& field, const std::string& detail) {
  return {"FieldValueForbidden", "Forbidden: " + detail, field};
}

Cause duplicate(const std::string& field, const std::string& value) {
  return {"FieldValueDuplicate", fmt::format("Duplicate value: \"{}\"", value), field};
}

Cause missing_reference(const std::string& field, const std::string& value) {
  return {"FieldValueNotFound", fmt::format("Not found: \"{}\"", value), field};
}

}  // namespace cloudsim::kubernetes
