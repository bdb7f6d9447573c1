// SPDX-License-Identifier: Apache-2.0
// PEM texts as kubeconfig carries them: in base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burst::auth {

/// Nothing for what is not base64 (RFC 4648, with padding; line breaks and blanks are passed over).
std::optional<std::string> decode_base64(std::string_view text);

/// Whether there is a block `-----BEGIN ... LABEL-----` in it: "CERTIFICATE", "PRIVATE KEY".
bool has_pem_block(std::string_view text, std::string_view label);

}  // namespace burst::auth
