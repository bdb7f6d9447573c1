// SPDX-License-Identifier: Apache-2.0
// Creation of objects: decoding, defaults, validation and admission, in the order of a real API server.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kubernetes/api_status.h"
#include "kubernetes/object_api.h"
#include "kubernetes/pod_schema.h"
#include "kubernetes/pod_security.h"
#include "kubernetes/quota.h"
#include "kubernetes/selectors.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

constexpr std::size_t kMaxGenerated = 58;

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto& value = list_at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// Namespaces that are part of every cluster, a token's account for each.
void add_service_account(ObjectStore& store, const std::string& space) {
  store.create(
      core("serviceaccounts"),
      {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "default"}, {"namespace", space}}}});
}

const char* qos_class(const nlohmann::json& pod) {
  bool any = false;
  bool guaranteed = true;
  for (const auto& container : list_at(pod.at("spec"), "containers")) {
    const auto& resources = list_at(container, "resources");
    const auto& limits = list_at(resources, "limits");
    const auto& requests = list_at(resources, "requests");
    any = any || !limits.empty() || !requests.empty();
    guaranteed = guaranteed && limits.contains("cpu") && limits.contains("memory") && requests == limits;
  }
  return !any ? "BestEffort" : (guaranteed ? "Guaranteed" : "Burstable");
}

}  // namespace

nlohmann::json ObjectApi::decoded(const ApiRequest& request, std::vector<std::string>& warnings) const {
  const auto& type = *request.type;
  if (request.broken_body || !request.body.is_object()) {
    throw bad_request(
        fmt::format("the object provided is unrecognized (must be of type {}): couldn't get version/kind; "
                    "json parse error",
                    type.kind));
  }
  auto object = request.body;
  const auto kind = text_at(object, "kind");
  const auto version = text_at(object, "apiVersion");
  if ((!kind.empty() && kind != type.kind) || (!version.empty() && version != type.api_version())) {
    throw bad_request(
        fmt::format("{} in version \"{}\" cannot be handled as a {}: converting ({}).{} to ({}).{}: "
                    "unknown conversion",
                    kind, version, type.kind, version, kind, type.api_version(), type.kind));
  }
  object["kind"] = type.kind;
  object["apiVersion"] = type.api_version();
  if (type.kind == "Pod") {
    const auto unknown = prune_unknown_pod_fields(object);
    const auto mode = request.option("fieldValidation");
    for (const auto& field : unknown) {
      warnings.push_back(fmt::format("unknown field \"{}\"", field));
    }
    if (mode == "Strict" && !warnings.empty()) {
      throw bad_request(fmt::format("Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: {}",
                                    fmt::join(warnings, ", ")));
    }
    if (mode == "Ignore") {
      warnings.clear();
    }
  }
  if (!list_at(object, "metadata").is_object()) {
    object["metadata"] = nlohmann::json::object();
  }
  const auto space = text_at(object["metadata"], "namespace");
  if (type.namespaced && !space.empty() && space != request.space) {
    throw bad_request("the namespace of the provided object does not match the namespace sent on the request");
  }
  return object;
}

void ObjectApi::check_namespace(const ApiRequest& request, const std::string& name) const {
  if (!request.type->namespaced) {
    return;
  }
  const auto space = store_->find(core("namespaces"), "", request.space);
  if (!space) {
    throw not_found(core("namespaces"), request.space);
  }
  if (is_terminating(*space)) {
    throw forbidden(
        *request.type, name,
        fmt::format("unable to create new content in namespace {} because it is being terminated", request.space));
  }
}

void ObjectApi::prepare(const ResourceType& type, nlohmann::json& object) const {
  if (type.kind == "Pod") {
    if (!list_at(object, "spec").is_object()) {
      object["spec"] = nlohmann::json::object();
    }
    fill_in_pod_defaults(object);
    object["status"] = {{"phase", "Pending"}, {"qosClass", qos_class(object)}};
  } else if (type.kind == "Namespace") {
    object["spec"] = {{"finalizers", {"kubernetes"}}};
    object["status"] = {{"phase", "Active"}};
    object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name_of(object);
  } else if (type.kind == "ResourceQuota") {
    object["status"] = nlohmann::json::object();
  } else if (type.custom()) {
    object["metadata"]["generation"] = 1;
    object.erase("status");
  }
}

void ObjectApi::call_webhooks(const ApiRequest& request, const nlohmann::json& object) const {
  for (const auto& webhook : knobs_->webhooks) {
    if (webhook.resource != request.type->plural || webhook.operation != request.verb ||
        !has_labels(object, webhook.labels)) {
      continue;
    }
    if (webhook.unreachable) {
      throw internal_error(
          fmt::format("failed calling webhook \"{0}\": failed to call webhook: Post "
                      "\"https://{0}.webhooks.svc:443/validate?timeout=10s\": dial tcp 10.96.0.12:443: "
                      "connect: connection refused",
                      webhook.name));
    }
    const auto text = fmt::format("admission webhook \"{}\" denied the request", webhook.name);
    throw StatusError(webhook.code, webhook.code == 403 ? "Forbidden" : "BadRequest",
                      webhook.message.empty() ? text + " without explanation" : text + ": " + webhook.message);
  }
}

void ObjectApi::admit_pod(const nlohmann::json& pod, const std::string& name) const {
  const auto space = store_->find(core("namespaces"), "", namespace_of(pod));
  const auto& labels = list_at(space->at("metadata"), "labels");
  const auto level = text_at(labels, "pod-security.kubernetes.io/enforce");
  if (const auto why = pod_security_violation(pod, level); !why.empty()) {
    throw forbidden(core("pods"), name, why);
  }
}

void ObjectApi::admit(const ApiRequest& request, const nlohmann::json& object) const {
  const auto& type = *request.type;
  const auto name = name_of(object);
  if (type.kind == "Pod") {
    admit_pod(object, name);
  }
  call_webhooks(request, object);
  if (type.kind == "Pod") {
    if (const auto why = quota_refusal(*store_, object); !why.empty()) {
      throw forbidden(type, name, why);
    }
  }
}

ApiAnswer ObjectApi::create(const ApiRequest& request) {
  const auto& type = *request.type;
  ApiAnswer out{201, {}};
  auto object = decoded(request, out.warnings);
  auto& metadata = object["metadata"];
  for (const char* const field : {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
                                  "deletionGracePeriodSeconds", "managedFields", "selfLink"}) {
    if (field == std::string_view("resourceVersion") && !text_at(metadata, field).empty()) {
      throw internal_error("resourceVersion should not be set on objects to be created");
    }
    metadata.erase(field);
  }
  if (type.namespaced) {
    metadata["namespace"] = request.space;
  } else {
    metadata.erase("namespace");
  }
  if (text_at(metadata, "name").empty() && !text_at(metadata, "generateName").empty()) {
    metadata["name"] = text_at(metadata, "generateName").substr(0, kMaxGenerated) + store_->new_suffix();
  }
  const auto name = text_at(metadata, "name");
  check_namespace(request, name);
  prepare(type, object);
  if (type.kind == "Pod") {
    const auto account = object["spec"].value("serviceAccountName", "");
    if (!store_->find(core("serviceaccounts"), request.space, account)) {
      throw forbidden(type, name,
                      fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" not found",
                                  request.space, account, account));
    }
  }
  if (const auto causes = check_new(type, object); !causes.empty()) {
    throw invalid(type, name, causes);
  }
  admit(request, object);
  if (const auto old = store_->find(type, type.namespaced ? request.space : "", name)) {
    throw already_exists(type, name, is_terminating(*old));
  }
  if (request.dry_run()) {
    metadata["uid"] = store_->new_uid();
    metadata["creationTimestamp"] = now_rfc3339();
    out.body = std::move(object);
    return out;
  }
  out.body = *store_->create(type, std::move(object));
  if (type.kind == "Pod") {
    life_->created(out.body);
  } else if (type.kind == "Namespace") {
    add_service_account(*store_, name);
  } else if (type.kind == "ResourceQuota") {
    update_quotas(*store_, request.space);
    out.body = *store_->find(type, request.space, name);
  }
  return out;
}

}  // namespace cloudsim::kubernetes
