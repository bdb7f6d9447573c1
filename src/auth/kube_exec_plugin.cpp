// SPDX-License-Identifier: Apache-2.0
// Credentials from a program that a kubeconfig names (`exec`).
#include "auth/kube_exec_plugin.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/google_base64.h"
#include "auth/home_folder.h"
#include "auth/iso_time.h"
#include "auth/kube_document.h"
#include "auth/kube_fields.h"
#include "auth/kube_pem.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr seconds kTime{60};    // it may ask an identity provider over the network
constexpr seconds kMargin{60};  // a request is to reach the API server before the token ends

json cluster_info(const KubeCluster& cluster) {
  json info{{"server", cluster.server}};
  if (!cluster.tls_server_name.empty()) info["tls-server-name"] = cluster.tls_server_name;
  if (!cluster.ca_certificates.empty()) info["certificate-authority-data"] = base64(cluster.ca_certificates);
  if (!cluster.proxy_url.empty()) info["proxy-url"] = cluster.proxy_url;
  if (!cluster.exec_config.empty()) info["config"] = json::parse(cluster.exec_config);
  return info;
}

}  // namespace

std::string kube_exec_info(const KubeExec& exec, const KubeCluster& cluster) {
  auto spec = json::object();
  if (exec.provide_cluster_info) spec["cluster"] = cluster_info(cluster);
  spec["interactive"] = false;
  return json{{"apiVersion", exec.api_version}, {"kind", "ExecCredential"}, {"spec", spec}}.dump();
}

FetchedKubeCredential parse_kube_exec_answer(std::string_view text, const KubeExec& exec, const std::string& from,
                                             std::chrono::sys_seconds now) {
  static constexpr auto* kCode = "NoCredentials";
  if (text.size() > kLargestKubeDocument) throw Error(kCode, from + ": expected an ExecCredential, found over 1 MiB");
  const auto document = json::parse(text, nullptr, false);
  if (document.is_discarded()) throw Error(kCode, from + ": expected an ExecCredential as JSON, found something else");
  const KubeFields root(document, from, "", kCode);
  if (root.text("kind") != "ExecCredential") root.fail("kind", "expected ExecCredential");
  if (root.text("apiVersion") != exec.api_version) root.fail("apiVersion", "expected " + exec.api_version);
  const auto status = root.object("status");
  FetchedKubeCredential fetched;
  fetched.credential = {Secret(status.text("token")), status.text("clientCertificateData"),
                        Secret(status.text("clientKeyData"))};
  const auto& credential = fetched.credential;
  if (credential.client_certificate.empty() != credential.client_key.empty()) {
    status.fail("clientKeyData", "expected clientCertificateData and clientKeyData, found one of them");
  }
  if (credential.token.empty() && credential.client_certificate.empty()) {
    status.fail("token", "expected a token or a client certificate, found neither");
  }
  if (!credential.client_certificate.empty()) {
    if (const auto why = wrong_certificate(credential.client_certificate); !why.empty()) {
      status.fail("clientCertificateData", why);
    }
    if (const auto why = wrong_private_key(credential.client_key.reveal()); !why.empty()) {
      status.fail("clientKeyData", why);
    }
  }
  if (const auto time = status.text("expirationTimestamp"); !time.empty()) {
    fetched.expires = parse_iso_time(time);
    if (!fetched.expires) status.fail("expirationTimestamp", "expected a time such as 2030-01-02T03:04:05Z");
    if (*fetched.expires <= now) status.fail("expirationTimestamp", "expected a time to come, found one that is over");
    fetched.renew = *fetched.expires - std::min(kMargin, (*fetched.expires - now) / 2);
  }
  return fetched;
}

FetchedKubeCredential run_kube_exec(const KubeExec& exec, const KubeCluster& cluster, const std::string& origin,
                                    const Services& services) {
  const auto from = fmt::format("{}: exec plugin \"{}\"", origin, one_line(exec.command));
  const auto hint = exec.install_hint.empty() ? "" : "; " + one_line(exec.install_hint);
  ProcessRequest request;
  request.argv = exec.arguments;
  request.argv.insert(request.argv.begin(), exec.command);
  request.environment = exec.environment;
  std::erase_if(request.environment, [](const auto& entry) { return entry.first == "KUBERNETES_EXEC_INFO"; });
  request.environment.emplace_back("KUBERNETES_EXEC_INFO", kube_exec_info(exec, cluster));
  // slurmctld passes no HOME on, and the clouds' own programs look for their files there.
  const bool has_home = std::ranges::any_of(exec.environment, [](const auto& entry) { return entry.first == "HOME"; });
  if (!has_home) request.environment.emplace_back("HOME", home_folder(services.environment));
  request.timeout = kTime;
  ProcessResult result;
  try {
    result = services.processes.run(request);
  } catch (const Error& error) {
    throw Error(std::string(kPluginNotStarted), fmt::format("{}: {}{}", from, error.what(), hint));
  }
  if (result.timed_out) throw Error("NoCredentials", fmt::format("{}: no answer in {} s", from, kTime.count()));
  if (result.status != 0) {
    throw Error("NoCredentials",
                fmt::format("{}: exit status {}: {}{}", from, result.status, one_line(result.errors), hint));
  }
  return parse_kube_exec_answer(result.output, exec, from, std::chrono::floor<seconds>(services.clock.now()));
}

}  // namespace burst::auth
