// SPDX-License-Identifier: Apache-2.0
// What Compute Engine v1 lets through. The wording of refusals is that of Google's front end, which parses every API's
// requests; "resource" is what it calls the body.
#include "gce/schema.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gce/api_description.h"
#include "gce/message_check.h"
#include "gce/partial_reply.h"

namespace cloudsim::gce {

namespace {

// Source: cloud.google.com/apis/docs/system-parameters.
bool is_standard_parameter(const std::string& name) {
  static const std::set<std::string> kNames{
      "$.xgafv",      "$alt",      "$callback",  "$fields",         "$key",  "$prettyPrint", "$quotaUser",
      "access_token", "alt",       "callback",   "fields",          "key",   "kind",         "oauth_token",
      "prettyPrint",  "quotaUser", "uploadType", "upload_protocol", "userIp"};
  return kNames.count(name) > 0;
}

[[noreturn]] void refuse(const std::string& reason, const std::string& message) {
  throw ApiError{400, reason, "INVALID_ARGUMENT", message};
}

bool is_variable(const std::string& segment) { return segment.starts_with('{'); }

bool path_fits(const MethodDescription& method, const std::vector<std::string_view>& segments) {
  return method.segments.size() == segments.size() &&
         std::equal(
             segments.begin(), segments.end(), method.segments.begin(),
             [](const auto& sent, const auto& wanted) { return is_variable(wanted) ? !sent.empty() : sent == wanted; });
}

// The template with the fewest variables is meant: zones/z/instances/bulkInsert is no instance's name.
const MethodDescription* find_method(const HttpRequest& request, const std::vector<std::string_view>& segments) {
  const MethodDescription* best = nullptr;
  std::ptrdiff_t fewest = 0;
  for (const auto& method : compute_v1().methods) {
    if (method.http_method != request.method || !path_fits(method, segments)) {
      continue;
    }
    const auto variables = std::count_if(method.segments.begin(), method.segments.end(), is_variable);
    if (best == nullptr || variables < fewest) {
      best = &method;
      fewest = variables;
    }
  }
  return best;
}

void check_parameter(const MethodDescription& method, const std::string& name, const std::string& value) {
  const auto known = method.parameters.find(name);
  if (known == method.parameters.end()) {
    refuse("invalid", fmt::format("Invalid JSON payload received. Unknown name \"{0}\": Cannot bind query parameter. "
                                  "Field '{0}' could not be found in request message.",
                                  name));
  }
  std::string wanted;
  if (!fits_parameter(known->second, value, wanted)) {
    refuse("invalid", fmt::format("Invalid value at '{}' ({}), \"{}\"", snake_case(name), wanted, value));
  }
}

std::map<std::string, std::string> parameters_of(const MethodDescription& method, const HttpRequest& request,
                                                 const std::vector<std::string_view>& segments) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : parse_form(request.query)) {
    if (is_standard_parameter(name)) {
      out[name] = value;
      continue;
    }
    const auto camel = method.parameters.count(name) > 0 ? name : camel_case(name);
    check_parameter(method, camel, value);
    out[camel] = value;
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (const auto& segment = method.segments[i]; is_variable(segment)) {
      out[segment.substr(1, segment.size() - 2)] = percent_decode(segments[i], false);
    }
  }
  if (const auto mask = out.find("fields"); mask != out.end() && !mask->second.empty()) {
    select_fields(nlohmann::json::object(), mask->second);
  }
  for (const auto& name : method.required) {
    if (out.count(name) == 0) {
      refuse("required", fmt::format("Required field '{}' not specified", name));
    }
  }
  return out;
}

nlohmann::json body_of(const MethodDescription& method, const HttpRequest& request) {
  if (request.body.empty()) {
    if (method.body.empty()) {
      return nlohmann::json::object();
    }
    refuse("required", "Required field 'resource' not specified");
  }
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  if (body.is_discarded()) {
    refuse("parseError", "Parse Error");
  }
  if (!body.is_object()) {
    refuse("invalid", "Invalid JSON payload received. Unknown name \"\": Root element must be a message.");
  }
  if (method.body.empty()) {
    if (body.empty()) {
      return body;
    }
    refuse("invalid",
           fmt::format("Invalid JSON payload received. Unknown name \"{}\": Cannot find field.", body.begin().key()));
  }
  std::vector<std::string> complaints;
  auto checked = check_message(method.body, body, complaints);
  if (!complaints.empty()) {
    refuse("invalid", fmt::format("{}", fmt::join(complaints, "\n")));
  }
  return checked;
}

}  // namespace

nlohmann::json error_body(const ApiError& error) {
  nlohmann::json out{
      {"code", error.status},
      {"message", error.message},
      {"errors", {{{"message", error.message}, {"domain", "global"}, {"reason", error.reason}}}},
  };
  if (!error.status_text.empty()) {
    out["status"] = error.status_text;
  }
  return {{"error", std::move(out)}};
}

ApiCall parse_call(const HttpRequest& request) {
  const auto segments = split(request.path, '/');
  const auto* const method = find_method(request, segments);
  if (method == nullptr) {
    throw ApiError{404, "notFound", "NOT_FOUND", "Not Found"};
  }
  ApiCall call;
  call.method = method->name;
  call.parameters = parameters_of(*method, request, segments);
  call.body = body_of(*method, request);
  return call;
}

}  // namespace cloudsim::gce
