// SPDX-License-Identifier: Apache-2.0
// Percent-encoding of text for URLs and forms.
#pragma once

#include <string>
#include <string_view>

namespace burst::auth {

/// Every byte but letters, digits, `-`, `.`, `_`, `~` and those in `also_safe` becomes %XX (a blank: %20).
std::string percent_encode(std::string_view text, std::string_view also_safe = {});

/// The reverse for a value of a query string: `+` is a blank; a `%` that begins no code stays as it is.
std::string decode_query_value(std::string_view text);

}  // namespace burst::auth
