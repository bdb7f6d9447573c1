// SPDX-License-Identifier: Apache-2.0
// What goes wrong.
#include "gce/failure.h"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace cloudsim::gce {

nlohmann::json to_json(const std::vector<Failure>& failures) {
  auto errors = nlohmann::json::array();
  for (const auto& failure : failures) {
    errors.push_back({{"code", failure.code}, {"message", failure.message}});
  }
  return {{"errors", errors}};
}

int http_status_of(std::string_view code) {
  static const std::unordered_map<std::string_view, int> kStatus{{"RESOURCE_ALREADY_EXISTS", 409},
                                                                 {"VM_MIN_COUNT_NOT_REACHED", 409},
                                                                 {"QUOTA_EXCEEDED", 403},
                                                                 {"PERMISSIONS_ERROR", 403},
                                                                 {"RESOURCE_NOT_FOUND", 404},
                                                                 {"RATE_LIMIT_EXCEEDED", 429},
                                                                 {"ZONE_RESOURCE_POOL_EXHAUSTED", 503},
                                                                 {"ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", 503},
                                                                 {"INTERNAL_ERROR", 500},
                                                                 {"RESOURCE_NOT_READY", 400},
                                                                 {"RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", 400}};
  const auto found = kStatus.find(code);
  return found == kStatus.end() ? 400 : found->second;
}

std::string_view reason_phrase(int http_status) {
  static const std::unordered_map<int, std::string_view> kPhrases{
      {400, "BAD REQUEST"}, {403, "FORBIDDEN"},         {404, "NOT FOUND"},
      {409, "CONFLICT"},    {429, "TOO MANY REQUESTS"}, {500, "INTERNAL SERVER ERROR"}};
  const auto found = kPhrases.find(http_status);
  return found == kPhrases.end() ? "SERVICE UNAVAILABLE" : found->second;
}

std::string_view status_text_of(int http_status) {
  static const std::unordered_map<int, std::string_view> kTexts{
      {400, "INVALID_ARGUMENT"}, {401, "UNAUTHENTICATED"},     {403, "PERMISSION_DENIED"},  {404, "NOT_FOUND"},
      {409, "ALREADY_EXISTS"},   {412, "FAILED_PRECONDITION"}, {429, "RESOURCE_EXHAUSTED"}, {500, "INTERNAL"},
      {501, "UNIMPLEMENTED"},    {503, "UNAVAILABLE"},         {504, "DEADLINE_EXCEEDED"}};
  const auto found = kTexts.find(http_status);
  return found == kTexts.end() ? "UNKNOWN" : found->second;
}

ApiError api_error(int http_status, std::string reason, std::string message) {
  return {http_status, std::move(reason), std::string(status_text_of(http_status)), std::move(message)};
}

ApiError invalid(std::string message) { return api_error(400, "invalid", std::move(message)); }

ApiError not_found(const std::string& resource) {
  return api_error(404, "notFound", fmt::format("The resource '{}' was not found", resource));
}

ApiError already_exists(const std::string& resource) {
  return api_error(409, "alreadyExists", fmt::format("The resource '{}' already exists", resource));
}

ApiError invalid_field(const std::string& field, const std::string& value, const std::string& why) {
  return invalid(fmt::format("Invalid value for field '{}': '{}'. {}", field, value, why));
}

}  // namespace cloudsim::gce
