// SPDX-License-Identifier: Apache-2.0
// HttpClient over libcurl's multi interface.
#pragma once

#include <chrono>
#include <memory>

#include "burst/clock.h"
#include "burst/environment.h"
#include "burst/http.h"
#include "burst/log.h"
#include "burst/random.h"

namespace burst::net {

struct CurlHttpSettings {
  std::chrono::steady_clock::time_point deadline;  ///< of the whole program: no attempt goes on beyond it
  int in_flight = 128;                             ///< requests side by side, over all threads' send() each
  std::string user_agent;                          ///< `slurm-burst/0.1.0`
  /// How long a request that is throttled is sent again and again, from the first refusal on.
  std::chrono::seconds throttle_patience = std::chrono::minutes(2);
};

/// Variables honoured: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY (both cases), AWS_CA_BUNDLE, CURL_CA_BUNDLE,
/// SSL_CERT_FILE. Link-local metadata addresses are never asked through a proxy of the environment. libcurl itself is
/// initialised at the first request.
std::unique_ptr<HttpClient> make_curl_http(const CurlHttpSettings& settings, Clock& clock, Random& random,
                                           const Environment& environment, Log& log);

}  // namespace burst::net
