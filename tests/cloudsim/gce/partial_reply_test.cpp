// SPDX-License-Identifier: Apache-2.0
#include "gce/partial_reply.h"

#include <gtest/gtest.h>

#include "gce/schema.h"

namespace cloudsim::gce {
namespace {

using Json = nlohmann::json;

TEST(GcePartialReply, KeepsWhatTheMaskNames) {
  const auto reply = Json::parse(R"({"kind": "k", "nextPageToken": "t", "items": [
      {"name": "a", "id": "1", "labels": {"x": "1", "y": "2"}}, {"name": "b", "id": "2"}]})");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"kind", R"({"kind": "k"})"},
      {"items/name", R"({"items": [{"name": "a"}, {"name": "b"}]})"},
      {"items(name,labels/x),nextPageToken",
       R"({"items": [{"name": "a", "labels": {"x": "1"}}, {"name": "b"}], "nextPageToken": "t"})"},
      {"items/*", R"({"items": [{"name": "a", "id": "1", "labels": {"x": "1", "y": "2"}}, {"name": "b", "id": "2"}]})"},
      {"items/labels(*)", R"({"items": [{"labels": {"x": "1", "y": "2"}}, {}]})"},
      {"nothing", "{}"},
  };
  for (const auto& [mask, expected] : cases) {
    EXPECT_EQ(select_fields(reply, mask), Json::parse(expected)) << mask;
  }
}

TEST(GcePartialReply, PassesThroughTheScopesOfAnAggregatedList) {
  const auto reply = Json::parse(R"({"items": {"zones/a": {"instances": [{"name": "n", "id": "1"}]},
                                               "zones/b": {"warning": {"code": "X"}}}})");
  EXPECT_EQ(select_fields(reply, "items/*/instances/name"),
            Json::parse(R"({"items": {"zones/a": {"instances": [{"name": "n"}]}, "zones/b": {}}})"));
}

TEST(GcePartialReply, RefusesWhatIsNoMask) {
  for (const auto* const mask : {"", "a,", "a(b", "a)", "a//b", "(a)", "a()"}) {
    try {
      select_fields(Json::object(), mask);
      ADD_FAILURE() << mask;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status, 400);
      EXPECT_EQ(error.reason, "invalidParameter");
    }
  }
}

}  // namespace
}  // namespace cloudsim::gce
