// SPDX-License-Identifier: Apache-2.0
// The token endpoints' error codes that call for another try.
#include <algorithm>
#include <array>

#include "auth/google_token_endpoint.h"

namespace burst::auth {

bool is_transient_google_token_failure(int status, std::string_view code) {
  static constexpr std::array<std::string_view, 5> kTransient{"internal_failure", "server_error",
                                                              "temporarily_unavailable", "UNAVAILABLE", "INTERNAL"};
  static constexpr int kRequestTimeout = 408;
  static constexpr int kTooManyRequests = 429;
  static constexpr int kServerError = 500;
  return status == 0 || status == kRequestTimeout || status == kTooManyRequests || status >= kServerError ||
         std::ranges::find(kTransient, code) != kTransient.end();
}

}  // namespace burst::auth
