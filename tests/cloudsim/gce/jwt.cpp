// SPDX-License-Identifier: Apache-2.0
// RSA keys and JSON Web Tokens.
#include "gce/jwt.h"

#include <array>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "gce/api_description.h"

namespace cloudsim::gce {

namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

int base64url_digit(char c) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const auto at = kDigits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::optional<std::string> decode_base64url(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned int count = 0;
  for (const char c : text) {
    const int digit = base64url_digit(c);
    if (digit < 0) {
      return std::nullopt;
    }
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 0xffU);
    }
  }
  return out;
}

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) { return 0; }

}  // namespace

RsaKey::RsaKey(evp_pkey_st* key) : key_(key, EVP_PKEY_free) {
  if (key == nullptr) {
    throw std::invalid_argument("service_account_key: expected a private RSA key in PEM");
  }
}

RsaKey RsaKey::generate() { return RsaKey(EVP_RSA_gen(2048)); }

RsaKey RsaKey::from_pem(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  return RsaKey(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
}

std::string RsaKey::private_pem() const {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string RsaKey::id() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_Digest(der, static_cast<std::size_t>(size), digest.data(), &length, EVP_sha1(), nullptr);
  OPENSSL_free(der);
  std::string out;
  for (unsigned int i = 0; i < length; ++i) {
    fmt::format_to(std::back_inserter(out), "{:02x}", digest.at(i));
  }
  return out;
}

bool RsaKey::signed_by_this(std::string_view text, std::string_view signature) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(text), text.size()) == 1;
}

std::optional<Jwt> parse_jwt(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 3) {
    return std::nullopt;
  }
  const auto header = decode_base64url(parts[0]);
  const auto claims = decode_base64url(parts[1]);
  const auto signature = decode_base64url(parts[2]);
  if (!header || !claims || !signature) {
    return std::nullopt;
  }
  Jwt out{nlohmann::json::parse(*header, nullptr, false), nlohmann::json::parse(*claims, nullptr, false),
          std::string(text.substr(0, text.rfind('.'))), *signature};
  return out.header.is_object() && out.claims.is_object() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace cloudsim::gce
