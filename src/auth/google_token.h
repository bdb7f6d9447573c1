// SPDX-License-Identifier: Apache-2.0
// Google access tokens, found where Google's own libraries find them.
#pragma once

#include <memory>
#include <string>

#include "burst/secret.h"
#include "burst/services.h"

namespace burst::auth {

struct GoogleCredentialOptions {
  std::string credentials_file;  ///< `CredentialsFile`; empty: found as Google's own libraries find it
  std::string impersonate;       ///< `ImpersonateServiceAccount`: a service account's e-mail address; empty: none
};

/// OAuth 2 access tokens of the scope cloud-platform. Safe to use from several threads.
class GoogleTokenSource {
 public:
  virtual ~GoogleTokenSource() = default;
  /// A token that is good for at least a minute more (less only when the cloud itself gave it less). May send requests.
  /// Threads that ask while one fetches wait for its result, be it a token or an Error. Throws Error with Google's own
  /// code where it refused (`invalid_grant`, `PERMISSION_DENIED`), else one of ours (`NoCredentials`, for an AWS source
  /// those of AwsCredentialSource), that names the place and never a secret.
  virtual Secret token() = 0;
  /// The API answered 401 to this token: the next token() fetches a new one. No effect when it has been replaced
  /// already, nor within a minute after a fetch that such an answer called for: the new token was refused too, and
  /// another won't help.
  virtual void rejected(const Secret& token) = 0;
};

/// The places: credentials_file; the file that GOOGLE_APPLICATION_CREDENTIALS names; gcloud's
/// application_default_credentials.json (in CLOUDSDK_CONFIG, else in $HOME/.config/gcloud); the metadata server
/// (GCE_METADATA_HOST). A file that is named and is not there is an Error, and so is one that is there and wrong: no
/// other place takes over. Files are read anew at each fetch. With `impersonate` the token found is used to ask the IAM
/// credentials API (CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS) for one of that service account. Throws
/// Error{"NoCredentials"} for an `impersonate` that is no e-mail address.
std::shared_ptr<GoogleTokenSource> make_google_token_source(const GoogleCredentialOptions& options,
                                                            const Services& services);

}  // namespace burst::auth
