// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4 as the receiving side computes it; on purpose no code of src/auth, which it checks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http_message.h"

namespace cloudsim::ec2 {

/// The Authorization header, taken apart.
struct SignatureClaim {
  std::string access_key_id;
  std::string date;  ///< YYYYMMDD
  std::string region;
  std::string service;
  std::vector<std::string> signed_headers;
  std::string signature;
};

std::optional<SignatureClaim> parse_authorization(std::string_view header);
std::string canonical_request(const HttpRequest& request, const std::vector<std::string>& signed_headers);
/// What the signature should be. `timestamp` is X-Amz-Date.
std::string expected_signature(const SignatureClaim& claim, std::string_view timestamp, std::string_view canonical,
                               std::string_view secret_access_key);

}  // namespace cloudsim::ec2
