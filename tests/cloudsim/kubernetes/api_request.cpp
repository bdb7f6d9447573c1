// SPDX-License-Identifier: Apache-2.0
// A request as the API server understands it.
#include "kubernetes/api_request.h"

#include <algorithm>

#include <fmt/format.h>

#include "kubernetes/protobuf_body.h"

namespace cloudsim::kubernetes {

namespace {

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    const auto end = path.find('/');
    if (end != 0) {
      out.push_back(percent_decode(path.substr(0, end), false));
    }
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return out;
}

std::string verb_of(const std::string& method, bool named, bool watch) {
  if (method == "GET" || method == "HEAD") {
    return watch ? "watch" : (named ? "get" : "list");
  }
  if (method == "POST") {
    return "create";
  }
  if (method == "PUT") {
    return "update";
  }
  if (method == "PATCH") {
    return "patch";
  }
  return named ? "delete" : "deletecollection";
}

/// /api/v1/namespaces/NS/pods/NAME/status and its relatives.
void parse_path(ApiRequest& out) {
  const auto parts = segments(out.path);
  const std::size_t head = parts.empty() ? 0 : (parts[0] == "api" ? 2 : (parts[0] == "apis" ? 3 : 0));
  if (head == 0 || parts.size() <= head) {
    return;
  }
  out.group = head == 3 ? parts[1] : "";
  const auto& version = parts[head - 1];
  std::size_t at = head;
  const bool in_namespace = parts[at] == "namespaces" && parts.size() > at + 2 && parts[at + 2] != "status";
  if (in_namespace) {
    out.space = parts[at + 1];
    at += 2;
  }
  out.resource = parts[at];
  out.name = parts.size() > at + 1 ? parts[at + 1] : "";
  out.subresource = parts.size() > at + 2 ? parts[at + 2] : "";
  out.type = find_resource(out.group, version, out.resource);
  if (out.type != nullptr && (out.type->namespaced ? (!out.name.empty() && !in_namespace) : in_namespace)) {
    out.type = nullptr;
  }
}

}  // namespace

std::string ApiRequest::action() const {
  if (!resource.empty()) {
    return fmt::format("{}{}{}.{}", resource, subresource.empty() ? "" : "/", subresource, verb);
  }
  return path.starts_with("/openapi") ? "openapi" : (path.starts_with("/api") ? "discovery" : "other");
}

std::string ApiRequest::option(const std::string& key) const {
  const auto found = query.find(key);
  return found == query.end() ? "" : found->second;
}

bool ApiRequest::flag(const std::string& key) const { return option(key) == "true" || option(key) == "1"; }

ApiRequest parse_api_request(const HttpRequest& request) {
  ApiRequest out;
  out.path = request.path;
  out.query = parse_form(request.query);
  out.content_type = request.header("content-type");
  out.content_type.resize(std::min(out.content_type.size(), out.content_type.find(';')));
  parse_path(out);
  out.verb = verb_of(request.method, !out.name.empty(), out.flag("watch"));
  if (!request.body.empty()) {
    out.body = out.content_type == "application/vnd.kubernetes.protobuf"
                   ? decode_protobuf(request.body)
                   : nlohmann::json::parse(request.body, nullptr, false);
    out.broken_body = out.body.is_discarded();
    if (out.broken_body) {
      out.body = nullptr;
    }
  }
  return out;
}

}  // namespace cloudsim::kubernetes
