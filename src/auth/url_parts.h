// SPDX-License-Identifier: Apache-2.0
// An absolute http(s) URL taken apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burst::auth {

struct UrlParts {
  std::string scheme;  ///< lower case: "http" or "https"
  std::string host;    ///< lower case, an IPv6 address without its brackets
  std::string port;    ///< empty when the URL names none
  std::string path;    ///< as written; may be empty
  std::string query;   ///< as written, without `?`

  /// What a Host header says: brackets around an IPv6 address, the port unless it is the scheme's own.
  std::string host_header() const;
};

/// Nothing for what is not an absolute http or https URL with a host. User information and fragment are dropped.
std::optional<UrlParts> split_url(std::string_view url);

}  // namespace burst::auth
