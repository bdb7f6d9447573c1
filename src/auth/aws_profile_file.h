// SPDX-License-Identifier: Apache-2.0
// AWS's shared files: ~/.aws/config and ~/.aws/credentials.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "burst/services.h"

namespace burst::auth {

using AwsProfile = std::map<std::string, std::string, std::less<>>;  ///< keys in lower case
using AwsProfileMap = std::map<std::string, AwsProfile, std::less<>>;

/// The sections of a file, read as Python's configparser (and so botocore) reads it: keys in lower case, `=` or `:`,
/// whole-line comments with `#` or `;`, deeper indented lines continue a value, [DEFAULT] is a default for all. Throws
/// Error{"InvalidConfig", `reading "PATH": line N: ...`}, which never quotes a value.
AwsProfileMap parse_aws_ini(std::string_view text, std::string_view path);

struct AwsProfiles {
  std::string config_path, credentials_path;
  AwsProfileMap config;            ///< `[default]`, `[profile NAME]` of the config file
  AwsProfileMap credentials;       ///< every section of the credentials file
  AwsProfileMap merged;            ///< both; a key of the credentials file wins
  std::vector<std::string> notes;  ///< files that exist but could not be read, for the error text
};

/// Reads both files, from AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE or the home folder (HOME, else the user
/// database: slurmctld passes no HOME on). A file that is absent or unreadable is an empty one, as to botocore.
AwsProfiles load_aws_profiles(const Environment& environment, const Files& files);

/// The profile that counts: `profile`, else AWS_DEFAULT_PROFILE, else AWS_PROFILE, else `default`.
std::string aws_profile_name(const std::string& profile, const Environment& environment);

/// The `region` of that profile; empty when it names none.
std::string aws_profile_region(const std::string& profile, const Services& services);

}  // namespace burst::auth
