// SPDX-License-Identifier: Apache-2.0
// All that a call to a Kubernetes API server needs: where, whom to trust, who we are.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "auth/google_token.h"
#include "auth/kube_config.h"
#include "auth/kube_credentials.h"
#include "auth/kube_eks_token.h"
#include "burst/http.h"
#include "burst/services.h"

namespace burst::auth {

struct KubeAccessSettings {
  std::string kubeconfig;  ///< `Kubeconfig`; empty: KUBECONFIG, in cluster, $HOME/.kube/config
  std::string context;     ///< `Context`; empty: the current-context
  std::string proxy;       ///< `HttpProxy`; empty: the cluster's proxy-url, else the environment's
  /// Who we are, in place of what the kubeconfig says; at most one of the two.
  std::optional<EksTokenSettings> eks;
  std::optional<GoogleCredentialOptions> gke;
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";  ///< of a pod
};

/// One API server as one user. Safe to use from several threads.
class KubeAccess {
 public:
  /// `cluster`: with certificates as text. Without a source no credential is sent.
  KubeAccess(KubeCluster cluster, std::string default_namespace, std::shared_ptr<KubeCredentialSource> source);
  ~KubeAccess();
  KubeAccess(const KubeAccess&) = delete;
  KubeAccess& operator=(const KubeAccess&) = delete;

  const std::string& server() const;             ///< `https://10.0.0.1:6443`
  const std::string& default_namespace() const;  ///< of the context or the pod; `default` when it names none

  /// Makes a call whose URL is a path (`/api/v1/namespaces/x/pods`) one to this server: URL, TLS, proxy, Authorization
  /// before each attempt. What `sign` and `judge` are before stays in force. An answer 401 is met with a new credential
  /// and one more attempt, where that may help and `max_attempts` allows it. Each call is prepared for itself: a copy
  /// of a prepared one is not to be sent. Throws nothing; the call's `sign` throws what KubeCredentialSource::get()
  /// does.
  void prepare(HttpCall& call) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Reads files, sends nothing, runs nothing. In cluster is where the pod's token file is, and counts when neither
/// `kubeconfig`, `context` nor KUBECONFIG is there; KUBERNETES_SERVICE_HOST and _PORT are used when set, else
/// kubernetes.default.svc. Throws Error{"InvalidConfig"} or Error{"NoCredentials"} that names file and place.
std::shared_ptr<KubeAccess> make_kube_access(const KubeAccessSettings& settings, const Services& services);

}  // namespace burst::auth
