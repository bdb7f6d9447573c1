// SPDX-License-Identifier: Apache-2.0
// An absolute http(s) URL taken apart.
#include "auth/url_parts.h"

#include <algorithm>

namespace burst::auth {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

/// Cuts `text` at the first of `marks`; returns what follows it.
std::string_view cut(std::string_view& text, std::string_view marks) {
  const auto at = text.find_first_of(marks);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

}  // namespace

std::string UrlParts::host_header() const {
  std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const bool usual = port.empty() || (scheme == "http" && port == "80") || (scheme == "https" && port == "443");
  return usual ? text : text + ":" + port;
}

std::optional<UrlParts> split_url(std::string_view url) {
  const auto colon = url.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  UrlParts parts;
  parts.scheme = lower(url.substr(0, colon));
  if (parts.scheme != "http" && parts.scheme != "https") return std::nullopt;
  auto rest = url.substr(colon + 3);
  cut(rest, "#");
  parts.query = cut(rest, "?");
  const auto slash = std::min(rest.find('/'), rest.size());
  parts.path = rest.substr(slash);

  auto authority = rest.substr(0, slash);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    parts.host = lower(authority.substr(1, end - 1));
    authority.remove_prefix(end + 1);
    if (!authority.empty() && authority.front() != ':') return std::nullopt;
    parts.port = authority.empty() ? authority : authority.substr(1);
  } else {
    parts.port = cut(authority, ":");
    parts.host = lower(authority);
  }
  const bool digits = std::ranges::all_of(parts.port, [](char c) { return c >= '0' && c <= '9'; });
  if (parts.host.empty() || !digits) return std::nullopt;
  return parts;
}

}  // namespace burst::auth
