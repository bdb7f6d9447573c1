// SPDX-License-Identifier: Apache-2.0
// The simulated Kubernetes API server behind TLS.
#include "kubernetes/kubernetes_service.h"

#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "kubernetes/api_status.h"
#include "kubernetes/discovery.h"
#include "kubernetes/table.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

constexpr const char* kNames =
    "IP:127.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,"
    "DNS:kubernetes.default.svc.cluster.local";

HttpReply text_reply(int code, std::string json) {
  HttpReply reply;
  reply.status = code;
  reply.content_type = "application/json";
  reply.body = std::move(json) + "\n";
  return reply;
}

HttpReply json_reply(int code, const nlohmann::json& body) {
  return text_reply(code, body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

HttpReply error_reply(const StatusError& error) {
  auto reply = json_reply(error.code(), error.json());
  if (error.retry_after() > 0) {
    reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after()));
  }
  if (error.reason() == "TooManyRequests" && error.details.empty()) {
    reply.body = error.what();
    reply.content_type = "text/plain";
  }
  return reply;
}

std::int64_t whole_seconds(Millis time) { return (time.count() + 999) / 1000; }

/// Takes `status.podIP` out of an object, or of every object of a list.
void leave_out(nlohmann::json& body, const std::string& field) {
  if (body.contains("items")) {
    for (auto& item : body["items"]) {
      leave_out(item, field);
    }
    return;
  }
  auto* at = &body;
  std::size_t begin = 0;
  for (auto dot = field.find('.'); dot != std::string::npos && at->is_object(); dot = field.find('.', begin)) {
    const auto found = at->find(field.substr(begin, dot - begin));
    if (found == at->end()) {
      return;
    }
    at = &*found;
    begin = dot + 1;
  }
  if (at->is_object()) {
    at->erase(field.substr(begin));
  }
}

/// Priority and fairness answers in plain text, with a header.
StatusError too_many_requests(std::int64_t seconds) {
  return {429,
          "TooManyRequests",
          "Too many requests, please try again later.",
          {{"retryAfterSeconds", std::max<std::int64_t>(1, seconds)}}};
}

bool wants_table(const HttpRequest& request) {
  return request.header("accept").find("as=Table") != std::string_view::npos;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto& value = list_at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

bool wants_metadata(const HttpRequest& request, std::string_view kind) {
  return request.header("accept").find(fmt::format("as={};", kind)) != std::string_view::npos;
}

/// As the API server does: a Status is no object, and stays what it is.
nlohmann::json metadata_of(const nlohmann::json& object) {
  if (!object.contains("metadata") || text_at(object, "kind") == "Status") {
    return object;
  }
  return {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", object.at("metadata")}};
}

CallParameters parameters_of(const ApiRequest& request) {
  CallParameters out(request.query.begin(), request.query.end());
  const auto put = [&](const char* key, const std::string& value) {
    if (!value.empty()) {
      out[key] = value;
    }
  };
  put("namespace", request.space);
  put("name", request.name.empty() ? text_at(list_at(request.body, "metadata"), "name") : request.name);
  put("preconditions.uid", text_at(list_at(request.body, "preconditions"), "uid"));
  put("preconditions.resourceVersion", text_at(list_at(request.body, "preconditions"), "resourceVersion"));
  put("propagationPolicy", text_at(request.body, "propagationPolicy"));
  if (const auto& grace = list_at(request.body, "gracePeriodSeconds"); grace.is_number_integer()) {
    out["gracePeriodSeconds"] = grace.dump();
  }
  return out;
}

}  // namespace

/// A call on its way through the steps.
struct KubernetesService::Call {
  ApiRequest request{};
  CallParameters parameters{};
  std::optional<Fault> fault{};
  HttpReply reply{};
  std::string code{};
};

KubernetesService::KubernetesService(const SharedParts& shared, std::uint64_t seed, AwsKeys aws_keys)
    : shared_(shared),
      random_(seed),
      tls_(authority_, authority_.issue("kube-apiserver", {}, kNames)),
      admin_(authority_.issue("kubernetes-admin", {"system:masters"})),
      store_(random_),
      life_(shared, knobs_, store_),
      api_(knobs_, store_, life_),
      watches_(shared.loop, knobs_, store_),
      operator_(shared, knobs_, store_, api_, life_),
      access_(knobs_, std::move(aws_keys)),
      server_(
          shared.loop, [this](const HttpRequest& request) { return serve(request); }, &tls_) {
  store_.observe([this](const Change& change) {
    watches_.changed(change);
    operator_.changed(change);
    remember(change);
  });
}

std::uint16_t KubernetesService::listen(const std::string& address, std::uint16_t port) {
  const auto taken = server_.listen(address, port);
  url_ = fmt::format("https://{}:{}", address, taken);
  return taken;
}

std::optional<HttpReply> KubernetesService::handle(const HttpRequest& /*request*/) { return std::nullopt; }

void KubernetesService::set_knobs(const nlohmann::json& values) {
  for (const auto& [key, value] : values.items()) {
    knobs_.set(key, value);
  }
  add_namespaces();
}

void KubernetesService::start(const std::string& /*url*/) {
  initial_knobs_ = knobs_;
  add_namespaces();
}

void KubernetesService::reset() {
  knobs_ = initial_knobs_;
  life_.reset();
  operator_.reset();
  watches_.close_all();
  store_.clear();
  access_.reset();
  buckets_.clear();
  gone_.clear();
  add_namespaces();
}

void KubernetesService::add_namespaces() {
  auto wanted = knobs_.namespaces;
  for (const char* const name : {"default", "kube-system", "slurm"}) {
    wanted.emplace_back(name, nlohmann::json::object());
  }
  for (const auto& [name, labels] : wanted) {
    if (!store_.find(core("namespaces"), "", name)) {
      ApiRequest request;
      request.verb = "create";
      request.type = &core("namespaces");
      request.body = {{"metadata", {{"name", name}, {"labels", labels}}}};
      api_.perform(request);
    }
  }
}

void KubernetesService::remember(const Change& change) {
  if (change.type == &core("pods") && !change.after) {
    gone_[change.before->at("metadata").at("uid").get<std::string>()] = *change.before;
  }
}

void KubernetesService::strike(const Fault& fault) {
  if (fault.kind == FaultKind::throttle) {
    throw too_many_requests(whole_seconds(fault.ms));
  }
  if (strikes_before_effect(fault.kind) && fault.kind != FaultKind::drop_before) {
    StatusError error(fault.status == 0 ? 500 : fault.status, fault.code, fault.message);
    if (fault.ms > Millis{0}) {
      error.details["retryAfterSeconds"] = whole_seconds(fault.ms);
    }
    throw error;
  }
}

void KubernetesService::admit_by_bucket(const std::string& action) {
  const auto size = shared_.knobs.buckets.find(action);
  if (!shared_.knobs.throttling || size == shared_.knobs.buckets.end()) {
    return;
  }
  auto& bucket = buckets_.try_emplace(action, size->second).first->second;
  if (!bucket.take(1, std::chrono::steady_clock::now())) {
    throw too_many_requests(static_cast<std::int64_t>(std::ceil(1 / size->second.refill_per_second)));
  }
}

HttpReply KubernetesService::review(const Identity& who, const ApiRequest& request) const {
  auto body = request.body.is_object() ? request.body : nlohmann::json::object();
  body["kind"] = request.type->kind;
  body["apiVersion"] = request.type->api_version();
  if (request.type->kind == "SelfSubjectReview") {
    body["status"] = {{"userInfo", {{"username", who.name}, {"groups", who.groups}}}};
    return json_reply(201, body);
  }
  const auto& wanted = list_at(list_at(body, "spec"), "resourceAttributes");
  ApiRequest asked;
  asked.verb = text_at(wanted, "verb");
  asked.group = text_at(wanted, "group");
  asked.resource = text_at(wanted, "resource");
  asked.subresource = text_at(wanted, "subresource");
  asked.space = text_at(wanted, "namespace");
  asked.name = text_at(wanted, "name");
  body["status"] = {{"allowed", access_.allows(who, asked)}};
  return json_reply(201, body);
}

HttpReply KubernetesService::perform(const Identity& who, const HttpRequest& http, const Call& call) {
  const auto& request = call.request;
  if (request.resource.empty()) {
    if (auto described = describe_api(request.path, knobs_.version)) {
      return std::move(*described);
    }
  }
  if (request.type == nullptr) {
    HttpReply reply;
    reply.status = 404;
    reply.body = "404 page not found\n";
    return reply;
  }
  if (request.type->group.ends_with(".k8s.io")) {
    return review(who, request);
  }
  if (request.verb == "watch") {
    return watches_.open(request, wants_table(http));
  }
  const bool lacks = call.fault && call.fault->kind == FaultKind::missing_field;
  ApiAnswer out;
  if (request.verb == "list") {
    const auto list = list_objects(store_, request, knobs_.page);
    if (!lacks && !wants_table(http)) {
      return text_reply(200, wants_metadata(http, "PartialObjectMetadataList") ? list.metadata_text() : list.text());
    }
    out.body = list.json();
  } else {
    out = api_.perform(request);
    if (wants_metadata(http, "PartialObjectMetadata")) {
      out.body = metadata_of(out.body);
    }
  }
  if (lacks) {
    leave_out(out.body, call.fault->field);
  }
  const bool shows = (request.verb == "list" || request.verb == "get") && request.subresource.empty();
  auto reply = json_reply(out.code, shows && wants_table(http) ? to_table(*request.type, out.body) : out.body);
  for (const auto& warning : out.warnings) {
    std::string quoted = nlohmann::json(warning).dump();
    reply.headers.emplace_back("Warning", "299 - " + quoted);
  }
  return reply;
}

void KubernetesService::answer(const HttpRequest& request, Call& call) {
  try {
    const auto who = access_.authenticate(request);
    call.fault = shared_.faults.take(call.request.action(), call.parameters);
    if (call.fault) {
      strike(*call.fault);
    }
    admit_by_bucket(call.request.action());
    access_.authorize(who, call.request);
    if (call.fault && call.fault->kind == FaultKind::drop_before) {
      return;
    }
    call.reply = perform(who, request, call);
    call.code = call.reply.status == 404 ? "NotFound" : "";
  } catch (const StatusError& error) {
    call.reply = error_reply(error);
    call.code = error.reason();
  } catch (const std::exception& error) {  // a body of a shape that nothing above looked at
    call.reply = error_reply(bad_request(error.what()));
    call.code = "BadRequest";
  }
}

HttpReply KubernetesService::serve(const HttpRequest& request) {
  Call call;
  call.request = parse_api_request(request);
  const auto action = call.request.action();
  call.parameters = parameters_of(call.request);
  auto done = shared_.calls.begin(action);
  const auto now = std::chrono::system_clock::now();
  answer(request, call);
  auto& reply = call.reply;
  reply.headers.emplace_back("Audit-Id", store_.new_uid());
  reply.delay = shared_.knobs.latency_of(action);
  reply.done = std::move(done);
  if (call.fault) {
    apply_to_reply(*call.fault, reply);
    const bool spoilt = reply.delivery == Delivery::drop || reply.delivery == Delivery::cut ||
                        call.fault->kind == FaultKind::garbage || call.fault->kind == FaultKind::wrong_content_type;
    call.code = spoilt ? call.fault->kind_name : call.code;
  }
  const double started = std::chrono::duration<double>(now.time_since_epoch()).count();
  shared_.calls.record({action, "", std::move(call.parameters), started, reply.status, call.code}, true);
  return std::move(reply);
}

}  // namespace cloudsim::kubernetes
