// SPDX-License-Identifier: Apache-2.0
// Where an AWS service is reached.
#pragma once

#include <string>
#include <string_view>

#include "burst/environment.h"

namespace burst::auth {

/// `https://ec2.us-east-1.amazonaws.com/`, `.amazonaws.com.cn` in China; AWS_ENDPOINT_URL_EC2 (service in capitals),
/// then AWS_ENDPOINT_URL, take its place. AWS_USE_FIPS_ENDPOINT and AWS_USE_DUALSTACK_ENDPOINT are honoured. Throws
/// Error{"InvalidRegion"} for a region that can't be part of a host name.
std::string aws_endpoint(std::string_view service, std::string_view region, const Environment& environment);

}  // namespace burst::auth
