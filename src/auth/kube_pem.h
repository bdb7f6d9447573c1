// SPDX-License-Identifier: Apache-2.0
// PEM texts as kubeconfig carries them: in base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burst::auth {

/// Nothing for what is not base64 (RFC 4648, with padding; line breaks and blanks are passed over).
std::optional<std::string> decode_base64(std::string_view text);

/// Empty when `text` holds a CERTIFICATE (or a PRIVATE KEY that wants no pass phrase), else what was expected.
std::string wrong_certificate(std::string_view text);
std::string wrong_private_key(std::string_view text);

}  // namespace burst::auth
