// SPDX-License-Identifier: Apache-2.0
// kubeconfig: which cluster to talk to, and who we are there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "burst/secret.h"
#include "burst/services.h"

namespace burst::auth {

struct KubeCluster {
  std::string server;           ///< `https://10.0.0.1:6443`, no slash at the end
  std::string ca_certificates;  ///< PEM; empty: `ca_file`
  std::string ca_file;          ///< empty too: the system's trust store
  std::string tls_server_name;  ///< empty: the server's host
  std::string proxy_url;        ///< empty: as the environment says
  std::string exec_config;      ///< JSON of the extension client.authentication.k8s.io/exec, for plugins; or empty
};

/// A program that gives out credentials: the `exec` of a user.
struct KubeExec {
  std::string api_version;  ///< `client.authentication.k8s.io/v1` or `.../v1beta1`
  std::string command;      ///< a name for PATH, or a path
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  bool provide_cluster_info = false;
};

/// What there is counts in this order: token_file, token, exec; a client certificate stands beside a token. Empty all:
/// anonymous.
struct KubeUser {
  Secret token;
  std::string token_file;
  std::string client_certificate;  ///< PEM; empty: the file
  std::string client_certificate_file;
  Secret client_key;  ///< PEM; empty: the file
  std::string client_key_file;
  std::optional<KubeExec> exec;
};

/// One context of one kubeconfig, paths made absolute.
struct KubeConfig {
  std::string origin;  ///< for messages: `context "gpu" of "/etc/kube/config"`
  KubeCluster cluster;
  KubeUser user;
  std::string default_namespace;  ///< empty: the context names none
};

/// Where to look. `files`: as KUBECONFIG lists them; a later one adds what the earlier ones do not have.
struct KubeConfigPlace {
  std::vector<std::string> files;
  bool must_exist = false;  ///< else files that are absent are passed over
};

/// `file` (`Kubeconfig`), else KUBECONFIG, else $HOME/.kube/config (HOME, else the user database).
KubeConfigPlace find_kube_config(const std::string& file, const Environment& environment);

/// The context `context`, else the current-context. With `other_credentials` the context's user is not looked at:
/// somebody else says who we are. Throws Error{"InvalidConfig", `reading "PATH": /users/0/user: ...`} that holds no
/// secret: for files that are absent or wrong, a context that there is not (those there are are named), and what is
/// refused: insecure-skip-tls-verify, auth-provider, user names with passwords, impersonation, plain http (but to this
/// machine itself).
KubeConfig load_kube_config(const KubeConfigPlace& place, const std::string& context, bool other_credentials,
                            const Files& files);

}  // namespace burst::auth
