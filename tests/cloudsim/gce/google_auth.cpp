// SPDX-License-Identifier: Apache-2.0
// Tokens: who gets one, and which are good. Forms: developers.google.com/identity/protocols/oauth2/service-account,
// cloud.google.com/iam/docs/reference/credentials/rest, RFC 6749 and 7523.
#include "gce/google_auth.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "gce/api_description.h"
#include "gce/oauth_error.h"

namespace cloudsim::gce {

namespace {

constexpr std::string_view kIamPrefix = "/v1/projects/-/serviceAccounts/";
constexpr std::string_view kIamSuffix = ":generateAccessToken";
constexpr std::string_view kGoogleTokenUrl = "https://oauth2.googleapis.com/token";
constexpr std::string_view kJwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::chrono::minutes kMaxSkew{10};
constexpr std::chrono::hours kLongestAssertion{1};
constexpr std::string_view kTimeframe =
    "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp "
    "values in the JWT claim.";

GoogleAuth::WallTime now() { return std::chrono::system_clock::now(); }

HttpReply json_reply(int status, const nlohmann::json& body) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = "application/json; charset=utf-8";
  reply.body = body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  return reply;
}

// Google's scopes that let a caller into Compute Engine.
bool lets_in(const std::string& scopes) {
  const auto words = split(scopes, ' ');
  return std::any_of(words.begin(), words.end(), [](auto scope) {
    return scope == "https://www.googleapis.com/auth/cloud-platform" ||
           scope == "https://www.googleapis.com/auth/compute";
  });
}

bool is_scope_list(const std::string& scopes) {
  const auto words = split(scopes, ' ');
  return std::all_of(words.begin(), words.end(),
                     [](auto scope) { return scope.starts_with("https://www.googleapis.com/auth/"); });
}

std::string claim_text(const Jwt& jwt, const std::string& name) {
  const auto found = jwt.claims.find(name);
  return found != jwt.claims.end() && found->is_string() ? found->get<std::string>() : "";
}

// Service accounts are called NAME@PROJECT.iam.gserviceaccount.com.
std::string project_of(const std::string& email) {
  const auto at = email.find('@') + 1;
  return email.substr(at, email.find('.', at) - at);
}

void check_times(const Jwt& jwt) {
  constexpr double kLatest = 1e10;
  for (const auto* const name : {"iat", "exp"}) {
    if (!jwt.claims.contains(name) || !jwt.claims[name].is_number() ||
        std::abs(jwt.claims[name].get<double>()) > kLatest) {
      throw OauthError{400, "invalid_grant", std::string(kTimeframe)};
    }
  }
  const auto issued = std::chrono::system_clock::from_time_t(jwt.claims["iat"].get<std::time_t>());
  const auto expires = std::chrono::system_clock::from_time_t(jwt.claims["exp"].get<std::time_t>());
  if (issued > now() + kMaxSkew || expires <= now() || expires - issued > kLongestAssertion || expires <= issued) {
    throw OauthError{400, "invalid_grant", std::string(kTimeframe)};
  }
}

}  // namespace

bool GoogleAuth::set_knob(const std::string& name, const nlohmann::json& value) {
  const std::map<std::string, std::string*> texts{{"service_account", &knobs_.service_account},
                                                  {"subject_token", &knobs_.subject_token},
                                                  {"refresh_token", &knobs_.refresh_token},
                                                  {"client_id", &knobs_.client_id},
                                                  {"client_secret", &knobs_.client_secret}};
  if (const auto text = texts.find(name); text != texts.end()) {
    *text->second = value.get<std::string>();
  } else if (name == "verify_tokens") {
    knobs_.verify_tokens = value.get<bool>();
  } else if (name == "token_seconds") {
    knobs_.token_lifetime = Millis{static_cast<std::int64_t>(value.get<double>() * 1000)};
  } else if (name == "not_impersonable") {
    knobs_.not_impersonable = value.get<std::set<std::string>>();
  } else if (name == "service_account_key") {
    RsaKey::from_pem(value.get<std::string>());
    knobs_.service_account_key = value.get<std::string>();
    key_.reset();
  } else {
    return false;
  }
  return true;
}

void GoogleAuth::start(const std::string& url) {
  url_ = url;
  initial_knobs_ = knobs_;
}

void GoogleAuth::reset() {
  if (knobs_.service_account_key != initial_knobs_.service_account_key) {
    key_.reset();
  }
  knobs_ = initial_knobs_;
  tokens_.clear();
}

const RsaKey& GoogleAuth::key() {
  if (!key_) {
    key_ = knobs_.service_account_key.empty() ? RsaKey::generate() : RsaKey::from_pem(knobs_.service_account_key);
  }
  return *key_;
}

std::optional<std::string> GoogleAuth::action_of(const HttpRequest& request) {
  if (request.path == "/token") {
    return "oauth2.token";
  }
  if (request.path == "/v1/token") {
    return "sts.token";
  }
  if (request.path.starts_with(kIamPrefix)) {
    return "iamcredentials.generateAccessToken";
  }
  return std::nullopt;
}

HttpReply GoogleAuth::answer(const HttpRequest& request) {
  try {
    if (request.method != "POST") {
      throw ApiError{404, "notFound", "NOT_FOUND", "Not Found"};
    }
    if (request.path.starts_with(kIamPrefix)) {
      return json_reply(200, generate_access_token(request));
    }
    return json_reply(200, request.path == "/token" ? oauth2_token(request) : sts_token(request));
  } catch (const OauthError& error) {
    return json_reply(error.status, {{"error", error.error}, {"error_description", error.description}});
  } catch (const ApiError& error) {
    return json_reply(error.status, error_body(error));
  } catch (const nlohmann::json::exception&) {
    return json_reply(400, {{"error", "invalid_request"}, {"error_description", "Bad Request"}});
  }
}

std::optional<nlohmann::json> GoogleAuth::control(const HttpRequest& request) {
  if (request.method == "GET" && request.path == "/_control/gce/service_account_key") {
    return nlohmann::json{{"type", "service_account"},
                          {"project_id", project_of(knobs_.service_account)},
                          {"private_key_id", key().id()},
                          {"private_key", key().private_pem()},
                          {"client_email", knobs_.service_account},
                          {"client_id", "100000000000000000001"},
                          {"token_uri", url_ + "/token"},
                          {"universe_domain", "googleapis.com"}};
  }
  if (request.method == "POST" && request.path == "/_control/gce/tokens/expire") {
    for (auto& [text, token] : tokens_) {
      token.expires = std::min(token.expires, now());
    }
    return nlohmann::json::object();
  }
  return std::nullopt;
}

std::string GoogleAuth::new_token(const std::string& scopes, WallTime expires) {
  auto text = fmt::format("ya29.c.{:016x}{:016x}{:016x}{:016x}", random_(), random_(), random_(), random_());
  tokens_[text] = {scopes, expires};
  return text;
}

nlohmann::json GoogleAuth::issue(const std::string& scopes) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(knobs_.token_lifetime).count();
  return {{"access_token", new_token(scopes, now() + knobs_.token_lifetime)},
          {"expires_in", seconds},
          {"token_type", "Bearer"}};
}

const GoogleAuth::Token* GoogleAuth::find_token(const HttpRequest& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const auto header = request.header("authorization");
  if (!header.starts_with(kBearer)) {
    return nullptr;
  }
  const auto found = tokens_.find(std::string(header.substr(kBearer.size())));
  return found != tokens_.end() && found->second.expires > now() ? &found->second : nullptr;
}

bool GoogleAuth::authorized(const HttpRequest& request) const {
  if (!knobs_.verify_tokens) {
    return true;
  }
  const auto* const token = find_token(request);
  return token != nullptr && lets_in(token->scopes);
}

ApiError GoogleAuth::refusal_of(const HttpRequest& request) const {
  if (find_token(request) != nullptr) {
    return {403, "insufficientPermissions", "PERMISSION_DENIED", "Request had insufficient authentication scopes."};
  }
  constexpr std::string_view kExpected =
      "Expected OAuth 2 access token, login cookie or other valid authentication credential. See "
      "https://developers.google.com/identity/sign-in/web/devconsole-project.";
  if (request.header("authorization").empty()) {
    return {401, "required", "UNAUTHENTICATED",
            fmt::format("Request is missing required authentication credential. {}", kExpected)};
  }
  return {401, "authError", "UNAUTHENTICATED",
          fmt::format("Request had invalid authentication credentials. {}", kExpected)};
}

nlohmann::json GoogleAuth::oauth2_token(const HttpRequest& request) {
  const auto form = oauth_form(request);
  const auto grant = field(form, "grant_type");
  if (grant == kJwtBearer) {
    return jwt_bearer(form);
  }
  if (grant == "refresh_token") {
    return refresh(form);
  }
  throw OauthError{400, "unsupported_grant_type", "Invalid grant_type: " + grant};
}

nlohmann::json GoogleAuth::jwt_bearer(const std::map<std::string, std::string>& form) {
  const auto jwt = parse_jwt(field(form, "assertion"));
  if (!jwt || jwt->header.value("alg", "") != "RS256") {
    throw OauthError{400, "invalid_grant", "Invalid JWT: expected a token signed with RS256."};
  }
  if (claim_text(*jwt, "iss") != knobs_.service_account) {
    throw OauthError{400, "invalid_grant", "Invalid grant: account not found"};
  }
  if (jwt->header.value("kid", key().id()) != key().id() || !key().signed_by_this(jwt->signed_text, jwt->signature)) {
    throw OauthError{400, "invalid_grant", "Invalid JWT Signature."};
  }
  check_times(*jwt);
  const auto audience = claim_text(*jwt, "aud");
  if (audience != url_ + "/token" && audience != kGoogleTokenUrl) {
    throw OauthError{400, "invalid_grant",
                     "Invalid JWT: Failed audience check. The right audience is " + std::string(kGoogleTokenUrl)};
  }
  const auto scopes = claim_text(*jwt, "scope");
  if (!is_scope_list(scopes)) {
    throw OauthError{400, "invalid_scope", "Invalid OAuth scope or ID token audience provided."};
  }
  return issue(scopes);
}

nlohmann::json GoogleAuth::refresh(const std::map<std::string, std::string>& form) {
  if (field(form, "client_id") != knobs_.client_id) {
    throw OauthError{401, "invalid_client", "The OAuth client was not found."};
  }
  if (field(form, "client_secret") != knobs_.client_secret) {
    throw OauthError{401, "invalid_client", "The provided client secret is invalid."};
  }
  if (field(form, "refresh_token") != knobs_.refresh_token) {
    throw OauthError{400, "invalid_grant", "Token has been expired or revoked."};
  }
  auto out = issue("https://www.googleapis.com/auth/cloud-platform");
  out["scope"] = "https://www.googleapis.com/auth/cloud-platform";
  return out;
}

nlohmann::json GoogleAuth::generate_access_token(const HttpRequest& request) {
  std::string_view account = std::string_view(request.path).substr(kIamPrefix.size());
  if (!account.ends_with(kIamSuffix)) {
    throw ApiError{404, "notFound", "NOT_FOUND", "Not Found"};
  }
  account.remove_suffix(kIamSuffix.size());
  if (!authorized(request)) {
    throw refusal_of(request);
  }
  const auto email = percent_decode(account, false);
  if (!email.ends_with(".gserviceaccount.com") || knobs_.not_impersonable.count(email) > 0) {
    throw ApiError{403, "forbidden", "PERMISSION_DENIED",
                   "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist)."};
  }
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  const auto question = read_impersonation(body);
  const auto lifetime = std::min<std::chrono::milliseconds>(question.lifetime, knobs_.token_lifetime);
  const auto expires = std::chrono::floor<std::chrono::seconds>(now() + lifetime + std::chrono::milliseconds(999));
  const auto token = new_token(question.scopes, now() + lifetime);
  return {
      {"accessToken", token},
      {"expireTime", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(expires)))}};
}

}  // namespace cloudsim::gce
