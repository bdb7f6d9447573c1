// SPDX-License-Identifier: Apache-2.0
// STS's error codes that call for another try.
#include <algorithm>
#include <array>
#include <string_view>

#include "auth/aws_sts.h"

namespace burst::auth {

bool is_transient_sts_failure(int status, const std::string& code) {
  static constexpr std::array<std::string_view, 6> kTransient{
      "Throttling",     "ThrottlingException",     "RequestLimitExceeded",
      "RequestTimeout", "PriorRequestNotComplete", "IDPCommunicationError"};
  static constexpr int kTooManyRequests = 429;
  static constexpr int kServerError = 500;
  return status == 0 || status == kTooManyRequests || status >= kServerError ||
         std::ranges::find(kTransient, code) != kTransient.end();
}

}  // namespace burst::auth
