// SPDX-License-Identifier: Apache-2.0
// Percent-encoding of text for URLs and forms.
#include "auth/percent_encoding.h"

#include <charconv>
#include <cstddef>

namespace burst::auth {
namespace {

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::string percent_encode(std::string_view text, std::string_view also_safe) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    if (is_unreserved(c) || also_safe.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kDigits[byte >> 4U];
      encoded += kDigits[byte & 0xFU];
    }
  }
  return encoded;
}

std::string decode_query_value(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && text.size() - i > 2) {
      const char* first = text.data() + i + 1;
      const auto [end, failure] = std::from_chars(first, first + 2, byte, 16);
      if (failure == std::errc{} && end == first + 2) {
        decoded += static_cast<char>(byte);
        i += 2;
        continue;
      }
    }
    decoded += text[i] == '+' ? ' ' : text[i];
  }
  return decoded;
}

}  // namespace burst::auth
