// SPDX-License-Identifier: Apache-2.0
// JSON Web Tokens signed with a service account's key (RS256).
#include "auth/google_jwt.h"

#include <cstddef>
#include <memory>

#include <nlohmann/json.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "auth/google_access_token.h"
#include "auth/google_base64.h"

namespace burst::auth {
namespace {

template <auto Free>
struct OpensslFree {
  template <typename Object>
  void operator()(Object* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;

/// Without it OpenSSL asks the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Key read_key(const Secret& pem) {
  const Bio bio(BIO_new_mem_buf(pem.reveal().data(), static_cast<int>(pem.reveal().size())));
  Key key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr) : nullptr);
  if (key && EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) key.reset();
  return key;
}

/// RSASSA-PKCS1-v1_5 with SHA-256; empty on failure.
std::string rs256(EVP_PKEY* key, const std::string& text) {
  const DigestContext context(EVP_MD_CTX_new());
  std::size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());  // NOLINT: OpenSSL's idea of bytes
  if (!context || EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1) {
    return {};
  }
  std::string signature(size, '\0');
  auto* out = reinterpret_cast<unsigned char*>(signature.data());  // NOLINT
  if (EVP_DigestSign(context.get(), out, &size, bytes, text.size()) != 1) return {};
  signature.resize(size);
  return signature;
}

std::string segment(const nlohmann::json& object) {
  return base64_url(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

std::optional<Secret> sign_google_assertion(const GoogleServiceAccountKey& key, std::chrono::sys_seconds now) {
  const auto private_key = read_key(key.pem);
  std::string signature;
  nlohmann::json header{{"alg", "RS256"}, {"typ", "JWT"}};
  if (!key.id.empty()) header["kid"] = key.id;
  const auto issued = now.time_since_epoch().count();
  static constexpr int kLifetime = 3600;  // the longest that Google takes
  const nlohmann::json claims{
      {"iss", key.email}, {"scope", kGoogleScope}, {"aud", key.audience}, {"iat", issued}, {"exp", issued + kLifetime}};
  auto text = segment(header) + "." + segment(claims);
  if (private_key) signature = rs256(private_key.get(), text);
  ERR_clear_error();  // whoever uses OpenSSL next on this thread would take our errors for its own
  if (signature.empty()) return std::nullopt;
  return Secret(text + "." + base64_url(signature));
}

}  // namespace burst::auth
