// SPDX-License-Identifier: Apache-2.0
// JSON Web Tokens signed with a service account's key (RS256).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "burst/secret.h"

namespace burst::auth {

struct GoogleServiceAccountKey {
  std::string email;     ///< `client_email`
  std::string id;        ///< `private_key_id`; may be empty
  Secret pem;            ///< `private_key`
  std::string audience;  ///< the token endpoint's URL
};

/// An assertion for the scope cloud-platform, valid for an hour. Nothing when the key is not an RSA key in PEM, which
/// is never asked a passphrase for. Source: developers.google.com, "Using OAuth 2.0 for Server to Server Applications".
std::optional<Secret> sign_google_assertion(const GoogleServiceAccountKey& key, std::chrono::sys_seconds now);

}  // namespace burst::auth
