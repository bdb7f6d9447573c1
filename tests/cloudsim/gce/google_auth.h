// SPDX-License-Identifier: Apache-2.0
// Google's token endpoints (OAuth 2, Security Token Service, IAM credentials), and whose tokens are good.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "event_loop.h"
#include "gce/jwt.h"
#include "gce/schema.h"
#include "http_message.h"

namespace cloudsim::gce {

/// Those knobs of "gce" that are about identity.
struct AuthKnobs {
  bool verify_tokens = true;         ///< false: every caller is let in
  Millis token_lifetime{3'600'000};  ///< token_seconds
  std::string service_account = "cloudsim@cloudsim-project.iam.gserviceaccount.com";
  std::string service_account_key;                       ///< PEM; empty: made when it is first asked for
  std::string subject_token = "cloudsim-subject-token";  ///< of workload identity federation
  std::string refresh_token = "1//cloudsim-refresh-token";
  std::string client_id = "cloudsim.apps.googleusercontent.com";
  std::string client_secret = "cloudsim-client-secret";
  std::set<std::string> not_impersonable;  ///< service accounts whose tokens nobody may have
};

class GoogleAuth {
 public:
  using WallTime = std::chrono::system_clock::time_point;
  /// Whether this request to AWS STS bears a good signature of AWS.
  using AwsVerifier = std::function<bool(const HttpRequest&)>;

  explicit GoogleAuth(std::uint64_t seed) : random_(seed) {}

  /// One key of the knobs; false: not one of these. Throws nlohmann::json::exception or std::invalid_argument.
  bool set_knob(const std::string& name, const nlohmann::json& value);
  const AuthKnobs& knobs() const { return knobs_; }
  /// Where the server listens; reset() goes back to the knobs set so far, without tokens.
  void start(const std::string& url);
  void reset();
  /// Without one, no identity of AWS is a good one.
  void set_aws_verifier(AwsVerifier verifier) { aws_verifier_ = std::move(verifier); }

  /// What the call log and faults call this request: "oauth2.token", "sts.token", "iamcredentials.generateAccessToken".
  /// Nothing: it is none of these services'.
  static std::optional<std::string> action_of(const HttpRequest& request);
  /// Answers a request that action_of() knows.
  HttpReply answer(const HttpRequest& request);
  /// GET /_control/gce/service_account_key, POST /_control/gce/tokens/expire; nothing: another call.
  std::optional<nlohmann::json> control(const HttpRequest& request);

  /// For the API: a Bearer token given out here, not expired, with a scope that lets it in.
  bool authorized(const HttpRequest& request) const;
  /// What Google answers a request that is not authorized().
  ApiError refusal_of(const HttpRequest& request) const;

  /// A new token, in the form of a token endpoint's answer: access_token, expires_in, token_type.
  nlohmann::json issue(const std::string& scopes);

 private:
  struct Token {
    std::string scopes;
    WallTime expires;
  };
  const Token* find_token(const HttpRequest& request) const;
  std::string new_token(const std::string& scopes, WallTime expires);
  const RsaKey& key();
  nlohmann::json oauth2_token(const HttpRequest& request);
  nlohmann::json jwt_bearer(const std::map<std::string, std::string>& form);
  nlohmann::json refresh(const std::map<std::string, std::string>& form);
  nlohmann::json sts_token(const HttpRequest& request);
  void check_aws_token(const std::string& subject_token, const std::string& audience) const;
  nlohmann::json generate_access_token(const HttpRequest& request);

  std::mt19937_64 random_;
  AuthKnobs knobs_, initial_knobs_;
  std::string url_;
  std::optional<RsaKey> key_;
  AwsVerifier aws_verifier_;
  std::unordered_map<std::string, Token> tokens_;
};

}  // namespace cloudsim::gce
