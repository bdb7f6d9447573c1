// SPDX-License-Identifier: Apache-2.0
// Proof of an AWS identity, for workload identity federation: a signed request that Google sends to AWS.
#include "auth/google_aws_subject_token.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/aws_credentials.h"
#include "auth/aws_sigv4.h"
#include "auth/percent_encoding.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

constexpr std::string_view kEndpointVariable = "AWS_EC2_METADATA_SERVICE_ENDPOINT";

/// The variables, with EC2's metadata service where the credentials file says it is.
class MetadataEnvironment : public Environment {
 public:
  MetadataEnvironment(const Environment& other, std::string endpoint) : other_(other), endpoint_(std::move(endpoint)) {}
  std::optional<std::string> get(std::string_view name) const override {
    auto value = other_.get(name);
    if (name == kEndpointVariable && value.value_or("").empty() && !endpoint_.empty()) return endpoint_;
    return value;
  }

 private:
  const Environment& other_;
  std::string endpoint_;
};

/// What comes before the service's own paths; empty when the file names no `url`.
std::string metadata_endpoint(const GoogleCredentialFields& source) {
  if (!source.has("url")) return {};
  auto url = source.url("url", PlainHttp::metadata_server);
  if (url.ends_with('/')) url.pop_back();
  static constexpr std::string_view kRoles = "/latest/meta-data/iam/security-credentials";
  if (!url.ends_with(kRoles)) source.refuse("url", fmt::format("expected a URL that ends in {}", kRoles));
  url.resize(url.size() - kRoles.size() + 1);
  return url;
}

std::string ask_metadata(HttpRequest request, const std::string& what, HttpClient& http) {
  HttpCall call;
  call.request = std::move(request);
  call.connect_timeout = std::chrono::seconds(1);
  call.timeout = std::chrono::seconds(2);
  call.max_attempts = 3;
  const auto response = http.send_one(std::move(call));
  static constexpr int kOk = 200;
  if (response.status == 0) throw Error("NoCredentials", fmt::format("{}: {}", what, response.transport_error));
  if (response.status != kOk) throw Error("NoCredentials", fmt::format("{}: status {}", what, response.status));
  return response.body;
}

std::string find_region(const GoogleCredentialFields& source, const Services& services) {
  for (const auto* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (auto region = services.environment.get(name).value_or(""); !region.empty()) return region;
  }
  if (!source.has("region_url")) {
    source.refuse("region_url", "expected a URL: neither AWS_REGION nor AWS_DEFAULT_REGION is set");
  }
  const auto url = source.url("region_url", PlainHttp::metadata_server);
  HttpHeaders headers;
  if (source.has("imdsv2_session_token_url")) {
    const auto token_url = source.url("imdsv2_session_token_url", PlainHttp::metadata_server);
    const auto token = ask_metadata({"PUT", token_url, {{"X-aws-ec2-metadata-token-ttl-seconds", "300"}}, ""},
                                    source.file() + ": session token for AWS metadata", services.http);
    headers.emplace_back("X-aws-ec2-metadata-token", token);
  }
  auto zone =
      ask_metadata({"GET", url, std::move(headers), ""}, source.file() + ": AWS region from metadata", services.http);
  if (!zone.empty()) zone.pop_back();  // us-east-2b is a zone of us-east-2
  return zone;
}

/// The region becomes part of a host name.
void check_region(const std::string& region, const GoogleCredentialFields& source) {
  static constexpr std::size_t kLongestLabel = 63;
  const bool fits = !region.empty() && region.size() <= kLongestLabel && std::ranges::all_of(region, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!fits) {
    throw Error("InvalidRegion", fmt::format("{}: expected the name of an AWS region like us-east-1, found \"{}\"",
                                             source.file(), one_line(region, 80)));
  }
}

std::string verification_url(const GoogleCredentialFields& source, const std::string& region) {
  static constexpr std::string_view kPlace = "{region}";
  auto url = source.text("regional_cred_verification_url");
  for (auto at = url.find(kPlace); at != std::string::npos; at = url.find(kPlace)) {
    url.replace(at, kPlace.size(), region);
  }
  source.check_url("regional_cred_verification_url", url);
  return url;
}

std::string serialize(const HttpRequest& request) {
  HttpHeaders sorted;
  for (const auto& [name, value] : request.headers) {
    std::string key = name;
    std::ranges::transform(key, key.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    sorted.emplace_back(key == "authorization" ? "Authorization" : key, value);
  }
  std::ranges::sort(sorted);
  auto headers = nlohmann::json::array();
  for (const auto& [key, value] : sorted) headers.push_back({{"key", key}, {"value", value}});
  const nlohmann::json object{{"headers", std::move(headers)}, {"method", request.method}, {"url", request.url}};
  return percent_encode(object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), "/");
}

}  // namespace

Secret make_google_aws_subject_token(const GoogleCredentialFields& source, const std::string& audience,
                                     const Services& services) {
  const auto version = source.text("environment_id");
  if (version != "aws1") source.refuse("environment_id", "expected aws1");
  MetadataEnvironment environment(services.environment, metadata_endpoint(source));
  const auto region = find_region(source, services);
  check_region(region, source);
  HttpRequest request;
  request.method = "POST";
  request.url = verification_url(source, region);
  request.headers = {{"x-goog-cloud-target-resource", audience}};  // signed: the proof is for this provider only
  AwsCredentials credentials;
  try {
    const Services with_metadata{services.clock, environment,        services.files, services.http,
                                 services.log,   services.processes, services.random};
    credentials = make_aws_credential_source({"", region}, with_metadata)->get();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", source.file(), error.what()));
  }
  sign_aws_request(request, credentials, {region, "sts"},
                   std::chrono::floor<std::chrono::seconds>(services.clock.now()));
  return Secret(serialize(request));
}

}  // namespace burst::auth
