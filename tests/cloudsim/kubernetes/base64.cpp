// SPDX-License-Identifier: Apache-2.0
// Base64.
#include "kubernetes/base64.h"

#include <algorithm>
#include <cstdint>

namespace cloudsim::kubernetes {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string base64url_encode(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) {
      out += kAlphabet[(bits >> (count - 6)) & 63U];
    }
  }
  if (count > 0) {
    out += kAlphabet[(bits << (6 - count)) & 63U];
  }
  return out;
}

std::string base64_encode(std::string_view bytes) {
  auto out = base64url_encode(bytes);
  std::replace(out.begin(), out.end(), '-', '+');
  std::replace(out.begin(), out.end(), '_', '/');
  out.append((4 - out.size() % 4) % 4, '=');
  return out;
}

std::optional<std::string> base64url_decode(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  unsigned int count = 0;
  for (const char c : text) {
    const auto digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 255U);
    }
  }
  return out;
}

}  // namespace cloudsim::kubernetes
