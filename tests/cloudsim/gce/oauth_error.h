// SPDX-License-Identifier: Apache-2.0
// What the token endpoints read from a request, and how they refuse one.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "http_message.h"

namespace cloudsim::gce {

/// Thrown: RFC 6749's answer, `{"error": ..., "error_description": ...}`.
struct OauthError {
  int status;
  std::string error, description;
};

/// The fields of a POST to a token endpoint, form or JSON, by their names of RFC 6749 and 8693. Throws OauthError.
std::map<std::string, std::string> oauth_form(const HttpRequest& request);
/// One of them; throws OauthError when it is missing or empty.
std::string field(const std::map<std::string, std::string>& form, const std::string& name);

struct Impersonation {
  std::string scopes;  ///< separated by blanks
  std::chrono::seconds lifetime{3600};
};

/// The body of generateAccessToken. Throws ApiError for one that Google refuses.
Impersonation read_impersonation(const nlohmann::json& body);

}  // namespace cloudsim::gce
