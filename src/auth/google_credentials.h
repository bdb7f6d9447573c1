// SPDX-License-Identifier: Apache-2.0
// Access tokens from the content of a Google credentials file, whatever its type.
#pragma once

#include <string>
#include <string_view>

#include "auth/google_access_token.h"
#include "burst/services.h"

namespace burst::auth {

/// Types: service_account, authorized_user, external_account, impersonated_service_account; only the universe
/// googleapis.com. `path` is for messages. Throws as GoogleTokenSource::token() does.
GoogleAccessToken fetch_google_token(std::string_view content, const std::string& path, const Services& services);

}  // namespace burst::auth
