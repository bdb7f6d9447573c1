// SPDX-License-Identifier: Apache-2.0
// Discovery and OpenAPI. The OpenAPI v2 document is empty and the v3 ones hold no schemas: enough for kubectl to leave
// validation to the server, which is what newer ones do anyway.
#include "kubernetes/discovery.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kubernetes/resource_type.h"

namespace cloudsim::kubernetes {

namespace {

using Json = nlohmann::json;

HttpReply json_reply(const Json& body) {
  HttpReply reply;
  reply.content_type = "application/json";
  reply.body = body.dump();
  return reply;
}

std::string major_of(const std::string& version) { return version.substr(0, version.find('.')); }
std::string minor_of(const std::string& version) { return version.substr(version.find('.') + 1); }

/// Groups with their versions: here each has one.
std::set<std::pair<std::string, std::string>> groups() {
  std::set<std::pair<std::string, std::string>> out;
  for (const auto& type : resource_types()) {
    if (!type.group.empty()) {
      out.emplace(type.group, type.version);
    }
  }
  return out;
}

Json group_json(const std::string& group, const std::string& version) {
  const Json one{{"groupVersion", group + "/" + version}, {"version", version}};
  return {{"name", group}, {"versions", {one}}, {"preferredVersion", one}};
}

Json resource_list(const std::string& group, const std::string& version) {
  Json resources = Json::array();
  for (const auto& type : resource_types()) {
    if (type.group != group || type.version != version) {
      continue;
    }
    Json one{{"name", type.plural},
             {"singularName", type.singular},
             {"namespaced", type.namespaced},
             {"kind", type.kind},
             {"verbs", type.verbs}};
    if (!type.short_names.empty()) {
      one["shortNames"] = type.short_names;
    }
    resources.push_back(one);
    for (const auto& sub : type.subresources) {
      Json part{{"name", type.plural + "/" + sub},
                {"singularName", ""},
                {"namespaced", type.namespaced},
                {"kind", type.kind},
                {"verbs", {"get", "patch", "update"}}};
      if (sub == "scale") {
        part.update({{"kind", "Scale"}, {"group", "autoscaling"}, {"version", "v1"}});
      } else if (sub == "eviction") {
        part.update({{"kind", "Eviction"}, {"group", "policy"}, {"version", "v1"}, {"verbs", {"create"}}});
      }
      resources.push_back(part);
    }
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", group.empty() ? version : group + "/" + version},
          {"resources", resources}};
}

std::string v3_path(const std::string& group, const std::string& version) {
  return group.empty() ? "api/" + version : "apis/" + group + "/" + version;
}

Json v3_index() {
  Json paths{{"api/v1", {{"serverRelativeURL", "/openapi/v3/api/v1"}}}};
  for (const auto& [group, version] : groups()) {
    const auto path = v3_path(group, version);
    paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path}};
  }
  return {{"paths", paths}};
}

Json v3_document(const std::string& group, const std::string& version) {
  Json paths = Json::object();
  for (const auto& type : resource_types()) {
    if (type.group != group || type.version != version) {
      continue;
    }
    Json parameters = Json::array();
    for (const char* const name : {"dryRun", "fieldManager", "fieldValidation"}) {
      parameters.push_back({{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}});
    }
    const Json operation{
        {"parameters", parameters},
        {"responses", {{"200", {{"description", "OK"}}}}},
        {"x-kubernetes-group-version-kind", {{"group", type.group}, {"version", type.version}, {"kind", type.kind}}}};
    const auto path = fmt::format("/{}/{}{}/{{name}}", v3_path(group, version),
                                  type.namespaced ? "namespaces/{namespace}/" : "", type.plural);
    paths[path] = {{"patch", operation}, {"put", operation}};
  }
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "cloudsim"}}},
          {"paths", paths},
          {"components", {{"schemas", Json::object()}}}};
}

Json version_json(const std::string& version) {
  return {{"major", major_of(version)},
          {"minor", minor_of(version)},
          {"gitVersion", "v" + version + ".0"},
          {"gitCommit", "0000000000000000000000000000000000000000"},
          {"gitTreeState", "clean"},
          {"buildDate", "2024-01-01T00:00:00Z"},
          {"goVersion", "go1.22.0"},
          {"compiler", "gc"},
          {"platform", "linux/amd64"}};
}

}  // namespace

std::optional<HttpReply> describe_api(const std::string& path, const std::string& version) {
  if (path == "/version" || path == "/version/") {
    return json_reply(version_json(version));
  }
  if (path == "/healthz" || path == "/livez" || path == "/readyz") {
    HttpReply reply;
    reply.body = "ok";
    return reply;
  }
  if (path == "/api") {
    return json_reply({{"kind", "APIVersions"}, {"versions", {"v1"}}});
  }
  if (path == "/api/v1") {
    return json_reply(resource_list("", "v1"));
  }
  if (path == "/apis") {
    Json list = Json::array();
    for (const auto& [group, group_version] : groups()) {
      list.push_back(group_json(group, group_version));
    }
    return json_reply({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", list}});
  }
  for (const auto& [group, group_version] : groups()) {
    if (path == "/apis/" + group) {
      auto body = group_json(group, group_version);
      body.update({{"kind", "APIGroup"}, {"apiVersion", "v1"}});
      return json_reply(body);
    }
    if (path == fmt::format("/apis/{}/{}", group, group_version)) {
      return json_reply(resource_list(group, group_version));
    }
    if (path == "/openapi/v3/" + v3_path(group, group_version)) {
      return json_reply(v3_document(group, group_version));
    }
  }
  if (path == "/openapi/v2") {
    HttpReply reply;
    reply.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    return reply;  // no bytes are an empty document
  }
  if (path == "/openapi/v3") {
    return json_reply(v3_index());
  }
  if (path == "/openapi/v3/api/v1") {
    return json_reply(v3_document("", "v1"));
  }
  return std::nullopt;
}

}  // namespace cloudsim::kubernetes
