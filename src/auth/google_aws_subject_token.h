// SPDX-License-Identifier: Apache-2.0
// Proof of an AWS identity, for workload identity federation: a signed request that Google sends to AWS.
#pragma once

#include <string>

#include "auth/google_credential_fields.h"
#include "burst/secret.h"
#include "burst/services.h"

namespace burst::auth {

/// `source`: the credential_source, with `environment_id` aws1. The request is GetCallerIdentity of AWS STS, in the
/// region of AWS_REGION, AWS_DEFAULT_REGION, or that which `region_url` names. Keys are found as for EC2 (so those of
/// profiles and containers too, which Google's own libraries pass over); the instance's come from the host of `url`.
/// Source of the format: cloud.google.com/iam/docs, "Access resources from AWS", and google.aip.dev/auth/4117.
Secret make_google_aws_subject_token(const GoogleCredentialFields& source, const std::string& audience,
                                     const Services& services);

}  // namespace burst::auth
