// SPDX-License-Identifier: Apache-2.0
// Asking Google's token endpoints: OAuth 2, Security Token Service, IAM credentials.
#include "auth/google_token_endpoint.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/iso_time.h"
#include "auth/percent_encoding.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using nlohmann::json;

constexpr int kOk = 200;

std::string text_of(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

struct Refusal {
  std::string code, message;  ///< both empty when the reply is not one of Google's errors
};

/// RFC 6749's `error` and `error_description`, or the object of Google's APIs: `{"error": {"status", "message"}}`.
Refusal refusal_of(const HttpResponse& response) {
  const auto body = json::parse(response.body, nullptr, false);
  if (!body.is_object()) return {};
  const auto error = body.find("error");
  if (error != body.end() && error->is_object()) return {text_of(*error, "status"), text_of(*error, "message")};
  return {text_of(body, "error"), text_of(body, "error_description")};
}

/// A code stands in a node's reason: it has to be one plain word.
bool is_word(const std::string& code) {
  static constexpr std::size_t kLongest = 60;
  return !code.empty() && code.size() <= kLongest && std::ranges::all_of(code, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string blot_out(std::string text, const std::vector<Secret>& secrets) {
  for (const auto& secret : secrets) {
    if (secret.empty()) continue;
    for (auto at = text.find(secret.reveal()); at != std::string::npos; at = text.find(secret.reveal(), at)) {
      text.replace(at, secret.reveal().size(), "***");
    }
  }
  return text;
}

/// POSTs; returns the body of a reply 200, throws for any other end.
std::string post(HttpRequest request, const std::string& what, const std::vector<Secret>& secrets,
                 const Services& services) {
  const auto url = split_url(request.url);
  const auto from = fmt::format("{}: token from {}", what, one_line(url ? url->host_header() : "an invalid URL"));
  HttpCall call;
  call.request = std::move(request);
  call.request.method = "POST";
  call.judge = [](const HttpResponse& response) {
    const bool refused = response.status != 0 && response.status != kOk;
    return RetryVerdict{response.status != kOk && is_transient_google_token_failure(
                                                      response.status, refused ? refusal_of(response).code : ""),
                        {}};
  };
  call.max_attempts = 7;
  call.timeout = std::chrono::seconds(15);
  const auto response = services.http.send_one(std::move(call));
  if (response.status == kOk) return response.body;
  if (response.status == 0) throw Error("NoCredentials", fmt::format("{}: {}", from, response.transport_error));
  const auto refusal = refusal_of(response);
  auto text = fmt::format("{}: status {}", from, response.status);
  if (!refusal.code.empty()) text = fmt::format("{}: {}", from, blot_out(refusal.code, secrets));
  if (!refusal.message.empty()) text += ": " + blot_out(refusal.message, secrets);
  throw Error(is_word(refusal.code) ? refusal.code : "NoCredentials", one_line(text, 600));
}

std::chrono::sys_seconds seconds_of(Clock& clock) { return std::chrono::floor<std::chrono::seconds>(clock.now()); }

/// Some endpoints write the number as a string.
std::optional<long> lifetime_of(const json& reply) {
  const auto found = reply.find("expires_in");
  long seconds = 0;
  if (found == reply.end()) return std::nullopt;
  if (found->is_number()) {
    seconds = found->get<long>();
  } else if (found->is_string()) {
    const auto text = found->get<std::string>();
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  }
  static constexpr long kLongest = 7 * 24 * 3600;
  return seconds > 0 ? std::optional(std::min(seconds, kLongest)) : std::nullopt;
}

/// A token goes into a header as it is.
bool is_header_value(const std::string& token) {
  return !token.empty() && std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

GoogleAccessToken parse_google_token(std::string_view text, std::string_view from, std::chrono::sys_seconds sent) {
  const auto reply = json::parse(text, nullptr, false);
  if (!reply.is_object()) throw Error("NoCredentials", fmt::format("{}: expected a JSON object", from));
  GoogleAccessToken token{Secret(text_of(reply, "access_token")), {}};
  if (!is_header_value(token.token.reveal())) {
    throw Error("NoCredentials", fmt::format("{}: the reply holds no access_token", from));
  }
  const auto lifetime = lifetime_of(reply);
  if (!lifetime) throw Error("NoCredentials", fmt::format("{}: expires_in: expected a positive number", from));
  token.expires = sent + std::chrono::seconds(*lifetime);
  return token;
}

GoogleAccessToken ask_google_token(GoogleTokenQuestion question, const Services& services) {
  HttpRequest request;
  request.url = question.url;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  request.headers.insert(request.headers.end(), question.headers.begin(), question.headers.end());
  for (const auto& [name, value] : question.form) {
    if (!request.body.empty()) request.body += '&';
    request.body += name + "=" + percent_encode(value);
  }
  const auto sent = seconds_of(services.clock);
  const auto body = post(std::move(request), question.what, question.secrets, services);
  const auto host = split_url(question.url)->host_header();
  return parse_google_token(body, fmt::format("{}: token from {}", question.what, one_line(host)), sent);
}

GoogleAccessToken impersonate_service_account(const GoogleImpersonation& impersonation, const GoogleAccessToken& base,
                                              const Services& services) {
  json question{{"scope", json::array({kGoogleScope})},
                {"lifetime", fmt::format("{}s", impersonation.lifetime.count())}};
  if (!impersonation.delegates.empty()) question["delegates"] = impersonation.delegates;
  HttpRequest request;
  request.url = impersonation.url;
  request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + base.token.reveal()}};
  request.body = question.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto text = post(std::move(request), impersonation.what, {base.token}, services);
  const auto reply = json::parse(text, nullptr, false);
  const auto fail = [&](std::string_view why) {
    throw Error("NoCredentials", fmt::format("{}: {}", impersonation.what, why));
  };
  if (!reply.is_object()) fail("expected a JSON object");
  GoogleAccessToken token{Secret(text_of(reply, "accessToken")), {}};
  if (!is_header_value(token.token.reveal())) fail("the reply holds no accessToken");
  const auto expires = parse_iso_time(text_of(reply, "expireTime"));
  if (!expires) fail("expireTime: expected a time");
  token.expires = *expires;
  return token;
}

}  // namespace burst::auth
