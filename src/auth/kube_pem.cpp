// SPDX-License-Identifier: Apache-2.0
// PEM texts as kubeconfig carries them: in base64.
#include "auth/kube_pem.h"

#include <algorithm>

#include <openssl/evp.h>

namespace burst::auth {
namespace {

bool is_base64(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

/// Whether there is a block `-----BEGIN ... LABEL-----` in it.
bool has_pem_block(std::string_view text, std::string_view label) {
  static constexpr std::string_view kBegin = "-----BEGIN ";
  static constexpr std::string_view kEnd = "-----";
  for (auto at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at + 1)) {
    const auto name = text.substr(at + kBegin.size(), text.find(kEnd, at + kBegin.size()) - at - kBegin.size());
    if (name.ends_with(label)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string packed(text);
  std::erase_if(packed, [](char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; });
  std::size_t padding = 0;
  while (padding < 2 && packed.size() > padding && packed[packed.size() - 1 - padding] == '=') ++padding;
  const std::string_view digits(packed.data(), packed.size() - padding);
  // OpenSSL forgives too much.
  if (packed.size() % 4 != 0 || !std::ranges::all_of(digits, is_base64)) return std::nullopt;
  std::string bytes(packed.size() / 4 * 3, '\0');
  const auto size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),         // NOLINT: OpenSSL's bytes
                                    reinterpret_cast<const unsigned char*>(packed.data()),  // NOLINT
                                    static_cast<int>(packed.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

std::string wrong_certificate(std::string_view text) {
  return has_pem_block(text, "CERTIFICATE") ? "" : "expected a CERTIFICATE in PEM";
}

std::string wrong_private_key(std::string_view text) {
  if (!has_pem_block(text, "PRIVATE KEY")) return "expected a PRIVATE KEY in PEM";
  const bool is_encrypted = has_pem_block(text, "ENCRYPTED PRIVATE KEY") || text.find("4,ENCRYPTED") != text.npos;
  return is_encrypted ? "expected a PRIVATE KEY without a pass phrase: nobody is there to type it" : "";
}

}  // namespace burst::auth
