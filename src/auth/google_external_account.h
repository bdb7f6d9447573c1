// SPDX-License-Identifier: Apache-2.0
// Workload identity federation: another provider's token, exchanged for one of Google's.
#pragma once

#include "auth/google_access_token.h"
#include "auth/google_credential_fields.h"
#include "burst/services.h"

namespace burst::auth {

/// `account`: a credentials file of type external_account. Takes the subject token from a file, a URL or AWS, exchanges
/// it at `token_url`, and goes on to `service_account_impersonation_url` when there is one. Refuses the sources that
/// run programs or use certificates, and workforce pools. Source: google.aip.dev/auth/4117.
GoogleAccessToken fetch_external_account_token(const GoogleCredentialFields& account, const Services& services);

}  // namespace burst::auth
