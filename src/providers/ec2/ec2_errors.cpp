// SPDX-License-Identifier: Apache-2.0
// What EC2's error codes mean for us: the one table.
#include "providers/ec2/ec2_errors.h"

#include <algorithm>
#include <array>

namespace burst::ec2 {
namespace {

struct Row {
  std::string_view code;
  ErrorKind kind;
};

constexpr std::array kRows{
    Row{"RequestLimitExceeded", ErrorKind::throttled},
    Row{"Throttling", ErrorKind::throttled},
    Row{"ThrottlingException", ErrorKind::throttled},
    Row{"ThrottledException", ErrorKind::throttled},
    Row{"RequestThrottled", ErrorKind::throttled},
    Row{"RequestThrottledException", ErrorKind::throttled},
    Row{"TooManyRequestsException", ErrorKind::throttled},
    Row{"ProvisionedThroughputExceededException", ErrorKind::throttled},
    Row{"TransactionInProgressException", ErrorKind::throttled},
    Row{"BandwidthLimitExceeded", ErrorKind::throttled},
    Row{"LimitExceededException", ErrorKind::throttled},
    Row{"SlowDown", ErrorKind::throttled},
    Row{"EC2ThrottledException", ErrorKind::throttled},

    Row{"RequestTimeout", ErrorKind::transient},
    Row{"RequestTimeoutException", ErrorKind::transient},
    Row{"PriorRequestNotComplete", ErrorKind::transient},
    Row{"InternalError", ErrorKind::transient},
    Row{"InternalFailure", ErrorKind::transient},
    Row{"Unavailable", ErrorKind::transient},
    Row{"ServiceUnavailable", ErrorKind::transient},

    Row{"InvalidInstanceID.NotFound", ErrorKind::not_visible},

    Row{"InsufficientInstanceCapacity", ErrorKind::no_capacity},
    Row{"InsufficientHostCapacity", ErrorKind::no_capacity},
    Row{"InsufficientReservedInstanceCapacity", ErrorKind::no_capacity},
    Row{"InsufficientCapacity", ErrorKind::no_capacity},
    Row{"UnfulfillableCapacity", ErrorKind::no_capacity},
    Row{"ReservationCapacityExceeded", ErrorKind::no_capacity},
    Row{"SpotMaxPriceTooLow", ErrorKind::no_capacity},
    Row{"Unsupported", ErrorKind::no_capacity},
    Row{"InsufficientFreeAddressesInSubnet", ErrorKind::no_capacity},
    Row{"FleetShort", ErrorKind::no_capacity},

    Row{"VcpuLimitExceeded", ErrorKind::over_quota},
    Row{"InstanceLimitExceeded", ErrorKind::over_quota},
    Row{"MaxSpotInstanceCountExceeded", ErrorKind::over_quota},
    Row{"MaxFleetCountExceeded", ErrorKind::over_quota},
    Row{"VolumeLimitExceeded", ErrorKind::over_quota},
    Row{"PrivateIpAddressLimitExceeded", ErrorKind::over_quota},
    Row{"ResourceLimitExceeded", ErrorKind::over_quota},

    Row{"ExpiredToken", ErrorKind::credentials},
    Row{"ExpiredTokenException", ErrorKind::credentials},
    Row{"RequestExpired", ErrorKind::credentials},
};

}  // namespace

ErrorKind error_kind(std::string_view code, int status) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& candidate) { return candidate.code == code; });
  if (row != kRows.end()) return row->kind;
  constexpr int server_fault = 500;
  return status >= server_fault || status == 0 ? ErrorKind::transient : ErrorKind::configuration;
}

Outcome outcome_of(ErrorKind kind) {
  if (kind == ErrorKind::no_capacity) return Outcome::no_capacity;
  if (kind == ErrorKind::over_quota) return Outcome::over_quota;
  return Outcome::rejected;
}

}  // namespace burst::ec2
