// SPDX-License-Identifier: Apache-2.0
// All that a call to a Kubernetes API server needs: where, whom to trust, who we are.
#include "auth/kube_access.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "auth/kube_gke_token.h"
#include "auth/kube_pem.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {

struct KubeAccess::State {
  KubeCluster cluster;
  std::string default_namespace;
  std::shared_ptr<KubeCredentialSource> source;
  std::mutex mutex;
  std::shared_ptr<const HttpTls> tls;  ///< of the last credential; most calls share it

  std::shared_ptr<const HttpTls> tls_for(const KubeCredential& credential) {
    const std::lock_guard lock(mutex);
    if (!tls || tls->client_certificate != credential.client_certificate || tls->client_key != credential.client_key) {
      tls = std::make_shared<const HttpTls>(HttpTls{cluster.ca_certificates, credential.client_certificate,
                                                    credential.client_key, cluster.tls_server_name});
    }
    return tls;
  }
};

namespace {

constexpr int kUnauthorized = 401;

/// As for a call without a judge of its own.
RetryVerdict judge_by_status(const HttpResponse& response) {
  static constexpr int kTooManyRequests = 429;
  static constexpr int kServerError = 500;
  return {response.status == 0 || response.status == kTooManyRequests || response.status >= kServerError, {}};
}

void set_authorization(HttpHeaders& headers, const Secret& token) {
  std::erase_if(headers, [](const auto& header) { return header.first == "Authorization"; });
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token.reveal());
}

std::string in_cluster_server(const Environment& environment) {
  const auto host = environment.get("KUBERNETES_SERVICE_HOST").value_or("");
  const auto port = environment.get("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) return "https://kubernetes.default.svc";
  const bool is_version_6 = host.find(':') != std::string::npos;
  return is_version_6 ? fmt::format("https://[{}]:{}", host, port) : fmt::format("https://{}:{}", host, port);
}

/// A pod's own service account.
KubeConfig in_cluster_config(const std::string& folder, const Services& services) {
  KubeConfig config;
  config.origin = "in cluster";
  config.cluster.server = in_cluster_server(services.environment);
  if (!split_url(config.cluster.server)) {
    throw Error("InvalidConfig", "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: expected a host and a port");
  }
  config.cluster.ca_file = folder + "/ca.crt";
  config.user.token_file = folder + "/token";
  static constexpr auto* kNamespace = "/namespace";
  if (services.files.read(folder + kNamespace)) {
    config.default_namespace = read_kube_file(folder + kNamespace, "in cluster: namespace", services.files);
  }
  return config;
}

KubeConfig find_config(const KubeAccessSettings& settings, const Services& services) {
  const bool named = !settings.kubeconfig.empty() || !settings.context.empty() ||
                     !services.environment.get("KUBECONFIG").value_or("").empty();
  if (!named && services.files.read(settings.service_account_folder + "/token")) {
    return in_cluster_config(settings.service_account_folder, services);
  }
  const auto place = find_kube_config(settings.kubeconfig, services.environment);
  return load_kube_config(place, settings.context, settings.eks || settings.gke, services.files);
}

std::shared_ptr<KubeCredentialSource> find_source(const KubeAccessSettings& settings, const KubeConfig& config,
                                                  const Services& services) {
  // Plain http, to this machine only: `kubectl proxy` and its like speak for us.
  if (config.cluster.server.starts_with("http:")) return nullptr;
  if (settings.eks) return make_eks_credential_source(*settings.eks, config.cluster.server, services);
  if (settings.gke) return make_gke_credential_source(*settings.gke, services);
  return make_kube_credential_source(config, services);
}

}  // namespace

KubeAccess::KubeAccess(KubeCluster cluster, std::string default_namespace, std::shared_ptr<KubeCredentialSource> source)
    : state_(std::make_shared<State>()) {
  state_->cluster = std::move(cluster);
  state_->default_namespace = default_namespace.empty() ? "default" : std::move(default_namespace);
  state_->source = std::move(source);
}

KubeAccess::~KubeAccess() = default;

const std::string& KubeAccess::server() const { return state_->cluster.server; }

const std::string& KubeAccess::default_namespace() const { return state_->default_namespace; }

void KubeAccess::prepare(HttpCall& call) const {
  call.request.url = state_->cluster.server + call.request.url;
  call.proxy = state_->cluster.proxy_url;
  if (!state_->source) {
    call.request.tls = state_->tls_for({});
    return;
  }
  struct Attempt {
    KubeCredentialPointer credential;
    bool asked_again = false;
  };
  const auto attempt = std::make_shared<Attempt>();
  call.sign = [state = state_, attempt, inner = std::move(call.sign)](HttpRequest& request) {
    if (inner) inner(request);
    attempt->credential = state->source->get();
    request.tls = state->tls_for(*attempt->credential);
    set_authorization(request.headers, attempt->credential->token);
  };
  call.judge = [state = state_, attempt, inner = std::move(call.judge)](const HttpResponse& response) {
    if (response.status == kUnauthorized && !attempt->asked_again && attempt->credential) {
      attempt->asked_again = true;
      if (state->source->rejected(*attempt->credential)) return RetryVerdict{true, std::chrono::milliseconds(0)};
    }
    return inner ? inner(response) : judge_by_status(response);
  };
}

std::shared_ptr<KubeAccess> make_kube_access(const KubeAccessSettings& settings, const Services& services) {
  if (settings.eks && settings.gke)
    throw Error("InvalidConfig", "EksCluster and Gke: expected one of them, found both");
  auto config = find_config(settings, services);
  auto& cluster = config.cluster;
  if (!settings.proxy.empty()) cluster.proxy_url = settings.proxy;
  if (cluster.ca_certificates.empty() && !cluster.ca_file.empty()) {
    const auto what = config.origin + ": certificate authority";
    cluster.ca_certificates = read_kube_file(cluster.ca_file, what, services.files) + "\n";
    if (const auto why = wrong_certificate(cluster.ca_certificates); !why.empty()) {
      throw Error("InvalidConfig", fmt::format("{}: {} in \"{}\"", what, why, one_line(cluster.ca_file)));
    }
  }
  auto source = find_source(settings, config, services);
  return std::make_shared<KubeAccess>(std::move(cluster), config.default_namespace, std::move(source));
}

}  // namespace burst::auth
