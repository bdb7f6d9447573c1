// SPDX-License-Identifier: Apache-2.0
// Reads, updates and deletes of objects.
#include "kubernetes/object_api.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kubernetes/api_status.h"
#include "kubernetes/list_api.h"
#include "kubernetes/patch.h"
#include "kubernetes/pod_schema.h"
#include "kubernetes/quota.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

nlohmann::json scale_of(const ResourceType& type, const nlohmann::json& object) {
  const auto& metadata = object.at("metadata");
  const auto& spec = list_at(object, "spec");
  const auto& status = list_at(object, "status");
  const auto number = [](const nlohmann::json& from) {
    const auto& value = list_at(from, "replicas");
    return value.is_number() ? value.get<std::int64_t>() : 0;
  };
  return {{"kind", "Scale"},
          {"apiVersion", "autoscaling/v1"},
          {"metadata",
           {{"name", metadata["name"]},
            {"namespace", metadata["namespace"]},
            {"uid", metadata["uid"]},
            {"resourceVersion", metadata["resourceVersion"]},
            {"creationTimestamp", metadata["creationTimestamp"]}}},
          {"spec", {{"replicas", number(spec)}}},
          {"status", {{"replicas", number(status)}, {"selector", "app.kubernetes.io/instance=" + type.singular}}}};
}

/// What a client may not change: it keeps the value that is stored.
void keep_system_fields(const nlohmann::json& before, nlohmann::json& after) {
  for (const char* const field : {"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds",
                                  "namespace", "generateName", "generation"}) {
    const auto& old = list_at(before.at("metadata"), field);
    if (old.is_null()) {
      after["metadata"].erase(field);
    } else {
      after["metadata"][field] = old;
    }
  }
  after["metadata"].erase("managedFields");
  after["kind"] = before.at("kind");
  after["apiVersion"] = before.at("apiVersion");
}

bool has_status_subresource(const ResourceType& type) {
  return std::find(type.subresources.begin(), type.subresources.end(), "status") != type.subresources.end();
}

}  // namespace

Object ObjectApi::existing(const ApiRequest& request) const {
  auto found = store_->find(*request.type, request.type->namespaced ? request.space : "", request.name);
  if (!found) {
    throw not_found(*request.type, request.name);
  }
  return found;
}

ApiAnswer ObjectApi::perform(const ApiRequest& request) {
  const auto& type = *request.type;
  const auto& sub = request.subresource;
  if (!sub.empty() && std::find(type.subresources.begin(), type.subresources.end(), sub) == type.subresources.end()) {
    throw path_not_found();
  }
  if (!type.allows(request.verb)) {
    throw method_not_allowed();
  }
  if (sub == "scale") {
    return scale(request);
  }
  if (request.verb == "create") {
    if (sub == "eviction") {
      return evict(request);
    }
    if (!request.name.empty()) {
      throw method_not_allowed();
    }
    return create(request);
  }
  if (request.verb == "get") {
    return {200, *existing(request)};
  }
  if (request.verb == "delete") {
    return remove(request, request.body);
  }
  if (request.verb == "deletecollection") {
    return remove_all(request);
  }
  return update(request, request.verb == "patch");
}

ApiAnswer ObjectApi::update(const ApiRequest& request, bool is_patch) {
  const auto& type = *request.type;
  ApiAnswer out;
  if (is_patch && (request.body.is_null() || request.broken_body)) {
    throw bad_request("error decoding patch: unexpected end of JSON input");
  }
  const auto before = existing(request);
  auto after = is_patch ? apply_patch(*before, request.body, request.content_type) : decoded(request, out.warnings);
  if (list_at(after, "metadata").is_null() || name_of(after) != request.name) {
    throw bad_request(fmt::format("the name of the object ({}) does not match the name on the URL ({})",
                                  list_at(after, "metadata").is_null() ? "" : name_of(after), request.name));
  }
  const auto& metadata = after["metadata"];
  const auto version = list_at(metadata, "resourceVersion");
  const auto uid = list_at(metadata, "uid");
  if (type.custom() && version.is_null()) {
    throw invalid(
        type, request.name,
        {{"FieldValueInvalid", "Invalid value: 0x0: must be specified for an update", "metadata.resourceVersion"}});
  }
  if (!uid.is_null() && uid != before->at("metadata").at("uid")) {
    throw conflict(type, request.name,
                   fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                               uid.get<std::string>(), before->at("metadata").at("uid").get<std::string>()));
  }
  if (!version.is_null() && version != before->at("metadata").at("resourceVersion")) {
    throw changed_meanwhile(type, request.name);
  }
  keep_system_fields(*before, after);
  if (request.subresource == "status") {
    auto status = after["status"];
    after = *before;
    after["status"] = std::move(status);
  } else {
    if (has_status_subresource(type)) {
      after["status"] = list_at(*before, "status");
    }
    if (type.kind == "Pod") {
      prune_unknown_pod_fields(after);
      fill_in_pod_defaults(after);
    }
    if (const auto causes = check_change(type, *before, after); !causes.empty()) {
      throw invalid(type, request.name, causes);
    }
    call_webhooks(request, after);
    if (type.custom() && list_at(after, "spec") != list_at(*before, "spec")) {
      after["metadata"]["generation"] = before->at("metadata").value("generation", 1) + 1;
    }
  }
  out.body = request.dry_run() ? after : *store_->update(type, std::move(after));
  if (type.kind == "Pod" || type.kind == "ResourceQuota") {
    update_quotas(*store_, request.space);
  }
  return out;
}

ApiAnswer ObjectApi::scale(const ApiRequest& request) {
  const auto& type = *request.type;
  const auto before = existing(request);
  const auto current = scale_of(type, *before);
  if (request.verb == "get") {
    return {200, current};
  }
  if (request.verb != "update" && request.verb != "patch") {
    throw method_not_allowed();
  }
  const auto wanted = request.verb == "patch" ? apply_patch(current, request.body, request.content_type) : request.body;
  const auto& version = list_at(list_at(wanted, "metadata"), "resourceVersion");
  if (version.is_string() && !version.get<std::string>().empty() &&
      version != before->at("metadata").at("resourceVersion")) {
    throw changed_meanwhile(type, request.name);
  }
  auto after = *before;
  after["spec"]["replicas"] = list_at(list_at(wanted, "spec"), "replicas");
  if (const auto causes = check_change(type, *before, after); !causes.empty()) {
    throw invalid(type, request.name, causes);
  }
  return {200, scale_of(type, request.dry_run() ? after : *store_->update(type, std::move(after)))};
}

void ObjectApi::check_preconditions(const ApiRequest& request, const nlohmann::json& object,
                                    const nlohmann::json& options) const {
  const auto& wanted = list_at(options, "preconditions");
  const auto check = [&](const char* field, const char* name) {
    const auto& value = list_at(wanted, field);
    const auto& actual = object.at("metadata").at(field);
    if (value.is_string() && value != actual) {
      throw conflict(*request.type, request.name,
                     fmt::format("Precondition failed: {0} in precondition: {1}, {0} in object meta: {2}", name,
                                 value.get<std::string>(), actual.get<std::string>()));
    }
  };
  check("uid", "UID");
  check("resourceVersion", "ResourceVersion");
}

ApiAnswer ObjectApi::remove(const ApiRequest& request, const nlohmann::json& options) {
  const auto& type = *request.type;
  if (request.broken_body) {
    throw bad_request("couldn't get version/kind; json parse error");
  }
  const auto object = existing(request);
  check_preconditions(request, *object, options);
  const auto policy = list_at(options, "propagationPolicy");
  if (!policy.is_null() && policy != "Background" && policy != "Foreground" && policy != "Orphan") {
    throw StatusError(
        422, "Invalid",
        fmt::format("DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: {}: must "
                    "be one of [\"Background\",\"Foreground\",\"Orphan\",null]",
                    policy.dump()));
  }
  call_webhooks(request, *object);
  if (request.dry_run() || list_at(options, "dryRun").is_array()) {
    return {200, *object};
  }
  if (type.kind == "Pod") {
    std::int64_t grace = object->at("spec").value("terminationGracePeriodSeconds", std::int64_t{30});
    const auto& asked = list_at(options, "gracePeriodSeconds");
    const auto in_query = request.option("gracePeriodSeconds");
    if (asked.is_number_integer()) {
      grace = asked.get<std::int64_t>();
    } else if (!in_query.empty()) {
      grace = std::stoll(in_query);
    }
    return {200, life_->remove(*object, grace)};
  }
  store_->remove(type, type.namespaced ? request.space : "", request.name);
  if (type.kind == "Namespace") {
    const auto pods = store_->all(core("pods"));
    for (const auto& [key, pod] : pods) {
      if (namespace_of(*pod) == request.name) {
        life_->remove(*pod, 0);
      }
    }
  }
  auto answer = success_status();
  answer["details"] = {{"name", request.name}, {"kind", type.plural}, {"uid", object->at("metadata").at("uid")}};
  if (!type.group.empty()) {
    answer["details"]["group"] = type.group;
  }
  return {200, answer};
}

ApiAnswer ObjectApi::remove_all(const ApiRequest& request) {
  ApiAnswer out{200, list_objects(*store_, request, 0).json()};
  for (const auto& item : out.body["items"]) {
    auto one = request;
    one.name = name_of(item);
    one.space = namespace_of(item);
    remove(one, request.body);
  }
  return out;
}

ApiAnswer ObjectApi::evict(const ApiRequest& request) {
  const auto pod = existing(request);
  const auto options = list_at(request.body, "deleteOptions");
  check_preconditions(request, *pod, options);
  if (!request.dry_run()) {
    auto marked = *pod;
    set_condition(marked, "DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting");
    const auto stored = store_->update(core("pods"), std::move(marked));
    const auto& grace = list_at(options, "gracePeriodSeconds");
    life_->remove(*stored, grace.is_number()
                               ? grace.get<std::int64_t>()
                               : pod->at("spec").value("terminationGracePeriodSeconds", std::int64_t{30}));
  }
  auto answer = success_status();
  answer["code"] = 201;
  return {201, answer};
}

}  // namespace cloudsim::kubernetes
