// SPDX-License-Identifier: Apache-2.0
// What Compute Engine's error codes mean for us: the one table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "burst/machine.h"

namespace burst::gce {

/// An error as Google gives it: of an HTTP reply (`quotaExceeded`) or of an operation (`QUOTA_EXCEEDED`).
struct ApiError {
  std::string code, message;  ///< message: one line
  bool operator==(const ApiError&) const = default;
};

enum class ErrorKind {
  throttled,    ///< ask again, later
  transient,    ///< ask again
  no_capacity,  ///< try another node group; cool down
  over_quota,   ///< the same, and the admin must act
  exists,       ///< the name is taken
  gone,         ///< there is no such thing (any more)
  busy,         ///< something else is done to it: ask again in some seconds
  credentials,  ///< the token was refused: fetch another once, ask again
  permission,   ///< a role is missing
  invalid,      ///< asking again is of no use
};

/// The kind of a code, of an operation's error (status 0) or of an HTTP reply with that status. 401 and 429 speak for
/// themselves; unknown codes are `transient` from status 500 on, else `invalid`.
/// Source: Compute Engine, "Troubleshooting VM creation" and "API errors"; google.rpc.Code.
ErrorKind error_kind(std::string_view code, int status = 0);

/// What a node becomes that was refused with such a code.
Outcome outcome_of(std::string_view code);

/// The one of several errors that says most: `VM_MIN_COUNT_NOT_REACHED` only tells that there are others.
ApiError main_error(std::span<const ApiError> errors, const ApiError& otherwise);

/// The error with what an admin has to do about a missing role of the Google APIs Service Agent, by which managed
/// instance groups make their machines.
ApiError explained(ApiError error, bool by_service_agent);

}  // namespace burst::gce
