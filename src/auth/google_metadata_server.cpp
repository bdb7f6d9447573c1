// SPDX-License-Identifier: Apache-2.0
// The token of the service account that a Google machine runs as, from its metadata server.
#include "auth/google_metadata_server.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "auth/google_token_endpoint.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

constexpr int kOk = 200;
constexpr int kNotFound = 404;

std::vector<std::string> hosts(const Environment& environment) {
  const auto host = environment.get("GCE_METADATA_HOST").value_or("");
  if (host.empty()) return {"metadata.google.internal", "169.254.169.254"};
  const auto url = split_url("http://" + host);
  if (!url || host.find_first_of("/?#@ \t\r\n") != std::string::npos) {
    throw Error("NoCredentials",
                fmt::format("GCE_METADATA_HOST: expected HOST or HOST:PORT, found \"{}\"", one_line(host)));
  }
  return {host};
}

HttpResponse ask(const std::string& host, HttpClient& http) {
  HttpCall call;
  call.request.url = fmt::format("http://{}/computeMetadata/v1/instance/service-accounts/default/token", host);
  call.request.headers = {{"Metadata-Flavor", "Google"}};
  call.connect_timeout = std::chrono::seconds(1);  // nobody is there outside Google Cloud
  call.timeout = std::chrono::seconds(5);
  call.max_attempts = 7;  // it may be away for some seconds
  call.judge = [](const HttpResponse& response) {
    return RetryVerdict{response.status != 0 && is_transient_google_token_failure(response.status, ""), {}};
  };
  return http.send_one(std::move(call));
}

}  // namespace

std::optional<GoogleAccessToken> fetch_google_metadata_token(const Services& services, std::string& note) {
  std::vector<std::string> notes;
  for (const auto& host : hosts(services.environment)) {
    const auto sent = std::chrono::floor<std::chrono::seconds>(services.clock.now());
    const auto response = ask(host, services.http);
    if (response.status == 0) {
      notes.push_back(one_line(response.transport_error));
      continue;
    }
    // Another cloud's metadata service, or a proxy's page, does not say this.
    if (response.header("Metadata-Flavor").value_or("") != "Google") {
      notes.push_back(fmt::format("{} is not Google's: status {} without Metadata-Flavor", host, response.status));
      continue;
    }
    const auto from = fmt::format("metadata server {}", host);
    if (response.status == kNotFound) throw Error("NoCredentials", from + ": the machine has no service account");
    if (response.status != kOk) {
      throw Error("NoCredentials",
                  fmt::format("{}: status {}: {}", from, response.status, one_line(response.body, 200)));
    }
    return parse_google_token(response.body, from, sent);
  }
  note = fmt::format("metadata server: {}", fmt::join(notes, ", "));
  return std::nullopt;
}

}  // namespace burst::auth
