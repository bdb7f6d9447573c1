// SPDX-License-Identifier: Apache-2.0
// Base64 as Google's token endpoints want it.
#pragma once

#include <string>
#include <string_view>

namespace burst::auth {

/// With `+`, `/` and padding.
std::string base64(std::string_view bytes);

/// With `-` and `_`, without padding: RFC 7515, section 2.
std::string base64_url(std::string_view bytes);

}  // namespace burst::auth
