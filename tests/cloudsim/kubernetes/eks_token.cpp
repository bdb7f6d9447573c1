// SPDX-License-Identifier: Apache-2.0
// Checks the bearer tokens of EKS as its authenticator and STS together do.
#include "kubernetes/eks_token.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "ec2/sigv4.h"
#include "http_message.h"
#include "kubernetes/base64.h"

namespace cloudsim::kubernetes {

namespace {

constexpr std::string_view kPrefix = "k8s-aws-v1.";
constexpr std::chrono::minutes kLifetime{15};
constexpr std::chrono::minutes kSkew{5};
constexpr int kMaxExpires = 900;
using Query = std::map<std::string, std::string>;

std::string value(const Query& query, const std::string& key) {
  const auto found = query.find(key);
  return found == query.end() ? "" : found->second;
}

bool has_only_known_parameters(const Query& query) {
  static constexpr std::array kKnown{
      "Action",        "Version",         "X-Amz-Algorithm",     "X-Amz-Credential",     "X-Amz-Date",
      "X-Amz-Expires", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Security-Token", "X-Amz-User-Agent"};
  return std::all_of(query.begin(), query.end(), [&](const auto& entry) {
    return std::find(kKnown.begin(), kKnown.end(), entry.first) != kKnown.end();
  });
}

bool is_in_time(const Query& query, std::chrono::system_clock::time_point now) {
  std::tm fields{};
  const auto text = value(query, "X-Amz-Date");
  const char* const end = strptime(text.c_str(), "%Y%m%dT%H%M%SZ", &fields);
  const auto expires = value(query, "X-Amz-Expires");
  int seconds = 0;
  const auto parsed = std::from_chars(expires.data(), expires.data() + expires.size(), seconds);
  if (end == nullptr || *end != '\0' || parsed.ec != std::errc{} || seconds < 0 || seconds > kMaxExpires) {
    return false;
  }
  const auto made = std::chrono::system_clock::from_time_t(timegm(&fields));
  return made <= now + kSkew && now <= made + kLifetime;
}

/// The query as it was sent, without its signature.
std::string unsigned_query(const std::string& query) {
  std::string out;
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find('&', at), query.size());
    const auto part = query.substr(at, end - at);
    if (!part.starts_with("X-Amz-Signature=")) {
      out += (out.empty() ? "" : "&") + part;
    }
    at = end + 1;
  }
  return out;
}

}  // namespace

std::optional<std::string> verify_eks_token(const std::string& token, const std::string& cluster, const AwsKeys& keys,
                                            std::chrono::system_clock::time_point now) {
  if (!token.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const auto url = base64url_decode(std::string_view(token).substr(kPrefix.size()));
  static const std::regex kUrl(R"(https://(sts(?:\.[a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?)/\?(.*))");
  std::smatch parts;
  if (!url || !std::regex_match(*url, parts, kUrl)) {
    return std::nullopt;
  }
  const auto query = parse_form(parts[2].str());
  const auto headers = value(query, "X-Amz-SignedHeaders");
  const auto claim = ec2::parse_authorization(
      fmt::format("{} Credential={}, SignedHeaders={}, Signature={}", value(query, "X-Amz-Algorithm"),
                  value(query, "X-Amz-Credential"), headers, value(query, "X-Amz-Signature")));
  if (!claim || value(query, "Action") != "GetCallerIdentity" || value(query, "Version") != "2011-06-15" ||
      !has_only_known_parameters(query) || headers != "host;x-k8s-aws-id" || claim->service != "sts" ||
      !value(query, "X-Amz-Date").starts_with(claim->date) || !is_in_time(query, now)) {
    return std::nullopt;
  }
  const auto key = keys ? keys(claim->access_key_id) : std::nullopt;
  if (!key || key->expires <= now || key->session_token != value(query, "X-Amz-Security-Token")) {
    return std::nullopt;
  }
  HttpRequest request;
  request.method = "GET";
  request.path = "/";
  request.query = unsigned_query(parts[2].str());
  request.headers = {{"host", parts[1].str()}, {"x-k8s-aws-id", cluster}};
  const auto canonical = ec2::canonical_request(request, claim->signed_headers);
  if (ec2::expected_signature(*claim, value(query, "X-Amz-Date"), canonical, key->secret) != claim->signature) {
    return std::nullopt;
  }
  return key->arn;
}

}  // namespace cloudsim::kubernetes
