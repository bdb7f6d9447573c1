// SPDX-License-Identifier: Apache-2.0
// Credentials of the instance's role, from the EC2 instance metadata service (IMDSv2).
#include "auth/aws_imds.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "auth/aws_json_credentials.h"
#include "auth/percent_encoding.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

constexpr int kOk = 200;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

int positive_number(const Environment& environment, std::string_view name, int otherwise) {
  const auto text = environment.get(name).value_or("");
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && end == text.data() + text.size() && value > 0 ? value : otherwise;
}

std::string base_url(const Environment& environment) {
  auto url = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("");
  if (url.empty()) {
    const bool ipv6 = lower(environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").value_or("")) == "ipv6" ||
                      lower(environment.get("AWS_IMDS_USE_IPV6").value_or("")) == "true";
    url = ipv6 ? "http://[fd00:ec2::254]/" : "http://169.254.169.254/";
  }
  if (!url.ends_with('/')) url += '/';
  return url;
}

/// One conversation with the service: a session token, then reads with it.
class Imds {
 public:
  explicit Imds(const Services& services)
      : http_(services.http),
        base_(base_url(services.environment)),
        timeout_(std::chrono::seconds(positive_number(services.environment, "AWS_METADATA_SERVICE_TIMEOUT", 1))),
        attempts_(positive_number(services.environment, "AWS_METADATA_SERVICE_NUM_ATTEMPTS", 1)) {}

  const std::string& base() const { return base_; }

  /// False when the service turned the request down as malformed. Where it has no tokens, or their replies do not come
  /// through (a hop limit of 1 inside a container), reads go without one: IMDSv1, as AWS's own tools do.
  bool open() {
    auto call = new_call("PUT", "latest/api/token");
    call.request.headers.emplace_back("x-aws-ec2-metadata-token-ttl-seconds", "21600");
    const auto response = http_.send_one(std::move(call));
    if (response.status == kOk) token_ = Secret(response.body);
    static constexpr int kBadRequest = 400;
    return response.status != kBadRequest;
  }

  HttpResponse read(const std::string& path) {
    auto call = new_call("GET", path);
    if (!token_.empty()) call.request.headers.emplace_back("x-aws-ec2-metadata-token", token_.reveal());
    return http_.send_one(std::move(call));
  }

 private:
  HttpCall new_call(std::string method, const std::string& path) const {
    HttpCall call;
    call.request.method = std::move(method);
    call.request.url = base_ + path;
    call.max_attempts = attempts_;
    call.timeout = timeout_;
    call.connect_timeout = timeout_;
    call.judge = [](const HttpResponse& response) {
      const bool final = response.status == kOk || (response.status >= 400 && response.status <= 405);
      return RetryVerdict{!final, std::chrono::milliseconds(0)};
    };
    return call;
  }

  HttpClient& http_;
  std::string base_;
  std::chrono::milliseconds timeout_;
  int attempts_;
  Secret token_;
};

std::string first_line(const std::string& text) {
  const auto end = text.find_first_of("\r\n");
  return text.substr(0, end);
}

std::string what_came(const HttpResponse& response) {
  if (response.status == 0) return response.transport_error;
  return fmt::format("status {}{}", response.status, response.body.empty() ? ", no body" : "");
}

/// AWS's rule for its own outages: https://docs.aws.amazon.com/sdkref/latest/guide/feature-static-stability.html
void extend(AwsCredentials& credentials, const Services& services) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  static constexpr std::uint64_t kSpread = 480;  // seconds: the offset is 17 to 25 minutes
  const auto jitter = seconds(services.random.next() % (kSpread + 1));
  const auto offset = minutes(17) + jitter;
  const auto now = std::chrono::floor<seconds>(services.clock.now());
  if (!credentials.expires || now < *credentials.expires - offset) return;
  credentials.expires = now + offset;
  services.log.info("the credentials of the instance's role are about to expire or have expired: going on with them");
}

}  // namespace

std::optional<AwsCredentials> fetch_imds_credentials(const Services& services, std::string& note) {
  if (lower(services.environment.get("AWS_EC2_METADATA_DISABLED").value_or("")) == "true") {
    note = "instance metadata: AWS_EC2_METADATA_DISABLED is set";
    return std::nullopt;
  }
  Imds imds(services);
  const auto url = split_url(imds.base());
  if (!url) {
    throw Error("InvalidEndpoint", fmt::format("AWS_EC2_METADATA_SERVICE_ENDPOINT: expected an http URL, found \"{}\"",
                                               one_line(imds.base())));
  }
  const auto from = fmt::format("instance metadata at {}", url->host_header());
  if (!imds.open()) {
    note = from + ": status 400 to a token request";
    return std::nullopt;
  }
  const std::string folder = "latest/meta-data/iam/security-credentials/";
  const auto roles = imds.read(folder);
  const auto role = first_line(roles.body);
  static constexpr int kNotFound = 404;
  if (roles.status != kOk || role.empty()) {
    note =
        roles.status == kNotFound ? from + ": the instance has no role" : fmt::format("{}: {}", from, what_came(roles));
    return std::nullopt;
  }
  const auto reply = imds.read(folder + percent_encode(role, "+=,@/"));
  if (reply.status != kOk) {
    note = fmt::format("{}: role {}: {}", from, one_line(role), what_came(reply));
    return std::nullopt;
  }
  try {
    auto credentials =
        parse_aws_json_credentials(reply.body, {"Token"}, fmt::format("{}: role {}", from, one_line(role)));
    extend(credentials, services);
    return credentials;
  } catch (const Error& error) {
    note = error.what();
    return std::nullopt;
  }
}

}  // namespace burst::auth
