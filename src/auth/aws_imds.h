// SPDX-License-Identifier: Apache-2.0
// Credentials of the instance's role, from the EC2 instance metadata service (IMDSv2).
#pragma once

#include <optional>
#include <string>

#include "auth/aws_credentials.h"
#include "burst/services.h"

namespace burst::auth {

/// Asks the service for the role's credentials; nothing when there is none to be had, with the reason in `note`.
/// Variables: AWS_EC2_METADATA_DISABLED, AWS_EC2_METADATA_SERVICE_ENDPOINT (may carry a path), its _MODE (`IPv6`),
/// AWS_METADATA_SERVICE_TIMEOUT (seconds, 1), AWS_METADATA_SERVICE_NUM_ATTEMPTS (1). Credentials that are about to
/// expire, or have expired, are given out with a later time: when the service can't renew them, EC2 still takes them.
std::optional<AwsCredentials> fetch_imds_credentials(const Services& services, std::string& note);

}  // namespace burst::auth
