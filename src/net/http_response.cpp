// SPDX-License-Identifier: Apache-2.0
// Looking up a header of a reply.
#include <algorithm>

#include "burst/http.h"

namespace burst {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::optional<std::string_view> HttpResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (std::ranges::equal(key, name, {}, lower, lower)) return value;
  }
  return std::nullopt;
}

}  // namespace burst
