// SPDX-License-Identifier: Apache-2.0
// The one table of what an API server's refusals mean.
#pragma once

#include <string>
#include <string_view>

#include "burst/machine.h"

namespace burst::kubernetes {

enum class ErrorMeaning {
  retry,           ///< ask again: nothing is wrong with the call
  throttled,       ///< ask again when the server says
  expired_list,    ///< the list has to begin anew
  already_exists,  ///< the name is taken
  conflict,        ///< it is not (any more) as the call took it to be
  gone,            ///< there is no such object
  over_quota,      ///< an admin's quota is used up
  configuration,   ///< asking again is of no use until an admin has changed something
  credentials,     ///< who we are is not known there
  refused          ///< anything else
};

struct ApiError {
  ErrorMeaning meaning = ErrorMeaning::refused;
  std::string code;     ///< ours, of docs/providers/kubernetes.md's table: `QuotaExceeded`
  std::string message;  ///< one line: the server's, with the call that it answers
  int status = 0;       ///< HTTP's; 0: no reply came
};

/// Reads a `Status` object or whatever else came with a status >= 400; 0 and other statuses: no reply that counts
/// (`ConnectionError`, `InvalidReply`), `body` says why.
ApiError parse_error(int status, std::string_view body);

/// What the error means for a node that was to get a pod.
Outcome outcome_of(const ApiError& error);

}  // namespace burst::kubernetes
