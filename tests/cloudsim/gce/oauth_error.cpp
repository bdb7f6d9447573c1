// SPDX-License-Identifier: Apache-2.0
// What the token endpoints read from a request.
#include "gce/oauth_error.h"

#include <charconv>

#include <nlohmann/json.hpp>

#include "gce/message_check.h"
#include "gce/schema.h"

namespace cloudsim::gce {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw ApiError{400, "badRequest", "INVALID_ARGUMENT", message}; }

std::chrono::seconds lifetime_of(const nlohmann::json& value) {
  constexpr long kLongest = 3600;
  const auto text = value.is_string() ? value.get<std::string>() : "";
  long seconds = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, seconds);
  if (text.empty() || result.ec != std::errc{} || result.ptr + 1 != end || text.back() != 's') {
    refuse("Invalid value at 'lifetime' (type.googleapis.com/google.protobuf.Duration), " + value.dump());
  }
  if (seconds <= 0 || seconds > kLongest) {
    refuse("The access token lifetime cannot exceed 3600 seconds.");
  }
  return std::chrono::seconds(seconds);
}

}  // namespace

std::map<std::string, std::string> oauth_form(const HttpRequest& request) {
  const auto type = request.header("content-type");
  if (type.starts_with("application/x-www-form-urlencoded")) {
    return parse_form(request.body);
  }
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  if (!type.starts_with("application/json") || !body.is_object()) {
    throw OauthError{400, "invalid_request", "Bad Request"};
  }
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : body.items()) {
    if (!value.is_string()) {
      throw OauthError{400, "invalid_request", "Invalid value for " + name};
    }
    out[snake_case(name)] = value.get<std::string>();
  }
  return out;
}

std::string field(const std::map<std::string, std::string>& form, const std::string& name) {
  const auto found = form.find(name);
  if (found == form.end() || found->second.empty()) {
    throw OauthError{400, "invalid_request", "Missing required parameter: " + name};
  }
  return found->second;
}

Impersonation read_impersonation(const nlohmann::json& body) {
  if (!body.is_object()) {
    refuse("Parse Error");
  }
  Impersonation out;
  for (const auto& [name, value] : body.items()) {
    if (name == "lifetime") {
      out.lifetime = lifetime_of(value);
    } else if (name == "scope" && value.is_array()) {
      for (const auto& scope : value) {
        out.scopes += (out.scopes.empty() ? "" : " ") + scope.get<std::string>();
      }
    } else if (name != "delegates" || !value.is_array()) {
      refuse("Invalid JSON payload received. Unknown name \"" + name + "\": Cannot find field.");
    }
  }
  if (out.scopes.empty()) {
    refuse("Scope required.");
  }
  return out;
}

}  // namespace cloudsim::gce
