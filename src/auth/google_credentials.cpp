// SPDX-License-Identifier: Apache-2.0
// Access tokens from the content of a Google credentials file, whatever its type.
#include "auth/google_credentials.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/google_credential_fields.h"
#include "auth/google_external_account.h"
#include "auth/google_jwt.h"
#include "auth/google_token_endpoint.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

GoogleAccessToken fetch(const GoogleCredentialFields& file, const Services& services);

/// Both types of keys may leave the endpoint out.
std::string token_uri(const GoogleCredentialFields& file) {
  return file.has("token_uri") ? file.url("token_uri") : "https://oauth2.googleapis.com/token";
}

/// RFC 7523.
GoogleAccessToken fetch_service_account(const GoogleCredentialFields& file, const Services& services) {
  GoogleServiceAccountKey key;
  key.email = file.text("client_email");
  key.id = file.text_or("private_key_id", "");
  key.pem = Secret(file.text("private_key"));
  key.audience = token_uri(file);
  const auto now = std::chrono::floor<std::chrono::seconds>(services.clock.now());
  const auto assertion = sign_google_assertion(key, now);
  if (!assertion) file.refuse("private_key", "expected an RSA key in PEM");
  GoogleTokenQuestion question;
  question.what = file.file();
  question.url = key.audience;
  question.form = {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", assertion->reveal()}};
  question.secrets = {*assertion, key.pem};
  return ask_google_token(std::move(question), services);
}

/// RFC 6749, section 6: what `gcloud auth application-default login` leaves behind.
GoogleAccessToken fetch_authorized_user(const GoogleCredentialFields& file, const Services& services) {
  GoogleTokenQuestion question;
  question.what = file.file();
  question.url = token_uri(file);
  question.form = {{"grant_type", "refresh_token"},
                   {"client_id", file.text("client_id")},
                   {"client_secret", file.text("client_secret")},
                   {"refresh_token", file.text("refresh_token")}};
  question.secrets = {Secret(file.text("client_secret")), Secret(file.text("refresh_token"))};
  return ask_google_token(std::move(question), services);
}

GoogleAccessToken fetch_impersonated(const GoogleCredentialFields& file, const Services& services) {
  GoogleImpersonation impersonation;
  impersonation.what = file.file();
  impersonation.url = file.url("service_account_impersonation_url");
  impersonation.delegates = file.texts("delegates");
  const auto base = fetch(file.object("source_credentials"), services);
  return impersonate_service_account(impersonation, base, services);
}

GoogleAccessToken fetch(const GoogleCredentialFields& file, const Services& services) {
  struct Type {
    std::string_view name;
    GoogleAccessToken (*fetch)(const GoogleCredentialFields&, const Services&);
  };
  static constexpr std::array kTypes{
      Type{"service_account", fetch_service_account}, Type{"external_account", fetch_external_account_token},
      Type{"authorized_user", fetch_authorized_user}, Type{"impersonated_service_account", fetch_impersonated}};
  const auto universe = file.text_or("universe_domain", "googleapis.com");
  if (universe != "googleapis.com") {
    file.refuse("universe_domain",
                fmt::format("only googleapis.com is supported, found \"{}\"", one_line(universe, 80)));
  }
  const auto name = file.text("type");
  for (const auto& type : kTypes) {
    if (type.name == name) return type.fetch(file, services);
  }
  file.refuse("type", fmt::format("expected service_account, external_account, authorized_user or "
                                  "impersonated_service_account, found \"{}\"",
                                  one_line(name, 80)));
}

}  // namespace

GoogleAccessToken fetch_google_token(std::string_view content, const std::string& path, const Services& services) {
  const auto file = fmt::format("credentials file \"{}\"", one_line(path));
  const auto object = nlohmann::json::parse(content, nullptr, false);
  if (!object.is_object()) throw Error("NoCredentials", file + ": expected a JSON object");
  return fetch(GoogleCredentialFields(object, file), services);
}

}  // namespace burst::auth
