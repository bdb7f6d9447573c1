// SPDX-License-Identifier: Apache-2.0
// Credentials from a program that a kubeconfig names (`exec`).
#pragma once

#include <string>
#include <string_view>

#include "auth/kube_credentials.h"

namespace burst::auth {

/// The code of the Error for a program that could not be started.
inline constexpr std::string_view kPluginNotStarted = "ExecPluginNotStarted";

/// What the plugin finds in KUBERNETES_EXEC_INFO. Source of the format: kubernetes.io, "client.authentication.k8s.io".
std::string kube_exec_info(const KubeExec& exec, const KubeCluster& cluster);

/// Reads an ExecCredential as a plugin prints it, at the time `now`. Renewal is a minute before its expiry, or half of
/// a shorter life. Throws Error{"NoCredentials", `FROM: ...`} that never quotes it.
FetchedKubeCredential parse_kube_exec_answer(std::string_view text, const KubeExec& exec, const std::string& from,
                                             std::chrono::sys_seconds now);

/// Runs the plugin without a shell and without an input. `origin` names the kubeconfig in messages. Throws Error
/// {kPluginNotStarted}, or Error{"NoCredentials"} with what it wrote to stderr, and in both the installHint.
FetchedKubeCredential run_kube_exec(const KubeExec& exec, const KubeCluster& cluster, const std::string& origin,
                                    const Services& services);

}  // namespace burst::auth
