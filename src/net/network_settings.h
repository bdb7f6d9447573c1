// SPDX-License-Identifier: Apache-2.0
// What the environment says about proxies and certificates.
#pragma once

#include <string>
#include <string_view>

#include "burst/environment.h"

namespace burst::net {

/// Read from our Environment, so that the configuration's `Environment` counts and libcurl's own getenv() does not.
struct NetworkSettings {
  std::string http_proxy, https_proxy;  ///< empty: none
  /// Comma-separated; always includes the link-local metadata addresses: a proxy's answer would be about the proxy.
  std::string no_proxy;
  std::string ca_file;  ///< empty: the system's trust store
};

/// Proxies: http_proxy, https_proxy, all_proxy, no_proxy; lower case wins over upper, also when set and empty.
/// Certificates: AWS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE, the first that is not empty.
NetworkSettings read_network_settings(const Environment& environment);

/// Whether `host` (no port, no brackets) is on a no_proxy list: `*`; a name, which stands for all names below it too;
/// an address; a range of addresses (`10.0.0.0/8`). As libcurl decides about the host of a URL.
bool bypasses_proxy(std::string_view no_proxy, std::string_view host);

}  // namespace burst::net
