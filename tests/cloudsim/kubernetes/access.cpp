// SPDX-License-Identifier: Apache-2.0
// Who calls, and what they may do.
#include "kubernetes/access.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kubernetes/api_status.h"

namespace cloudsim::kubernetes {

namespace {

constexpr std::string_view kBearer = "Bearer ";

bool has(const std::vector<std::string>& list, const std::string& value) {
  return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one == "*" || one == value; });
}

/// What everybody may read: roles system:public-info-viewer and, once authenticated, system:discovery.
bool is_open(const Identity& who, const ApiRequest& request) {
  static constexpr std::array kPublic{"/version", "/version/", "/healthz", "/livez", "/readyz"};
  if (std::find(kPublic.begin(), kPublic.end(), request.path) != kPublic.end()) {
    return true;
  }
  const bool authenticated = has(who.groups, "system:authenticated");
  if (request.resource.empty()) {
    return authenticated && (request.path.starts_with("/api") || request.path.starts_with("/openapi"));
  }
  return authenticated && request.verb == "create" && request.resource.starts_with("selfsubject");
}

}  // namespace

Identity Access::authenticate(const HttpRequest& request) const {
  const auto known = [&](const std::string& name, std::vector<std::string> groups) {
    groups.emplace_back("system:authenticated");
    return Identity{name, "", std::move(groups)};
  };
  const auto header = request.header("authorization");
  if (!header.starts_with(kBearer)) {
    if (!request.peer_name.empty()) {
      return known(request.peer_name, request.peer_organizations);
    }
    if (!header.empty()) {
      throw unauthorized();
    }
    return {"system:anonymous", "", {"system:unauthenticated"}};
  }
  const std::string token(header.substr(kBearer.size()));
  if (token.empty() || expired_.count(token) != 0) {
    throw unauthorized();
  }
  for (const auto& user : knobs_->users) {
    if (user.token == token) {  // never empty here
      return known(user.name, user.groups);
    }
  }
  if (const auto arn = verify_eks_token(token, knobs_->eks_cluster, aws_keys_, std::chrono::system_clock::now())) {
    return known(*arn, {kAwsGroup});
  }
  const auto& google = knobs_->google_tokens;
  if (std::find(google.begin(), google.end(), token) != google.end() || (google_ && google_(request))) {
    return known("cloudsim@cloudsim.iam.gserviceaccount.com", {kGoogleGroup});
  }
  throw unauthorized();
}

bool Access::allows(const Identity& who, const ApiRequest& request) const {
  if (has(who.groups, "system:masters") || is_open(who, request)) {
    return true;
  }
  const auto resource = request.subresource.empty() ? request.resource : request.resource + "/" + request.subresource;
  const auto fits = [&](const AccessRule& rule) {
    return has(rule.groups, request.group) && has(rule.resources, resource) && has(rule.verbs, request.verb) &&
           has(rule.namespaces, request.space);
  };
  return std::any_of(knobs_->users.begin(), knobs_->users.end(), [&](const User& user) {
    const bool bound =
        user.name == who.name || std::find(who.groups.begin(), who.groups.end(), user.name) != who.groups.end();
    return bound && std::any_of(user.rules.begin(), user.rules.end(), fits);
  });
}

void Access::authorize(const Identity& who, const ApiRequest& request) const {
  if (allows(who, request)) {
    return;
  }
  if (request.resource.empty()) {
    throw StatusError(403, "Forbidden",
                      fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"", who.name,
                                  request.verb == "list" ? "get" : request.verb, request.path));
  }
  const ResourceType unknown{request.group, "", request.resource, "", "", {}, true, {}, {}};
  const auto where =
      request.space.empty() ? "at the cluster scope" : fmt::format("in the namespace \"{}\"", request.space);
  throw forbidden(
      request.type == nullptr ? unknown : *request.type, request.name,
      fmt::format("User \"{}\" cannot {} resource \"{}{}{}\" in API group \"{}\" {}", who.name, request.verb,
                  request.resource, request.subresource.empty() ? "" : "/", request.subresource, request.group, where));
}

}  // namespace cloudsim::kubernetes
