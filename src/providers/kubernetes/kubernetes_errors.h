// SPDX-License-Identifier: Apache-2.0
// The one table of what an API server's refusals mean.
#pragma once

#include <string>
#include <string_view>

#include "burst/machine.h"

namespace burst::kubernetes {

enum class ErrorMeaning {
  retry,
  throttled,
  expired_list,
  already_exists,
  conflict,
  gone,
  over_quota,
  configuration,
  credentials,
  refused
};

struct ApiError {
  ErrorMeaning meaning = ErrorMeaning::refused;
  std::string code;     ///< ours, of docs/providers/kubernetes.md's table: `QuotaExceeded`
  std::string message;  ///< one line: the server's, with the call that it answers
  int status = 0;       ///< HTTP's
};

/// Reads a `Status` object or whatever else came with a status >= 400.
ApiError parse_error(int status, std::string_view body);

/// What the error means for a node that was to get a pod.
Outcome outcome_of(const ApiError& error);

}  // namespace burst::kubernetes
