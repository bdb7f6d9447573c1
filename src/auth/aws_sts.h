// SPDX-License-Identifier: Apache-2.0
// Taking on a role: AWS Security Token Service.
#pragma once

#include <optional>
#include <string>

#include "auth/aws_credentials.h"
#include "burst/http.h"
#include "burst/services.h"

namespace burst::auth {

struct AwsRole {
  std::string arn;
  std::string session_name;  ///< empty: `slurm-burst-SECONDS`
  std::string external_id;
  std::optional<int> duration_seconds;
};

/// Both ask the regional endpoint (an empty region: us-east-1), and throw Error with STS's own code when it refuses.
AwsCredentials assume_role(const AwsRole& role, const AwsCredentials& source, const std::string& region,
                           const Services& services);
/// The token file is read at each call: whoever issues the tokens replaces it.
AwsCredentials assume_role_with_web_identity(const AwsRole& role, const std::string& token_file,
                                             const std::string& region, const Services& services);

/// Whether asking STS again may help; `code` is its own, empty when no reply could be read.
bool is_transient_sts_failure(int status, const std::string& code);

}  // namespace burst::auth
