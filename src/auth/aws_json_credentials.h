// SPDX-License-Identifier: Apache-2.0
// Credentials as metadata services and credential programs write them: a JSON object.
#pragma once

#include <string>
#include <string_view>

#include "auth/aws_credentials.h"

namespace burst::auth {

struct AwsJsonRules {
  std::string token_key;       ///< "Token" or "SessionToken"
  bool needs_version = false;  ///< `"Version": 1` must be there
  bool is_temporary = true;    ///< token and Expiration must be there
};

/// Throws Error{"NoCredentials"} that says what is missing (`from: expected ..., found ...`), never what was there; the
/// object's own `Code`/`code` and `Message`/`message` are named when it holds an error instead of keys.
AwsCredentials parse_aws_json_credentials(std::string_view json, const AwsJsonRules& rules, std::string_view from);

}  // namespace burst::auth
