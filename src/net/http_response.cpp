// SPDX-License-Identifier: Apache-2.0
// Looking up a header of a reply.
#include <algorithm>

#include <curl/curl.h>

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

std::optional<std::chrono::sys_seconds> HttpResponse::date() const {
  const auto text = header("Date");
  const auto seconds = text ? curl_getdate(std::string(*text).c_str(), nullptr) : -1;
  if (seconds < 0) return std::nullopt;
  return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

}  // namespace burst
