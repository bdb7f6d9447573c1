// SPDX-License-Identifier: Apache-2.0
#include "providers/ec2/ec2_errors.h"

#include <gtest/gtest.h>

namespace burst::ec2 {
namespace {

struct Case {
  const char* code;
  int status;
  ErrorKind kind;
};

class Ec2ErrorKinds : public testing::TestWithParam<Case> {};

TEST_P(Ec2ErrorKinds, FollowTheTable) { EXPECT_EQ(error_kind(GetParam().code, GetParam().status), GetParam().kind); }

INSTANTIATE_TEST_SUITE_P(All, Ec2ErrorKinds,
                         testing::Values(Case{"RequestLimitExceeded", 503, ErrorKind::throttled},
                                         Case{"InternalError", 500, ErrorKind::transient},
                                         Case{"InvalidInstanceID.NotFound", 400, ErrorKind::not_visible},
                                         Case{"InsufficientInstanceCapacity", 400, ErrorKind::no_capacity},
                                         Case{"Unsupported", 400, ErrorKind::no_capacity},
                                         Case{"VcpuLimitExceeded", 400, ErrorKind::over_quota},
                                         Case{"MaxSpotInstanceCountExceeded", 400, ErrorKind::over_quota},
                                         Case{"UnauthorizedOperation", 403, ErrorKind::configuration},
                                         Case{"InvalidParameterValue", 400, ErrorKind::configuration},
                                         Case{"NeverHeardOf", 400, ErrorKind::configuration},
                                         Case{"NeverHeardOf", 502, ErrorKind::transient},
                                         Case{"ConnectionError", 0, ErrorKind::transient},
                                         Case{"ExpiredToken", 400, ErrorKind::credentials}));

TEST(Ec2Errors, OnlyCapacityAndQuotaLeadToOtherGroups) {
  EXPECT_EQ(outcome_of(ErrorKind::no_capacity), Outcome::no_capacity);
  EXPECT_EQ(outcome_of(ErrorKind::over_quota), Outcome::over_quota);
  for (const auto kind : {ErrorKind::throttled, ErrorKind::transient, ErrorKind::not_visible, ErrorKind::configuration,
                          ErrorKind::credentials})
    EXPECT_EQ(outcome_of(kind), Outcome::rejected);
}

}  // namespace
}  // namespace burst::ec2
