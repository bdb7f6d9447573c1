// SPDX-License-Identifier: Apache-2.0
// Credentials as a profile of AWS's shared files describes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "auth/aws_credentials.h"
#include "auth/aws_profile_file.h"
#include "burst/services.h"

namespace burst::auth {

/// AWS_ACCESS_KEY_ID and its companions. Throws Error{"NoCredentials"} when the key has no secret beside it.
std::optional<AwsCredentials> environment_credentials(const Environment& environment);

/// One search through the profiles, in botocore's order for each: role_arn with source_profile or credential_source,
/// web identity, static keys (credentials file), credential_process, static keys (config file).
class AwsProfileSearch {
 public:
  AwsProfileSearch(const AwsProfiles& profiles, const std::string& region, const Services& services)
      : profiles_(profiles), region_(region), services_(services) {}

  /// Nothing when the profile is absent or describes no credentials. With `use_environment` the web identity variables
  /// (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN, AWS_ROLE_SESSION_NAME) come before the profile's own keys. Throws
  /// Error for a profile that describes credentials wrongly, or in a way that is not supported (MFA, IAM Identity
  /// Center).
  std::optional<AwsCredentials> find(const std::string& name, bool use_environment);

 private:
  const AwsProfile& profile(const std::string& name) const;
  std::optional<AwsCredentials> by_own_keys(const std::string& name, bool use_environment);
  std::optional<AwsCredentials> by_web_identity(const std::string& name, bool use_environment);
  AwsCredentials by_role(const std::string& name);
  AwsCredentials source_of(const std::string& name);
  AwsCredentials from_source_profile(const std::string& name, const std::string& source);
  AwsCredentials from_credential_source(const std::string& name, const std::string& source);

  const AwsProfiles& profiles_;
  const std::string& region_;
  const Services& services_;
  std::vector<std::string> visited_;
};

}  // namespace burst::auth
