// SPDX-License-Identifier: Apache-2.0
// The token of the service account that a Google machine runs as, from its metadata server.
#pragma once

#include <optional>
#include <string>

#include "auth/google_access_token.h"
#include "burst/services.h"

namespace burst::auth {

/// Asks metadata.google.internal, then 169.254.169.254; with GCE_METADATA_HOST (`HOST` or `HOST:PORT`) that one only.
/// Nothing when nobody answers or when it is not Google's metadata server, with the reason in `note`. Throws
/// Error{"NoCredentials"} when it is and gives no token.
std::optional<GoogleAccessToken> fetch_google_metadata_token(const Services& services, std::string& note);

}  // namespace burst::auth
