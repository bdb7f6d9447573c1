// SPDX-License-Identifier: Apache-2.0
#include "providers/ec2/ec2_query.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace burst::ec2 {
namespace {

Parameters flatten(const char* json) {
  Parameters parameters;
  append_json(parameters, "X", nlohmann::ordered_json::parse(json));
  return parameters;
}

TEST(Ec2Query, WritesScalarsAsTheWireDoes) {
  const Parameters expected{{"X.A", "text"}, {"X.B", "true"}, {"X.C", "3"}, {"X.D", "0.5"}};
  EXPECT_EQ(flatten(R"({"A": "text", "B": true, "C": 3, "D": 0.5, "E": null, "F": {}, "G": []})"), expected);
}

TEST(Ec2Query, NumbersListsFromOneAndGivesThemTheirWireNames) {
  const Parameters expected{{"X.TagSpecification.1.Tag.1.Key", "k"},
                            {"X.Overrides.1.InstanceType", "c5.large"},
                            {"X.Overrides.2.InstanceRequirements.CpuManufacturer.1", "amd"},
                            {"X.Overrides.2.InstanceRequirements.VCpuCount.Min", "2"}};
  EXPECT_EQ(flatten(R"({"TagSpecifications": [{"Tags": [{"Key": "k"}]}],
                        "Overrides": [{"InstanceType": "c5.large"},
                                      {"InstanceRequirements": {"CpuManufacturers": ["amd"], "VCpuCount": {"Min": 2}}}]})"),
            expected);
}

TEST(Ec2Query, EscapesAllButUnreservedCharacters) {
  EXPECT_EQ(form_encode({{"A.1", "a b+c/&=~-_.é$Latest"}}), "A.1=a%20b%2Bc%2F%26%3D~-_.%C3%A9%24Latest");
}

}  // namespace
}  // namespace burst::ec2
