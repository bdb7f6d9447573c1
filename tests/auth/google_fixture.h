// SPDX-License-Identifier: Apache-2.0
// What the tests of Google credentials have in common: an empty world with a home folder and no metadata server.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "auth/google_credentials.h"
#include "fakes/fake_services.h"

namespace burst::auth {

/// A key made for this run of the tests.
struct TestKey {
  std::shared_ptr<EVP_PKEY> key;
  std::string pem;
  explicit TestKey(EVP_PKEY* made) : key(made, EVP_PKEY_free), pem(pem_of(made, nullptr)) {}
  std::string encrypted_pem() const { return pem_of(key.get(), EVP_aes_128_cbc()); }

 private:
  static std::string pem_of(EVP_PKEY* key, const EVP_CIPHER* cipher) {
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(BIO_new(BIO_s_mem()), BIO_free_all);
    std::string word = "passphrase";
    PEM_write_bio_PKCS8PrivateKey(bio.get(), key, cipher, cipher == nullptr ? nullptr : word.data(),
                                  cipher == nullptr ? 0 : static_cast<int>(word.size()), nullptr, nullptr);
    std::string text(static_cast<std::size_t>(BIO_pending(bio.get())), '\0');
    BIO_read(bio.get(), text.data(), static_cast<int>(text.size()));
    return text;
  }
};

inline const TestKey& rsa_key() {
  static const TestKey key(EVP_RSA_gen(2048));
  return key;
}

inline std::string from_base64_url(std::string text) {
  for (auto& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const auto padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  bytes.resize(bytes.size() - padding);
  return bytes;
}

class GoogleWorld : public ::testing::Test {
 protected:
  using json = nlohmann::json;
  static constexpr auto* kTokenUri = "https://oauth2.googleapis.com/token";
  static constexpr auto* kStsUri = "https://sts.googleapis.com/v1/token";
  static constexpr auto* kImpersonationUri =
      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/s@p.iam.gserviceaccount.com"
      ":generateAccessToken";
  static constexpr auto* kMetadataPath = "/computeMetadata/v1/instance/service-accounts/default/token";

  GoogleWorld() {
    world_.environment.variables = {{"HOME", "/home/x"}};
    world_.http.handler = [this](const HttpRequest& request) {
      const auto found = answers_.find(request.url);
      if (found != answers_.end()) return found->second(request);
      HttpResponse silence;
      silence.transport_error = "connecting to nowhere: no answer in 1000 ms";
      return silence;
    };
  }

  static HttpResponse reply(int status, std::string body, HttpHeaders headers = {}) {
    HttpResponse response;
    response.status = status;
    response.headers = std::move(headers);
    response.body = std::move(body);
    return response;
  }
  void answer(const std::string& url, int status, const std::string& body, const HttpHeaders& headers = {}) {
    answers_[url] = [=](const HttpRequest&) { return reply(status, body, headers); };
  }
  void metadata(const std::string& token, int seconds = 3600) {
    answer(std::string("http://metadata.google.internal") + kMetadataPath, 200, token_json(token, seconds),
           {{"metadata-flavor", "Google"}});
  }
  static std::string token_json(const std::string& token, int seconds = 3600) {
    return json{{"access_token", token}, {"expires_in", seconds}, {"token_type", "Bearer"}}.dump();
  }
  static std::string impersonated_json(const std::string& token, const std::string& expires = "2026-05-28T21:26:40Z") {
    return json{{"accessToken", token}, {"expireTime", expires}}.dump();
  }
  std::string& variable(const std::string& name) { return world_.environment.variables[name]; }
  std::string& file(const std::string& path) { return world_.files.content[path]; }

  static json service_account() {
    return {{"type", "service_account"},
            {"project_id", "p"},
            {"private_key_id", "kid-1"},
            {"private_key", rsa_key().pem},
            {"client_email", "a@p.iam.gserviceaccount.com"},
            {"token_uri", kTokenUri}};
  }
  static json authorized_user() {
    return {{"type", "authorized_user"},
            {"client_id", "id-1.apps.googleusercontent.com"},
            {"client_secret", "c&s/1"},
            {"refresh_token", "1//r-t"}};
  }
  static json external_account(const json& source) {
    return {{"type", "external_account"},
            {"audience", "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"},
            {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
            {"token_url", kStsUri},
            {"credential_source", source}};
  }

  GoogleAccessToken fetch(const json& content) {
    return fetch_google_token(content.dump(), "/k.json", world_.services());
  }
  /// `CODE: text` of the Error that reading a credentials file of this content ends in.
  std::string failure(const json& content) { return failure_of(content.dump()); }
  std::string failure_of(const std::string& content) {
    try {
      return "found " + fetch_google_token(content, "/k.json", world_.services()).token.reveal();
    } catch (const Error& error) {
      return error.code() + ": " + error.what();
    }
  }
  const HttpRequest& sent(std::size_t index = 0) { return world_.http.requests.at(index); }
  long now() { return std::chrono::floor<std::chrono::seconds>(world_.clock.now()).time_since_epoch().count(); }

  FakeServices world_;
  std::map<std::string, std::function<HttpResponse(const HttpRequest&)>> answers_;
};

}  // namespace burst::auth
