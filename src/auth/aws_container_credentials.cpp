// SPDX-License-Identifier: Apache-2.0
// Credentials of a container's role, from the endpoint that ECS or EKS Pod Identity names.
#include "auth/aws_container_credentials.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "auth/aws_json_credentials.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

constexpr std::string_view kRelativeUri = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
constexpr std::string_view kFullUri = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
constexpr std::string_view kTokenFile = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
constexpr std::string_view kToken = "AWS_CONTAINER_AUTHORIZATION_TOKEN";

bool is_local(const UrlParts& url) {
  static constexpr std::array<std::string_view, 5> kHosts{"169.254.170.2", "169.254.170.23", "fd00:ec2::23",
                                                          "localhost", "::1"};
  return std::ranges::find(kHosts, url.host) != kHosts.end() ||
         (url.host.starts_with("127.") && url.host.find_first_not_of("0123456789.") == std::string::npos);
}

std::string endpoint(const Environment& environment) {
  if (const auto path = environment.get(kRelativeUri)) return "http://169.254.170.2" + *path;
  auto url = environment.get(kFullUri).value_or("");
  const auto parts = split_url(url);
  if (!parts) throw Error("NoCredentials", fmt::format("{}: expected an http or https URL", kFullUri));
  if (parts->scheme != "https" && !is_local(*parts)) {
    throw Error("NoCredentials", fmt::format("{}: plain http is for this machine and AWS's container addresses, not {}",
                                             kFullUri, one_line(parts->host_header())));
  }
  return url;
}

Secret authorization(const Environment& environment, const Files& files) {
  std::string token;
  std::string_view source = kToken;
  if (const auto path = environment.get(kTokenFile); path && !path->empty()) {
    const auto text = files.read(*path);
    if (!text) throw Error("NoCredentials", fmt::format("{}: no such file: \"{}\"", kTokenFile, one_line(*path)));
    token = *text;
    source = kTokenFile;
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  } else {
    token = environment.get(kToken).value_or("");
  }
  if (token.find_first_of("\r\n") != std::string::npos) {
    throw Error("NoCredentials", fmt::format("{}: expected a token without line breaks", source));
  }
  return Secret(std::move(token));
}

}  // namespace

std::optional<AwsCredentials> fetch_container_credentials(const Services& services) {
  const auto& environment = services.environment;
  if (!environment.get(kRelativeUri) && !environment.get(kFullUri)) return std::nullopt;
  HttpCall call;
  call.request.url = endpoint(environment);
  const auto parts = split_url(call.request.url);
  if (!parts) throw Error("NoCredentials", fmt::format("{}: expected a path like /v2/credentials/...", kRelativeUri));
  call.request.headers = {{"Accept", "application/json"}};
  if (const auto token = authorization(environment, services.files); !token.empty()) {
    call.request.headers.emplace_back("Authorization", token.reveal());
  }
  static constexpr int kOk = 200;
  call.timeout = call.connect_timeout = std::chrono::seconds(2);
  call.max_attempts = 3;
  call.judge = [](const HttpResponse& response) { return RetryVerdict{response.status != kOk, {}}; };
  const auto response = services.http.send_one(std::move(call));
  const auto from = fmt::format("container credentials from {}", parts->host_header());
  if (response.status == 0) throw Error("NoCredentials", fmt::format("{}: {}", from, response.transport_error));
  if (response.status != kOk) {
    throw Error("NoCredentials", fmt::format("{}: status {}: {}", from, response.status, one_line(response.body, 200)));
  }
  return parse_aws_json_credentials(response.body, {"Token"}, from);
}

}  // namespace burst::auth
