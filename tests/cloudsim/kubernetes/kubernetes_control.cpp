// SPDX-License-Identifier: Apache-2.0
// The part of the control API that is about Kubernetes, and the kubeconfig files that it gives out.
#include <stdexcept>

#include <fmt/format.h>

#include "kubernetes/api_status.h"
#include "kubernetes/base64.h"
#include "kubernetes/kubernetes_service.h"
#include "kubernetes/validation.h"

namespace cloudsim::kubernetes {

namespace {

constexpr std::string_view kRoot = "/_control/kubernetes/";

std::string option(const std::map<std::string, std::string>& query, const std::string& key,
                   const std::string& otherwise) {
  const auto found = query.find(key);
  return found == query.end() ? otherwise : found->second;
}

}  // namespace

std::string KubernetesService::kubeconfig(const std::map<std::string, std::string>& query) const {
  const auto user = option(query, "user", "admin");
  std::string entry;
  if (user == "admin") {
    entry = fmt::format("    client-certificate-data: {}\n    client-key-data: {}\n", base64_encode(admin_.certificate),
                        base64_encode(admin_.key));
  } else if (user == "exec") {
    entry = fmt::format(
        "    exec:\n      apiVersion: client.authentication.k8s.io/{}\n      command: {}\n"
        "      interactiveMode: Never\n",
        option(query, "version", "v1"), nlohmann::json(option(query, "command", "")).dump());
    if (query.count("provide") != 0) {
      entry += "      provideClusterInfo: true\n";
    }
  } else {
    const auto token = user == "token"    ? kAdminToken
                       : user == "reader" ? kReaderToken
                       : user == "burst"  ? kBurstToken
                                          : throw std::invalid_argument("no such user: " + user);
    entry = fmt::format("    token: {}\n", option(query, "token", token));
  }
  std::string cluster = fmt::format("    certificate-authority-data: {}\n    server: {}\n",
                                    base64_encode(authority_.certificate()), option(query, "server", url_));
  if (query.count("server_name") != 0) {
    cluster += "    tls-server-name: " + query.at("server_name") + "\n";
  }
  return fmt::format(
      "apiVersion: v1\nkind: Config\nclusters:\n- name: cloudsim\n  cluster:\n{}contexts:\n- name: cloudsim\n  "
      "context:\n"
      "    cluster: cloudsim\n    namespace: {}\n    user: {}\ncurrent-context: cloudsim\nusers:\n- name: {}\n  "
      "user:\n{}",
      cluster, option(query, "namespace", "slurm"), user, user, entry);
}

nlohmann::json KubernetesService::credentials() const {
  return {{"server", url_},
          {"certificate_authority", authority_.certificate()},
          {"client_certificate", admin_.certificate},
          {"client_key", admin_.key},
          {"tokens", {{"admin", kAdminToken}, {"reader", kReaderToken}, {"burst", kBurstToken}}}};
}

nlohmann::json KubernetesService::pods_json() const {
  auto there = nlohmann::json::array();
  for (const auto& [key, pod] : store_.all(core("pods"))) {
    there.push_back(*pod);
  }
  auto gone = nlohmann::json::array();
  for (const auto& [uid, pod] : gone_) {
    gone.push_back(pod);
  }
  return {{"pods", there}, {"gone", gone}};
}

nlohmann::json KubernetesService::objects_json(const std::string& plural) const {
  auto objects = nlohmann::json::array();
  for (const auto& type : resource_types()) {
    if (type.plural != plural) {
      continue;
    }
    for (const auto& [key, object] : store_.all(type)) {
      objects.push_back(*object);
    }
  }
  return objects;
}

nlohmann::json KubernetesService::change_pod(const std::string& path, const nlohmann::json& body) {
  const auto slash = path.find('/');
  const auto space = path.substr(0, slash);
  const auto name = slash == std::string::npos ? "" : path.substr(slash + 1);
  const auto pod = store_.find(core("pods"), space, name);
  if (!pod) {
    throw std::out_of_range("no such pod: " + path);
  }
  if (body.contains("status")) {  // merged into what it has
    auto changed = *pod;
    changed["status"].merge_patch(body.at("status"));
    store_.update(core("pods"), std::move(changed));
  }
  if (const auto action = body.value("action", ""); !action.empty()) {
    life_.act(*store_.find(core("pods"), space, name), action, body);
  }
  const auto now = store_.find(core("pods"), space, name);
  return now ? *now : nlohmann::json(nullptr);
}

std::optional<nlohmann::json> KubernetesService::control(const HttpRequest& request, const nlohmann::json& body) {
  if (!request.path.starts_with(kRoot)) {
    return std::nullopt;
  }
  const auto call = request.method + " " + request.path.substr(kRoot.size());
  if (call == "GET kubeconfig") {
    return kubeconfig(parse_form(request.query));
  }
  if (call == "GET credentials") {
    return credentials();
  }
  if (call == "GET pods") {
    return pods_json();
  }
  if (call.starts_with("POST pods/")) {
    return change_pod(call.substr(10), body);
  }
  if (call.starts_with("GET objects/")) {
    return objects_json(call.substr(12));
  }
  if (call == "POST objects") {
    ApiRequest create;
    create.verb = "create";
    const auto version = body.at("apiVersion").get<std::string>();
    const auto slash = version.find('/');
    for (const auto& type : resource_types()) {
      if (type.api_version() == version && type.kind == body.at("kind") &&
          (slash == std::string::npos || type.custom())) {
        create.type = &type;
      }
    }
    if (create.type == nullptr) {
      throw std::invalid_argument("no such kind");
    }
    create.space = list_at(body, "metadata").value("namespace", "slurm");
    create.body = body;
    return api_.perform(create).body;
  }
  if (call == "POST tokens/expire") {
    access_.expire(body.at("token").get<std::string>());
    return nlohmann::json::object();
  }
  if (call == "POST compact") {
    store_.compact();
    return nlohmann::json::object();
  }
  if (call == "POST watches/close") {
    watches_.close_all();
    return nlohmann::json::object();
  }
  if (call == "GET connections") {
    return nlohmann::json{{"connections", server_.connections()},
                          {"peak_connections", server_.peak_connections()},
                          {"watches", watches_.count()}};
  }
  return std::nullopt;
}

}  // namespace cloudsim::kubernetes
