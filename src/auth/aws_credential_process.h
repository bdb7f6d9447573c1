// SPDX-License-Identifier: Apache-2.0
// Credentials from a program that a profile names (`credential_process`).
#pragma once

#include <string>

#include "auth/aws_credentials.h"
#include "burst/process.h"

namespace burst::auth {

/// Runs `command` (split into words, no shell) and reads its JSON. Throws Error{"NoCredentials"} that names the profile
/// and, when the program failed, what it wrote to stderr.
AwsCredentials run_credential_process(const std::string& command, const std::string& profile, Processes& processes);

}  // namespace burst::auth
