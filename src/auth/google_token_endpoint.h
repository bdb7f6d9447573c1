// SPDX-License-Identifier: Apache-2.0
// Asking Google's token endpoints: OAuth 2, Security Token Service, IAM credentials.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/google_access_token.h"
#include "burst/http.h"
#include "burst/services.h"

namespace burst::auth {

/// One request for a token.
struct GoogleTokenQuestion {
  std::string what;  ///< begins every message: `credentials file "PATH"`
  std::string url;
  HttpHeaders headers;  ///< beside Content-Type
  std::vector<std::pair<std::string, std::string>> form;
  std::vector<Secret> secrets;  ///< blotted out should the reply repeat them
};

/// POSTs the form and reads `access_token` and `expires_in`. Throws Error with the endpoint's own code when it refuses,
/// else Error{"NoCredentials"}.
GoogleAccessToken ask_google_token(GoogleTokenQuestion question, const Services& services);

/// `{"access_token": ..., "expires_in": ...}`, as token endpoints and the metadata server write it, received for a
/// request sent at `sent`. Throws Error{"NoCredentials", `FROM: ...`}.
GoogleAccessToken parse_google_token(std::string_view json, std::string_view from, std::chrono::sys_seconds sent);

struct GoogleImpersonation {
  std::string what;  ///< begins every message
  std::string url;   ///< `.../serviceAccounts/EMAIL:generateAccessToken`
  std::vector<std::string> delegates;
  std::chrono::seconds lifetime{3600};
};

/// A token of another service account, asked for with `base`. Errors as for ask_google_token().
GoogleAccessToken impersonate_service_account(const GoogleImpersonation& impersonation, const GoogleAccessToken& base,
                                              const Services& services);

/// Whether asking again may help; `code` is the endpoint's own, empty when there is none.
bool is_transient_google_token_failure(int status, std::string_view code);

}  // namespace burst::auth
