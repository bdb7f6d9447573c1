// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4, over OpenSSL.
#pragma once

#include <chrono>
#include <string>

#include "auth/aws_credentials.h"
#include "burst/http.h"

namespace burst::auth {

struct SigningScope {
  std::string region, service;  ///< "us-east-1", "ec2"
};

/// Sets (replacing older ones) the headers Host, X-Amz-Date, X-Amz-Security-Token where there is one, and
/// Authorization. Every header that the request has by then is signed, but for User-Agent, Expect and X-Amzn-Trace-Id.
/// Throws Error{"InvalidRequest"} for a URL that is not absolute. Source of the rules: docs.aws.amazon.com, "Create a
/// signed AWS API request".
void sign_aws_request(HttpRequest& request, const AwsCredentials& credentials, const SigningScope& scope,
                      std::chrono::sys_seconds now);

/// The URL of a GET request with the signature in its query, as EKS tokens need it. `headers` of the request are
/// signed.
std::string presign_aws_url(const HttpRequest& request, const AwsCredentials& credentials, const SigningScope& scope,
                            std::chrono::sys_seconds now, std::chrono::seconds valid);

}  // namespace burst::auth
