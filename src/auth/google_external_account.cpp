// SPDX-License-Identifier: Apache-2.0
// Workload identity federation: another provider's token, exchanged for one of Google's.
#include "auth/google_external_account.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/google_aws_subject_token.h"
#include "auth/google_base64.h"
#include "auth/google_token_endpoint.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

/// How the subject token stands in what a file or URL gives.
struct TokenFormat {
  std::string field;  ///< of a JSON object; empty: the token is the text itself
};

TokenFormat format_of(const GoogleCredentialFields& source) {
  if (!source.has("format")) return {};
  const auto format = source.object("format");
  const auto type = format.text_or("type", "text");
  if (type == "json") return {format.text("subject_token_field_name")};
  if (type != "text") format.refuse("type", "expected text or json");
  return {};
}

Secret parse_subject_token(const std::string& text, const TokenFormat& format, const std::string& from) {
  std::string token = text;
  if (!format.field.empty()) {
    const auto object = nlohmann::json::parse(text, nullptr, false);
    if (!object.is_object()) throw Error("NoCredentials", from + ": expected a JSON object");
    const auto found = object.find(format.field);
    if (found == object.end() || !found->is_string()) {
      throw Error("NoCredentials", fmt::format("{}: expected a string in \"{}\"", from, one_line(format.field)));
    }
    token = found->get<std::string>();
  }
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty()) throw Error("NoCredentials", from + ": it holds no token");
  return Secret(std::move(token));
}

/// The file is read at each call: whoever issues the tokens replaces it.
Secret read_subject_file(const GoogleCredentialFields& source, const Files& files) {
  const auto path = source.text("file");
  const auto format = format_of(source);
  const auto from = fmt::format("{}: subject token file \"{}\"", source.file(), one_line(path));
  const auto text = files.read(path);
  if (!text) throw Error("NoCredentials", from + ": no such file");
  return parse_subject_token(*text, format, from);
}

Secret ask_subject_url(const GoogleCredentialFields& source, HttpClient& http) {
  HttpCall call;
  call.request.url = source.url("url", PlainHttp::metadata_server);
  const auto format = format_of(source);
  for (auto& [name, value] : source.members("headers")) call.request.headers.emplace_back(name, value);
  call.max_attempts = 4;
  call.timeout = std::chrono::seconds(15);
  const auto host = split_url(call.request.url)->host_header();
  const auto from = fmt::format("{}: subject token from {}", source.file(), one_line(host));
  const auto response = http.send_one(std::move(call));
  static constexpr int kOk = 200;
  if (response.status == 0) throw Error("NoCredentials", fmt::format("{}: {}", from, response.transport_error));
  // The reply's text stays unsaid: it may hold a token, or repeat the headers.
  if (response.status != kOk) throw Error("NoCredentials", fmt::format("{}: status {}", from, response.status));
  return parse_subject_token(response.body, format, from);
}

Secret find_subject_token(const GoogleCredentialFields& account, const std::string& audience,
                          const Services& services) {
  const auto source = account.object("credential_source");
  if (source.has("executable")) source.refuse("executable", "sources that run a program are not supported");
  if (source.has("certificate")) source.refuse("certificate", "sources with a certificate are not supported");
  if (source.has("environment_id")) return make_google_aws_subject_token(source, audience, services);
  if (source.has("file") && source.has("url")) source.refuse("url", "expected either file or url, found both");
  if (source.has("file")) return read_subject_file(source, services.files);
  if (source.has("url")) return ask_subject_url(source, services.http);
  account.refuse("credential_source", "expected file, url or environment_id");
}

GoogleImpersonation impersonation_of(const GoogleCredentialFields& account) {
  static constexpr const char* kUrl = "service_account_impersonation_url";
  static constexpr const char* kOptions = "service_account_impersonation";
  static constexpr const char* kLifetime = "token_lifetime_seconds";
  GoogleImpersonation impersonation;
  impersonation.what = account.file();
  impersonation.url = account.url(kUrl);
  if (account.has(kOptions)) {
    const auto options = account.object(kOptions);
    static constexpr long kShortest = 600;
    static constexpr long kLongest = 43200;
    const auto lifetime = options.number(kLifetime).value_or(impersonation.lifetime.count());
    if (lifetime < kShortest || lifetime > kLongest) options.refuse(kLifetime, "expected 600 to 43200");
    impersonation.lifetime = std::chrono::seconds(lifetime);
  }
  return impersonation;
}

}  // namespace

GoogleAccessToken fetch_external_account_token(const GoogleCredentialFields& account, const Services& services) {
  if (account.has("workforce_pool_user_project")) {
    account.refuse("workforce_pool_user_project", "workforce pools are not supported, workload identity pools are");
  }
  GoogleTokenQuestion question;
  question.what = account.file();
  question.url = account.url("token_url");
  const auto audience = account.text("audience");
  const auto type = account.text("subject_token_type");
  const bool impersonates = account.has("service_account_impersonation_url");
  const auto impersonation = impersonates ? impersonation_of(account) : GoogleImpersonation{};
  if (account.has("client_id")) {
    const auto client = account.text("client_id") + ":" + account.text_or("client_secret", "");
    question.headers.emplace_back("Authorization", "Basic " + base64(client));
    question.secrets.emplace_back(account.text_or("client_secret", ""));
  }
  const auto subject = find_subject_token(account, audience, services);
  question.form = {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                   {"audience", audience},
                   {"scope", std::string(kGoogleScope)},
                   {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                   {"subject_token", subject.reveal()},
                   {"subject_token_type", type}};
  question.secrets.push_back(subject);
  const auto token = ask_google_token(std::move(question), services);
  return impersonates ? impersonate_service_account(impersonation, token, services) : token;
}

}  // namespace burst::auth
