// SPDX-License-Identifier: Apache-2.0
// What Compute Engine's error codes mean for us: the one table.
#include "providers/gce/gce_errors.h"

#include <algorithm>
#include <array>

namespace burst::gce {
namespace {

struct Row {
  std::string_view code;
  ErrorKind kind;
};

/// UPPER_CASE: codes of operations, and google.rpc's; camelCase: reasons of HTTP replies.
constexpr std::array kRows{
    Row{"rateLimitExceeded", ErrorKind::throttled},
    Row{"userRateLimitExceeded", ErrorKind::throttled},
    Row{"concurrentLimitExceeded", ErrorKind::throttled},
    Row{"RATE_LIMIT_EXCEEDED", ErrorKind::throttled},
    Row{"RESOURCE_OPERATION_RATE_EXCEEDED", ErrorKind::throttled},
    Row{"CONCURRENT_OPERATIONS_QUOTA_EXCEEDED", ErrorKind::throttled},

    Row{"backendError", ErrorKind::transient},
    Row{"internalError", ErrorKind::transient},
    Row{"serviceUnavailable", ErrorKind::transient},
    Row{"resourceNotReady", ErrorKind::transient},
    Row{"INTERNAL_ERROR", ErrorKind::transient},
    Row{"INTERNAL", ErrorKind::transient},
    Row{"UNAVAILABLE", ErrorKind::transient},
    Row{"ABORTED", ErrorKind::transient},
    Row{"DEADLINE_EXCEEDED", ErrorKind::transient},
    Row{"RESOURCE_NOT_READY", ErrorKind::transient},
    Row{"ConnectionError", ErrorKind::transient},
    Row{"InvalidReply", ErrorKind::transient},

    Row{"ZONE_RESOURCE_POOL_EXHAUSTED", ErrorKind::no_capacity},
    Row{"ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", ErrorKind::no_capacity},
    Row{"RESOURCE_POOL_EXHAUSTED", ErrorKind::no_capacity},
    Row{"RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", ErrorKind::no_capacity},
    Row{"REGION_RESOURCE_POOL_EXHAUSTED", ErrorKind::no_capacity},
    Row{"INSUFFICIENT_RESOURCE_CAPACITY", ErrorKind::no_capacity},
    Row{"RESOURCE_EXHAUSTED", ErrorKind::no_capacity},
    Row{"INSUFFICIENT_RESERVATION_CAPACITY", ErrorKind::no_capacity},
    Row{"RESERVATION_CAPACITY_EXCEEDED", ErrorKind::no_capacity},
    Row{"RESERVATION_NOT_READY", ErrorKind::no_capacity},
    Row{"VM_MIN_COUNT_NOT_REACHED", ErrorKind::no_capacity},
    Row{"UNSUPPORTED_OPERATION", ErrorKind::no_capacity},
    Row{"IP_SPACE_EXHAUSTED", ErrorKind::no_capacity},
    Row{"IP_SPACE_EXHAUSTED_WITH_DETAILS", ErrorKind::no_capacity},
    Row{"NoMachine", ErrorKind::no_capacity},
    Row{"ResizeRequestFailed", ErrorKind::no_capacity},

    Row{"QUOTA_EXCEEDED", ErrorKind::over_quota},
    Row{"LIMIT_EXCEEDED", ErrorKind::over_quota},
    Row{"quotaExceeded", ErrorKind::over_quota},
    Row{"limitExceeded", ErrorKind::over_quota},
    Row{"dailyLimitExceeded", ErrorKind::over_quota},

    Row{"RESOURCE_ALREADY_EXISTS", ErrorKind::exists},
    Row{"ALREADY_EXISTS", ErrorKind::exists},
    Row{"alreadyExists", ErrorKind::exists},
    Row{"duplicate", ErrorKind::exists},

    Row{"RESOURCE_NOT_FOUND", ErrorKind::gone},
    Row{"NOT_FOUND", ErrorKind::gone},
    Row{"notFound", ErrorKind::gone},

    Row{"resourceInUseByAnotherResource", ErrorKind::busy},
    Row{"resourceInUse", ErrorKind::busy},
    Row{"RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", ErrorKind::busy},
    Row{"RESOURCE_IN_USE", ErrorKind::busy},

    Row{"authError", ErrorKind::credentials},
    Row{"UNAUTHENTICATED", ErrorKind::credentials},
    Row{"ACCESS_TOKEN_EXPIRED", ErrorKind::credentials},

    Row{"forbidden", ErrorKind::permission},
    Row{"insufficientPermissions", ErrorKind::permission},
    Row{"accessNotConfigured", ErrorKind::permission},
    Row{"PERMISSION_DENIED", ErrorKind::permission},
    Row{"IAM_PERMISSION_DENIED", ErrorKind::permission},
    Row{"PERMISSIONS_ERROR", ErrorKind::permission},
    Row{"SERVICE_ACCOUNT_ACCESS_DENIED", ErrorKind::permission},
    Row{"ACCESS_TOKEN_SCOPE_INSUFFICIENT", ErrorKind::permission},
};

constexpr std::string_view kServiceAgentDomain = "@cloudservices.gserviceaccount.com";

}  // namespace

ErrorKind error_kind(std::string_view code, int status) {
  constexpr int unauthorized = 401, too_many = 429, server_fault = 500;
  if (status == unauthorized) return ErrorKind::credentials;
  if (status == too_many) return ErrorKind::throttled;
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& candidate) { return candidate.code == code; });
  if (row != kRows.end()) return row->kind;
  return status >= server_fault ? ErrorKind::transient : ErrorKind::invalid;
}

Outcome outcome_of(std::string_view code) {
  const ErrorKind kind = error_kind(code);
  if (kind == ErrorKind::no_capacity) return Outcome::no_capacity;
  if (kind == ErrorKind::over_quota) return Outcome::over_quota;
  return Outcome::rejected;
}

ApiError main_error(std::span<const ApiError> errors, const ApiError& otherwise) {
  if (errors.empty()) return otherwise;
  const auto telling =
      std::ranges::find_if(errors, [](const ApiError& error) { return error.code != "VM_MIN_COUNT_NOT_REACHED"; });
  return telling == errors.end() ? errors.front() : *telling;
}

ApiError explained(ApiError error, bool by_service_agent) {
  if (error_kind(error.code) != ErrorKind::permission) return error;
  if (!by_service_agent && error.message.find(kServiceAgentDomain) == std::string::npos) return error;
  error.message +=
      "; the Google APIs Service Agent (PROJECT_NUMBER@cloudservices.gserviceaccount.com) makes a managed instance "
      "group's machines and needs roles/compute.instanceAdmin.v1 and roles/iam.serviceAccountUser";
  return error;
}

}  // namespace burst::gce
