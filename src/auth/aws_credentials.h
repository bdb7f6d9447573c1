// SPDX-License-Identifier: Apache-2.0
// AWS credentials, found where AWS's own tools find them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "burst/secret.h"
#include "burst/services.h"

namespace burst::auth {

struct AwsCredentials {
  std::string access_key_id;
  Secret secret_access_key;
  Secret session_token;  ///< empty for long-term keys
  std::optional<std::chrono::sys_seconds> expires;
  bool operator==(const AwsCredentials&) const = default;
};

/// Credentials, cached and refreshed before they expire. Safe to use from several threads.
class AwsCredentialSource {
 public:
  virtual ~AwsCredentialSource() = default;
  /// May send requests (STS, metadata, container endpoint) or run a program (credential_process). Throws
  /// Error{"NoCredentials"} that names every place looked at and what was found there, or the failing source's own
  /// code.
  virtual AwsCredentials get() = 0;
  /// What get() gave last was refused as expired: the next get() fetches anew.
  virtual void expire() = 0;
};

struct AwsCredentialSettings {
  std::string profile;  ///< `ProfileName`; empty: AWS_PROFILE, else `default`
  std::string region;   ///< for the regional STS endpoint
};

/// The chain of botocore: environment; profile files (source_profile/credential_source + role_arn); web identity
/// (variables, then profile); static keys of the credentials file; credential_process; static keys of the config file;
/// container endpoint; IMDSv2. With a profile named in the configuration the variables for keys and web identity do not
/// count, and a profile that exists without keys leads on to container and IMDS. A profile (named there or by
/// AWS_PROFILE) that does not exist is an Error, and so is one that describes credentials wrongly: no other place takes
/// over. get() renews keys 10 minutes before they expire; while that fails the old ones serve until one minute before.
std::unique_ptr<AwsCredentialSource> make_aws_credential_source(const AwsCredentialSettings& settings,
                                                                const Services& services);

}  // namespace burst::auth
