// SPDX-License-Identifier: Apache-2.0
// What the environment says about proxies and certificates.
#include "net/network_settings.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace burst::net {
namespace {

std::optional<std::string> either_case(const Environment& environment, std::string name) {
  if (auto value = environment.get(name)) return value;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return environment.get(name);
}

}  // namespace

NetworkSettings read_network_settings(const Environment& environment) {
  NetworkSettings settings;
  const std::string any = either_case(environment, "all_proxy").value_or("");
  settings.http_proxy = either_case(environment, "http_proxy").value_or(any);
  settings.https_proxy = either_case(environment, "https_proxy").value_or(any);
  settings.no_proxy = either_case(environment, "no_proxy").value_or("");
  // A lone "*" means every host to libcurl; in a list it would be a name.
  if (settings.no_proxy != "*") {
    if (!settings.no_proxy.empty()) settings.no_proxy += ',';
    settings.no_proxy += "169.254.0.0/16,fd00:ec2::/32,metadata.google.internal";
  }
  for (const auto* name : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    settings.ca_file = environment.get(name).value_or("");
    if (!settings.ca_file.empty()) break;
  }
  return settings;
}

}  // namespace burst::net
