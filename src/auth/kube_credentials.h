// SPDX-License-Identifier: Apache-2.0
// Who we are to a Kubernetes API server: a bearer token, a client certificate, or both.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "auth/kube_config.h"
#include "burst/secret.h"
#include "burst/services.h"

namespace burst::auth {

struct KubeCredential {
  Secret token;                    ///< empty: none
  std::string client_certificate;  ///< PEM; empty: none
  Secret client_key;               ///< PEM
  bool operator==(const KubeCredential&) const = default;
};
using KubeCredentialPointer = std::shared_ptr<const KubeCredential>;

/// Cached and renewed before it expires. Safe to use from several threads.
class KubeCredentialSource {
 public:
  virtual ~KubeCredentialSource() = default;
  /// Never null. May read files, send requests or run a program. Throws Error{"NoCredentials"}, or the failing source's
  /// own code, that never holds a secret.
  virtual KubeCredentialPointer get() = 0;
  /// The API answered 401 to this credential. True when asking again may help: the next get() fetches a new one, or
  /// another has taken its place already. False when there is but this one, and within a minute after a fetch that such
  /// an answer called for: the new one was refused too.
  virtual bool rejected(const KubeCredential& credential) = 0;
};

/// What a fetch gives to the cache.
struct FetchedKubeCredential {
  KubeCredential credential;
  std::optional<std::chrono::sys_seconds> renew;    ///< from here on a new one is fetched; nothing: never
  std::optional<std::chrono::sys_seconds> expires;  ///< until here the old one serves when that fails; nothing: always
};
/// `after_rejection`: the API refused what the last fetch gave.
using FetchKubeCredential = std::function<FetchedKubeCredential(bool after_rejection)>;

/// The cache before a fetch. `what` begins the warning about a fetch that failed while the old credential serves on.
std::shared_ptr<KubeCredentialSource> cache_kube_credential(FetchKubeCredential fetch, std::string what, Clock& clock,
                                                            Log& log);

/// The credentials of a kubeconfig's user: token, token file and client certificate (files are read anew when a minute
/// old), exec plugin. When a plugin that we know (kube_known_plugins.h) can't be started, its token is made here.
std::shared_ptr<KubeCredentialSource> make_kube_credential_source(const KubeConfig& config, const Services& services);

/// A file's text without blanks at its ends. Throws Error{"NoCredentials"} when it is absent, empty or above 1 MiB.
std::string read_kube_file(const std::string& path, const std::string& what, const Files& files);

}  // namespace burst::auth
