// SPDX-License-Identifier: Apache-2.0
// Base64 as Google's token endpoints want it.
#include "auth/google_base64.h"

#include <algorithm>

#include <openssl/evp.h>

namespace burst::auth {

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // one more: OpenSSL ends it with a zero
  const auto size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),         // NOLINT: OpenSSL's bytes
                                    reinterpret_cast<const unsigned char*>(bytes.data()),  // NOLINT
                                    static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string base64_url(std::string_view bytes) {
  auto text = base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

}  // namespace burst::auth
