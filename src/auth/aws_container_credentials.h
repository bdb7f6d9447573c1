// SPDX-License-Identifier: Apache-2.0
// Credentials of a container's role, from the endpoint that ECS or EKS Pod Identity names.
#pragma once

#include <optional>

#include "auth/aws_credentials.h"
#include "burst/services.h"

namespace burst::auth {

/// Nothing when neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI (on 169.254.170.2) nor
/// AWS_CONTAINER_CREDENTIALS_FULL_URI is set. The latter may name https hosts, and over plain http only this machine
/// and AWS's own container addresses. AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, else AWS_CONTAINER_AUTHORIZATION_TOKEN,
/// is sent as Authorization. Throws Error{"NoCredentials"} when it is set and gives none.
std::optional<AwsCredentials> fetch_container_credentials(const Services& services);

}  // namespace burst::auth
