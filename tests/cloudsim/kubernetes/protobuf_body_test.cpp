// SPDX-License-Identifier: Apache-2.0
// Bodies in application/vnd.kubernetes.protobuf.
#include "kubernetes/protobuf_body.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cloudsim::kubernetes {
namespace {

std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number * 8 + 2)) + static_cast<char>(bytes.size()) + bytes;
}

std::string envelope(const std::string& kind, const std::string& raw) {
  return std::string("k8s\0", 4) + field(1, field(1, "v1") + field(2, kind)) + field(2, raw) + field(4, "");
}

TEST(ProtobufBody, BecomesTheSameJson) {
  const auto hard = field(1, field(1, "pods") + field(2, field(1, "4")));
  const auto body = envelope("ResourceQuota", field(1, field(1, "few") + field(8, "")) + field(2, hard));
  EXPECT_EQ(decode_protobuf(body), nlohmann::json::parse(R"({"apiVersion": "v1", "kind": "ResourceQuota",
      "metadata": {"name": "few"}, "spec": {"hard": {"pods": "4"}}})"));
}

TEST(ProtobufBody, OfNoKnownKindOrFormIsDiscarded) {
  EXPECT_TRUE(decode_protobuf("{}").is_discarded());
  EXPECT_TRUE(decode_protobuf(envelope("Unheard", "")).is_discarded());
  const auto good = envelope("Namespace", field(1, field(1, "n")));
  EXPECT_FALSE(decode_protobuf(good).is_discarded());
  EXPECT_TRUE(decode_protobuf(good.substr(0, good.size() - 3)).is_discarded());
}

}  // namespace
}  // namespace cloudsim::kubernetes
