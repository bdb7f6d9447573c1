// SPDX-License-Identifier: Apache-2.0
// What EC2's error codes mean for us: the one table.
#pragma once

#include <string_view>

#include "burst/machine.h"

namespace burst::ec2 {

enum class ErrorKind {
  throttled,      ///< ask again, later
  transient,      ///< ask again
  not_visible,    ///< eventual consistency: ask again for some seconds
  no_capacity,    ///< try another node group; cool down
  over_quota,     ///< the same, and the admin must act
  configuration,  ///< asking again is of no use
  credentials,    ///< expired: refresh once, ask again
};

/// The kind of a code; unknown codes are `configuration` below HTTP status 500 and `transient` from there on.
/// Source: EC2 API reference, "Error codes for the Amazon EC2 API".
ErrorKind error_kind(std::string_view code, int status = 400);

/// What a node becomes that was refused with such a code.
Outcome outcome_of(ErrorKind kind);

}  // namespace burst::ec2
