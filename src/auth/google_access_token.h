// SPDX-License-Identifier: Apache-2.0
// One access token of Google's, with the time that it ends.
#pragma once

#include <chrono>
#include <string_view>

#include "burst/secret.h"

namespace burst::auth {

struct GoogleAccessToken {
  Secret token;
  std::chrono::sys_seconds expires;
};

/// What we ask tokens for; the account's roles narrow it.
inline constexpr std::string_view kGoogleScope = "https://www.googleapis.com/auth/cloud-platform";

}  // namespace burst::auth
