// SPDX-License-Identifier: Apache-2.0
// The Security Token Service: tokens of other clouds and identity providers for Google's. Form:
// cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token
#include <fmt/format.h>

#include "gce/google_auth.h"
#include "gce/oauth_error.h"

namespace cloudsim::gce {

namespace {

constexpr std::string_view kTokenType = "urn:ietf:params:oauth:token-type:";
constexpr std::string_view kAwsTokenType = "urn:ietf:params:aws:token-type:aws4_request";
constexpr std::string_view kAudience = "//iam.googleapis.com/";

[[noreturn]] void refuse(const std::string& description) { throw OauthError{400, "invalid_grant", description}; }

std::string lower(std::string text) {
  for (auto& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// The request to AWS that the token holds: {"url", "method", "headers": [{"key", "value"}]}, percent-encoded.
HttpRequest aws_request(const std::string& token) {
  const auto json = nlohmann::json::parse(percent_decode(token, false), nullptr, false);
  constexpr std::string_view kHttps = "https://";
  HttpRequest out;
  try {
    const auto url = json.at("url").get<std::string>();
    if (!url.starts_with(kHttps)) {
      refuse("Error connecting to the given credential's issuer.");
    }
    const auto rest = url.substr(kHttps.size());
    const auto host = rest.substr(0, rest.find_first_of("/?"));
    const auto target = rest.substr(host.size());
    const auto mark = target.find('?');
    out.method = json.at("method").get<std::string>();
    out.path = mark == 0 || target.empty() ? "/" : target.substr(0, mark);
    out.query = mark == std::string::npos ? "" : target.substr(mark + 1);
    for (const auto& header : json.at("headers")) {
      out.headers.emplace_back(lower(header.at("key").get<std::string>()), header.at("value").get<std::string>());
    }
    if (!host.starts_with("sts.") || !host.ends_with(".amazonaws.com") || out.header("host") != host) {
      refuse("Error connecting to the given credential's issuer.");
    }
  } catch (const nlohmann::json::exception&) {
    refuse("Unable to parse the subject token: expected a serialized GetCallerIdentity request");
  }
  return out;
}

}  // namespace

void GoogleAuth::check_aws_token(const std::string& subject_token, const std::string& audience) const {
  const auto request = aws_request(subject_token);
  const auto query = parse_form(request.query);
  const std::map<std::string, std::string> expected{{"Action", "GetCallerIdentity"}, {"Version", "2011-06-15"}};
  if (request.method != "POST" || request.path != "/" || query != expected) {
    refuse("The subject token is no GetCallerIdentity request.");
  }
  const auto target = request.header("x-goog-cloud-target-resource");
  if (target != audience && target != "https:" + audience) {
    refuse("The header x-goog-cloud-target-resource does not match the audience.");
  }
  if (!aws_verifier_ || !aws_verifier_(request)) {
    refuse("Received invalid AWS response: SignatureDoesNotMatch");
  }
}

nlohmann::json GoogleAuth::sts_token(const HttpRequest& request) {
  const auto form = oauth_form(request);
  if (field(form, "grant_type") != "urn:ietf:params:oauth:grant-type:token-exchange") {
    throw OauthError{400, "unsupported_grant_type", "Invalid grant_type: " + field(form, "grant_type")};
  }
  const auto audience = field(form, "audience");
  if (!audience.starts_with(kAudience) || audience.find("/providers/") == std::string::npos) {
    throw OauthError{400, "invalid_request", "Invalid value for \"audience\"."};
  }
  const auto access_token = fmt::format("{}access_token", kTokenType);
  if (field(form, "requested_token_type") != access_token) {
    throw OauthError{400, "invalid_request", "Invalid value for \"requested_token_type\"."};
  }
  const auto token = field(form, "subject_token");
  const auto type = field(form, "subject_token_type");
  if (type == kAwsTokenType) {
    check_aws_token(token, audience);
  } else if (type != fmt::format("{}jwt", kTokenType) && type != fmt::format("{}id_token", kTokenType) &&
             type != fmt::format("{}saml2", kTokenType)) {
    throw OauthError{400, "invalid_request", "Invalid value for \"subject_token_type\"."};
  } else if (token != knobs_.subject_token) {
    refuse("The given credential is rejected by the attribute condition.");
  }
  auto out = issue(field(form, "scope"));
  out["issued_token_type"] = access_token;
  return out;
}

}  // namespace cloudsim::gce
