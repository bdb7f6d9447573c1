// SPDX-License-Identifier: Apache-2.0
#include "providers/gce/gce_errors.h"

#include <gtest/gtest.h>

namespace burst::gce {
namespace {

struct Case {
  const char* code;
  int status;  ///< 0: an operation's error
  ErrorKind kind;
};

class GceErrorKinds : public testing::TestWithParam<Case> {};

TEST_P(GceErrorKinds, FollowTheTable) { EXPECT_EQ(error_kind(GetParam().code, GetParam().status), GetParam().kind); }

INSTANTIATE_TEST_SUITE_P(
    All, GceErrorKinds,
    testing::Values(
        Case{"rateLimitExceeded", 403, ErrorKind::throttled}, Case{"userRateLimitExceeded", 403, ErrorKind::throttled},
        Case{"RESOURCE_OPERATION_RATE_EXCEEDED", 0, ErrorKind::throttled},
        Case{"NeverHeardOf", 429, ErrorKind::throttled}, Case{"RESOURCE_EXHAUSTED", 429, ErrorKind::throttled},
        Case{"backendError", 503, ErrorKind::transient}, Case{"INTERNAL_ERROR", 0, ErrorKind::transient},
        Case{"resourceNotReady", 400, ErrorKind::transient}, Case{"NeverHeardOf", 502, ErrorKind::transient},
        Case{"ConnectionError", 0, ErrorKind::transient},
        Case{"ZONE_RESOURCE_POOL_EXHAUSTED", 0, ErrorKind::no_capacity},
        Case{"ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", 0, ErrorKind::no_capacity},
        Case{"VM_MIN_COUNT_NOT_REACHED", 0, ErrorKind::no_capacity},
        Case{"RESOURCE_EXHAUSTED", 0, ErrorKind::no_capacity}, Case{"QUOTA_EXCEEDED", 0, ErrorKind::over_quota},
        Case{"quotaExceeded", 403, ErrorKind::over_quota}, Case{"alreadyExists", 409, ErrorKind::exists},
        Case{"RESOURCE_ALREADY_EXISTS", 0, ErrorKind::exists}, Case{"notFound", 404, ErrorKind::gone},
        Case{"RESOURCE_NOT_FOUND", 0, ErrorKind::gone}, Case{"resourceInUseByAnotherResource", 400, ErrorKind::busy},
        Case{"forbidden", 403, ErrorKind::permission}, Case{"PERMISSIONS_ERROR", 0, ErrorKind::permission},
        Case{"authError", 401, ErrorKind::credentials}, Case{"forbidden", 401, ErrorKind::credentials},
        Case{"invalid", 400, ErrorKind::invalid}, Case{"NeverHeardOf", 403, ErrorKind::invalid},
        Case{"NeverHeardOf", 0, ErrorKind::invalid}));

TEST(GceErrors, OnlyCapacityAndQuotaLeadToOtherGroups) {
  EXPECT_EQ(outcome_of("ZONE_RESOURCE_POOL_EXHAUSTED"), Outcome::no_capacity);
  EXPECT_EQ(outcome_of("QUOTA_EXCEEDED"), Outcome::over_quota);
  for (const char* code : {"PERMISSIONS_ERROR", "INTERNAL_ERROR", "RESOURCE_ALREADY_EXISTS", "NeverHeardOf"})
    EXPECT_EQ(outcome_of(code), Outcome::rejected) << code;
}

TEST(GceErrors, TheMissedMinimumIsNotTheCauseWhereThereIsAnother) {
  const ApiError minimum{"VM_MIN_COUNT_NOT_REACHED", "2 of 3"}, stock{"ZONE_RESOURCE_POOL_EXHAUSTED", "none left"};
  EXPECT_EQ(main_error(std::vector{minimum, stock}, {}), stock);
  EXPECT_EQ(main_error(std::vector{minimum}, stock), minimum);
  EXPECT_EQ(main_error({}, stock), stock);
}

TEST(GceErrors, AMissingRoleOfTheServiceAgentIsExplained) {
  const ApiError agent{"PERMISSIONS_ERROR", "Required 'compute.instances.create' permission for 'x'"};
  const std::string text = explained(agent, true).message;
  for (const char* part : {"compute.instances.create", "PROJECT_NUMBER@cloudservices.gserviceaccount.com",
                           "roles/compute.instanceAdmin.v1", "roles/iam.serviceAccountUser"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(explained(agent, false), agent) << "the caller's own role";
  const ApiError named{"forbidden", "123@cloudservices.gserviceaccount.com lacks compute.instances.create"};
  EXPECT_NE(explained(named, false), named);
  const ApiError stock{"ZONE_RESOURCE_POOL_EXHAUSTED", "none left"};
  EXPECT_EQ(explained(stock, true), stock);
}

}  // namespace
}  // namespace burst::gce
