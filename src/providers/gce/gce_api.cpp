// SPDX-License-Identifier: Apache-2.0
// Calls of the Compute Engine API: authorized, limited, judged, their operations followed.
#include "providers/gce/gce_api.h"

#include <fmt/format.h>

#include "auth/percent_encoding.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"
#include "providers/gce/gce_requests.h"

namespace burst::gce {
namespace {

constexpr int kOk = 200, kRedirect = 300, kBadRequest = 400, kNotFound = 404;

/// Source: "Compute Engine rate quotas": 1500 a minute and project, of the calls that change something and of those
/// that read. A burst of a thousand and 8 a second stay below it in every minute.
constexpr double kBurst = 1000, kPerSecond = 8;

constexpr const char* kPageSize = "500";

/// operations.wait holds a call for two minutes at most.
constexpr std::chrono::seconds kWaitTimeout{150};
constexpr std::chrono::seconds kCallTimeout{60};

bool ends_in(std::string_view method, std::string_view verb) {
  return method.ends_with(verb) && method.size() > verb.size() && method[method.size() - verb.size() - 1] == '.';
}

bool is_wait(std::string_view method) { return ends_in(method, "wait"); }

bool is_read(std::string_view method) {
  return ends_in(method, "list") || ends_in(method, "aggregatedList") || ends_in(method, "get") ||
         ends_in(method, "listManagedInstances");
}

std::string verb_of(std::string_view method) {
  if (ends_in(method, "listManagedInstances")) return "POST";  // Google's own choice
  if (is_read(method)) return "GET";
  return ends_in(method, "delete") ? "DELETE" : "POST";
}

/// `zones/Z/operations/NAME/wait` of the place that a call was made to.
ApiCall wait_call(const ApiCall& call, const Operation& operation) {
  const auto end = call.path.find('/', call.path.find('/') + 1);
  const std::string place = call.path.substr(0, end);
  const std::string method = place.starts_with("zones/") ? "zoneOperations.wait" : "regionOperations.wait";
  return {method, fmt::format("{}/operations/{}/wait", place, operation.name)};
}

}  // namespace

std::string compute_endpoint(const Environment& environment) {
  constexpr const char* variable = "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE";
  std::string url = environment.get(variable).value_or("");
  if (url.empty()) return "https://compute.googleapis.com/compute/v1/";
  const auto parts = auth::split_url(url);
  if (!parts || !parts->query.empty()) {
    throw Error("InvalidEndpoint",
                fmt::format("{}: expected an http or https URL, found \"{}\"", variable, one_line(url)));
  }
  if (!url.ends_with('/')) url += '/';
  if (parts->path.empty() || parts->path == "/") url += "compute/v1/";
  return url;
}

GceApi::GceApi(std::string project, std::shared_ptr<auth::GoogleTokenSource> tokens, const Config& config,
               const Services& services)
    : project_(std::move(project)),
      endpoint_(compute_endpoint(services.environment)),
      tokens_(std::move(tokens)),
      config_(config),
      http_(services.http),
      random_(services.random) {}

RequestLimit GceApi::limit(const std::string& method) const {
  if (const auto configured = config_.request_limits.find(method); configured != config_.request_limits.end()) {
    const auto& [burst, per_second] = configured->second;
    return {fmt::format("gce/{}/{}", project_, method), burst, per_second};
  }
  const char* kind = is_wait(method) ? "operations" : is_read(method) ? "read" : "mutate";
  return {fmt::format("gce/{}/{}", project_, kind), kBurst, kPerSecond};
}

HttpCall GceApi::http_call(const ApiCall& call) const {
  HttpCall http;
  http.request.method = verb_of(call.method);
  http.request.url = fmt::format("{}projects/{}/{}", endpoint_, project_, call.path);
  QueryParameters parameters = call.parameters;
  // One for all attempts, as it stands in the URL: a call that is asked again after a lost reply gives the operation
  // that the first has begun.
  if (!is_read(call.method) && !is_wait(call.method)) parameters.emplace_back("requestId", new_uuid(random_));
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    http.request.url += fmt::format("{}{}={}", separator, name, auth::percent_encode(value));
    separator = '&';
  }
  http.request.body = call.body;
  if (!call.body.empty()) http.request.headers = {{"Content-Type", "application/json"}};
  http.limit = limit(call.method);
  http.timeout = is_wait(call.method) ? kWaitTimeout : kCallTimeout;

  const auto token = std::make_shared<Secret>();
  http.sign = [this, token](HttpRequest& request) {
    *token = tokens_->token();
    std::erase_if(request.headers, [](const auto& header) { return header.first == "Authorization"; });
    request.headers.emplace_back("Authorization", "Bearer " + token->reveal());
  };
  http.judge = [this, token, refreshed = false](const HttpResponse& response) mutable -> RetryVerdict {
    const auto wrong = failure(response);
    if (!wrong) return {};
    switch (error_kind(wrong->code, response.status)) {
      case ErrorKind::throttled:
        return {true, {}, true};
      case ErrorKind::transient:
        return {true, {}};
      case ErrorKind::credentials:
        tokens_->rejected(*token);
        return {!std::exchange(refreshed, true), std::chrono::milliseconds{0}};
      default:
        return {};
    }
  };
  return http;
}

std::optional<ApiError> GceApi::failure(const HttpResponse& response) const {
  if (response.status == 0) return ApiError{"ConnectionError", one_line(response.transport_error)};
  if (response.status >= kOk && response.status < kRedirect) {
    if (is_whole(response.body)) return std::nullopt;
    return ApiError{"InvalidReply", "the reply is cut or is not Compute Engine's"};
  }
  if (auto error = parse_error(response.body); error && !error->code.empty()) return error;
  // A proxy's or a load balancer's page.
  return ApiError{fmt::format("HTTP{}", response.status),
                  fmt::format("HTTP status {} without an error of Compute Engine", response.status)};
}

ApiError GceApi::in_context(const ApiCall& call, ApiError error, const std::string& operation) const {
  const std::string place = call.path.substr(0, call.path.find('/', call.path.find('/') + 1));
  error.message = fmt::format("{} in {}, {}: {}: {}{}", call.method, project_, place, error.code, error.message,
                              operation.empty() ? "" : fmt::format(" (operation {})", operation));
  return explained(std::move(error),
                   call.path.find("/instanceGroupManagers") != std::string::npos && !operation.empty());
}

void GceApi::fail(const ApiCall& call, const ApiError& error) const {
  throw Error(error.code, in_context(call, error).message);
}

/// An operation's own errors count even where the call itself went well.
CallResult GceApi::result_of(const ApiCall& call, const HttpResponse& response) const {
  CallResult result;
  if (const auto wrong = failure(response)) {
    result.error = in_context(call, *wrong);
    // A refusal below 500 is final; anything else may have come after the work was done.
    result.unknown = response.status < kBadRequest || response.status >= 500;
    return result;
  }
  try {
    result.operation = parse_operation(response.body);
    const auto& operation = *result.operation;
    if (!operation.errors.empty()) result.error = in_context(call, main_error(operation.errors, {}), operation.name);
  } catch (const Error& error) {
    result.error = in_context(call, {error.code(), error.what()});
    result.unknown = true;
  }
  return result;
}

std::vector<CallResult> GceApi::send(const std::vector<ApiCall>& calls) const {
  if (calls.empty()) return {};
  std::vector<HttpCall> http_calls;
  http_calls.reserve(calls.size());
  for (const auto& call : calls) http_calls.push_back(http_call(call));
  const auto responses = http_.send(std::move(http_calls));
  std::vector<CallResult> results;
  for (std::size_t i = 0; i < calls.size(); ++i) results.push_back(result_of(calls[i], responses[i]));
  return results;
}

std::vector<CallResult> GceApi::run(const std::vector<ApiCall>& calls) const {
  auto results = send(calls);
  for (;;) {
    std::vector<std::size_t> going_on;
    std::vector<ApiCall> waits;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (results[i].error || results[i].operation->done) continue;
      going_on.push_back(i);
      waits.push_back(wait_call(calls[i], *results[i].operation));
    }
    if (waits.empty()) return results;
    auto states = send(waits);  // each answers when its operation has ended, or after two minutes
    for (std::size_t i = 0; i < going_on.size(); ++i) {
      CallResult& result = results[going_on[i]];
      if (!states[i].operation) {
        result.error = std::move(states[i].error);
        result.unknown = true;
      } else {
        result.operation = std::move(states[i].operation);
        const auto& errors = result.operation->errors;
        if (!errors.empty())
          result.error = in_context(calls[going_on[i]], main_error(errors, {}), result.operation->name);
      }
    }
  }
}

void GceApi::list(const std::vector<ApiCall>& lists, const PageReader& read, bool may_be_gone) const {
  struct Next {
    std::size_t list;
    std::string token;
  };
  std::vector<Next> wanted;
  for (std::size_t i = 0; i < lists.size(); ++i) wanted.push_back({i, ""});
  while (!wanted.empty()) {
    std::vector<HttpCall> calls;
    for (const auto& [index, token] : wanted) {
      ApiCall call = lists[index];
      call.parameters.emplace_back("maxResults", kPageSize);
      if (!token.empty()) call.parameters.emplace_back("pageToken", token);
      calls.push_back(http_call(call));
    }
    const auto responses = http_.send(std::move(calls));
    std::vector<Next> next;
    for (std::size_t i = 0; i < responses.size(); ++i) {
      const std::size_t index = wanted[i].list;
      if (may_be_gone && responses[i].status == kNotFound) continue;
      if (const auto wrong = failure(responses[i])) fail(lists[index], *wrong);
      std::string token = read(index, responses[i].body);
      if (!token.empty()) next.push_back({index, std::move(token)});
    }
    wanted = std::move(next);
  }
}

std::optional<std::string> GceApi::get(const ApiCall& call) const {
  HttpResponse response = http_.send_one(http_call(call));
  if (response.status == kNotFound) return std::nullopt;
  if (const auto wrong = failure(response)) fail(call, *wrong);
  return std::move(response.body);
}

}  // namespace burst::gce
