// SPDX-License-Identifier: Apache-2.0
// Calls of the Kubernetes API in one namespace: authorized, limited, judged.
#include "providers/kubernetes/kubernetes_api.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/percent_encoding.h"
#include "burst/error.h"

namespace burst::kubernetes {
namespace {

constexpr int kOk = 200, kRedirect = 300, kBadRequest = 400, kServerFault = 500;

/// Of objects as many as kubectl asks for; metadata alone are a fifth of a pod.
constexpr int kPageSize = 500, kMetadataPageSize = 1000;
constexpr const char* kMetadataListForm = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Whether a reply of this size is looked through from end to end before it is believed; of a longer one, a list, only
/// whether its end is there: who reads it meets the rest.
constexpr std::size_t kShortReply = 65'536;
constexpr std::chrono::seconds kCallTimeout{60};

/// Lists that were forgotten between two pages, in a row.
constexpr int kListRestarts = 5;

bool is_document(std::string_view body) {
  if (!body.starts_with('{')) return false;
  if (body.size() <= kShortReply) return nlohmann::json::accept(body);
  const auto last = body.find_last_not_of(" \t\r\n");
  return body[last] == '}';
}

std::optional<ApiError> failure(const HttpResponse& response) {
  if (response.status == 0) return parse_error(0, response.transport_error);
  if (response.status < kOk || (response.status >= kRedirect && response.status < kBadRequest))
    return parse_error(kOk, fmt::format("HTTP status {} is no answer of an API server", response.status));
  if (response.status >= kBadRequest) return parse_error(response.status, response.body);
  if (is_document(response.body)) return std::nullopt;
  return parse_error(response.status, "the reply is cut or is not an API server's");
}

/// To the second, as client-go does: the server has reckoned when it will have time.
std::optional<std::chrono::milliseconds> retry_after(const HttpResponse& response) {
  const auto header = response.header("Retry-After");
  if (!header) return std::nullopt;
  constexpr long most = 86'400;
  long seconds = 0;
  const auto [end, error] = std::from_chars(header->data(), header->data() + header->size(), seconds);
  if (error != std::errc() || end != header->data() + header->size() || seconds < 0 || seconds > most)
    return std::nullopt;
  return std::chrono::seconds{seconds};
}

RetryVerdict verdict_of(const ApiError& error, const HttpResponse& response) {
  if (error.meaning == ErrorMeaning::throttled) return {true, retry_after(response), true};
  return {error.meaning == ErrorMeaning::retry, {}};
}

/// `pods` of `/api/v1/namespaces/slurm/pods/gpu-3?...`: what follows the namespace.
std::string_view resource_of(std::string_view path) {
  path = path.substr(0, path.find('?'));
  constexpr std::string_view before = "/namespaces/";
  const auto space = path.find(before);
  if (space == std::string_view::npos) return {};
  const auto begin = path.find('/', space + before.size());
  if (begin == std::string_view::npos) return "namespaces";
  path.remove_prefix(begin + 1);
  return path.substr(0, path.find('/'));
}

/// As Kubernetes calls it in roles; `list` and `get` are one here.
std::string_view verb_of(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  return method == "DELETE" ? "delete" : "get";
}

}  // namespace

KubernetesApi::KubernetesApi(std::shared_ptr<auth::KubeAccess> access, std::string name_space, int in_flight,
                             const Config& config, const Services& services)
    : access_(std::move(access)),
      name_space_(name_space.empty() ? access_->default_namespace() : std::move(name_space)),
      in_flight_(in_flight),
      config_(config),
      http_(services.http) {}

const std::string& KubernetesApi::name_space() const { return name_space_; }

std::string KubernetesApi::pods_path(std::string_view name) const {
  std::string path = fmt::format("/api/v1/namespaces/{}/pods", auth::percent_encode(name_space_));
  if (!name.empty()) path += "/" + auth::percent_encode(name);
  return path;
}

RequestLimit KubernetesApi::limit(const ApiCall& call) const {
  const std::string action = fmt::format("{}.{}", resource_of(call.path), verb_of(call.method));
  RequestLimit limit;
  limit.key = fmt::format("kubernetes/{}/{}", access_->server(), action);
  limit.at_once = in_flight_;
  if (const auto configured = config_.request_limits.find(action); configured != config_.request_limits.end())
    std::tie(limit.burst, limit.per_second) = configured->second;
  return limit;
}

HttpCall KubernetesApi::http_call(const ApiCall& call) const {
  HttpCall http;
  http.request.method = call.method;
  http.request.url = call.path;
  http.request.headers = {{"Accept", call.form.empty() ? "application/json" : call.form + ",application/json"}};
  if (!call.body.empty()) http.request.headers.emplace_back("Content-Type", "application/json");
  http.request.body = call.body;
  http.limit = limit(call);
  http.timeout = kCallTimeout;
  return http;
}

CallResult KubernetesApi::result_of(const ApiCall& call, const HttpResponse& response) const {
  CallResult result;
  result.error = failure(response);
  if (!result.error) {
    result.body = response.body;
    return result;
  }
  // A refusal below 500 is final; anything else may have come after the work was done.
  result.unknown = response.status < kBadRequest || response.status >= kServerFault;
  auto& error = *result.error;
  const std::string_view subject = call.about.empty() ? resource_of(call.path) : std::string_view(call.about);
  error.message = fmt::format("{} {} in namespace {}: {}", call.method, subject, name_space_, error.message);
  if (error.code == "Forbidden")
    error.message += fmt::format(" (see `kubectl auth can-i {} {} -n {}`)", verb_of(call.method),
                                 resource_of(call.path), name_space_);
  return result;
}

std::vector<CallResult> KubernetesApi::send(const std::vector<ApiCall>& calls, const ResultSink& sink) const {
  if (calls.empty()) return {};
  std::vector<std::optional<CallResult>> results(calls.size());
  std::vector<char> sent(calls.size(), 0);
  bool wanted = true;
  const auto conclude = [&](std::size_t i, CallResult result) {
    results[i] = std::move(result);
    if (sink && !sink(i, *results[i])) wanted = false;
  };
  std::vector<HttpCall> http_calls;
  http_calls.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    HttpCall http = http_call(calls[i]);
    http.wanted = [&wanted] { return wanted; };
    http.sign = [&sent, i](HttpRequest&) { sent[i] = 1; };
    http.judge = [this, &calls, &conclude, i](const HttpResponse& response) -> RetryVerdict {
      CallResult result = result_of(calls[i], response);
      const auto verdict = result.error ? verdict_of(*result.error, response) : RetryVerdict{};
      if (!verdict.retry) conclude(i, std::move(result));
      return verdict;
    };
    access_->prepare(http);
    http_calls.push_back(std::move(http));
  }
  const auto responses = http_.send(std::move(http_calls));
  std::vector<CallResult> all;
  all.reserve(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!sent[i]) {
      CallResult unsent;
      unsent.sent = false;
      unsent.error = ApiError{ErrorMeaning::refused, kNotSent,
                              fmt::format("{} {}: {}", calls[i].method, calls[i].about, responses[i].transport_error)};
      all.push_back(std::move(unsent));
      continue;
    }
    if (!results[i]) conclude(i, result_of(calls[i], responses[i]));  // time or attempts were over
    all.push_back(std::move(*results[i]));
  }
  return all;
}

void KubernetesApi::list(const std::string& path, ListOf what,
                         const std::function<std::string(std::string_view body)>& read,
                         const std::function<void()>& restart) const {
  std::string token;
  for (int restarts = 0;;) {
    const bool whole = what == ListOf::objects;
    ApiCall call{"GET", fmt::format("{}&limit={}", path, whole ? kPageSize : kMetadataPageSize)};
    if (!whole) call.form = kMetadataListForm;
    if (!token.empty()) call.path += "&continue=" + auth::percent_encode(token);
    const CallResult result = std::move(send({call}).front());
    if (result.error) {
      const bool forgotten = result.error->meaning == ErrorMeaning::expired_list && !token.empty();
      if (!forgotten || ++restarts > kListRestarts) throw Error(result.error->code, result.error->message);
      token.clear();
      restart();
      continue;
    }
    token = read(result.body);
    if (token.empty()) return;
  }
}

}  // namespace burst::kubernetes
