// SPDX-License-Identifier: Apache-2.0
// Filters of list calls: which resources they let in, and which texts they refuse.
#include "gce/filter.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "gce/schema.h"

namespace cloudsim::gce {
namespace {

const nlohmann::json kMachine{
    {"name", "n-1"},
    {"status", "RUNNING"},
    {"labels", {{"cluster", "c1"}, {"node", "n-1"}}},
    {"deletionProtection", false},
    {"creationTimestamp", "2026-01-31T04:05:06.789-08:00"},
    {"scheduling", {{"hostErrorTimeoutSeconds", 90}}},
};

bool lets_in(const std::string& text) { return parse_filter(text, "Instance")(kMachine); }

TEST(Filter, ComparesWholeValues) {
  for (const auto* const text : {
           "",
           "name=n-1",
           "name = \"n-1\"",
           "name='n-1'",
           "labels.cluster=c1",
           "labels.cluster=\"c1\"",
           "labels.cluster != c2",
           "labels.none != x",
           "deletionProtection=false",
           "name:n-",
           "labels.cluster:*",
           "scheduling.hostErrorTimeoutSeconds > 89",
           "scheduling.hostErrorTimeoutSeconds<=90",
           "creationTimestamp > \"2026-01-31T12:05:06.000Z\"",
           "creationTimestamp < 2026-01-31T12:05:07Z",
       }) {
    EXPECT_TRUE(lets_in(text)) << text;
  }
  for (const auto* const text : {
           "name=n-10",
           "name=n",
           "labels.cluster=c",
           "labels.none:*",
           "labels.none=x",
           "deletionProtection=true",
           "scheduling.hostErrorTimeoutSeconds > 90",
           "creationTimestamp > \"2026-01-31T12:05:07.000Z\"",
           "scheduling.minNodeCpus > 1",
       }) {
    EXPECT_FALSE(lets_in(text)) << text;
  }
}

TEST(Filter, KnowsTheOlderFormWhichMatchesWholeValuesToo) {
  EXPECT_TRUE(lets_in("name eq n-1"));
  EXPECT_TRUE(lets_in("name eq 'n-.*'"));
  EXPECT_TRUE(lets_in("(name eq \"n-[0-9]\") (status eq RUNNING)"));
  EXPECT_TRUE(lets_in("labels.cluster ne c2"));
  EXPECT_FALSE(lets_in("name eq n-"));
  EXPECT_FALSE(lets_in("name ne n-.*"));
}

TEST(Filter, CombinesTerms) {
  EXPECT_TRUE(lets_in("name=n-1 AND status=RUNNING"));
  EXPECT_TRUE(lets_in("(name=n-1) (status=RUNNING)"));
  EXPECT_TRUE(lets_in("name=x OR status=RUNNING"));
  EXPECT_TRUE(lets_in("NOT name=x"));
  EXPECT_TRUE(lets_in("(name=x OR name=n-1) AND NOT (status=STOPPING)"));
  EXPECT_FALSE(lets_in("name=n-1 AND status=STOPPING"));
  EXPECT_FALSE(lets_in("NOT (name=n-1 AND status=RUNNING)"));
}

TEST(Filter, OrBindsCloserThanAnd) {
  EXPECT_FALSE(lets_in("status=STOPPING AND name=x OR name=n-1"));
  EXPECT_TRUE(lets_in("(status=STOPPING AND name=x) OR name=n-1"));
}

TEST(Filter, RefusesWhatItDoesNotUnderstand) {
  for (const auto* const text :
       {"name", "name=", "=n-1", "name==n-1", "name=n-1 AND", "(name=n-1", "name=n-1)", "name ~ n", "nothing=1",
        "name=\"n-1", "name eq [", "AND name=n-1", "name in (a b)", "name=n-1,status=RUNNING=x"}) {
    EXPECT_THROW(parse_filter(text, "Instance"), ApiError) << text;
  }
}

TEST(Filter, KnowsTheFieldsOfEachResource) {
  EXPECT_NO_THROW(parse_filter("operationGroupId=x", "Operation"));
  EXPECT_THROW(parse_filter("operationGroupId=x", "Instance"), ApiError);
}

}  // namespace
}  // namespace cloudsim::gce
