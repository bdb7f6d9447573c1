// SPDX-License-Identifier: Apache-2.0
// Where an AWS service is reached.
#include "auth/aws_endpoint.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

/// What AWS calls a partition: a set of regions under one domain. From botocore's data file endpoints.json.
struct Partition {
  std::string_view region_prefix;
  std::string_view domain;
  std::string_view dual_stack_domain;  ///< empty: none
  bool plain_name_is_fips;             ///< EC2 and STS there have no host names of their own for FIPS
};

constexpr std::array kPartitions{
    Partition{"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn", false},
    Partition{"us-gov-", "amazonaws.com", "api.aws", true},
    Partition{"us-isob-", "sc2s.sgov.gov", "", false},
    Partition{"us-isof-", "csp.hci.ic.gov", "", false},
    Partition{"us-iso-", "c2s.ic.gov", "", false},
    Partition{"eu-isoe-", "cloud.adc-e.uk", "", false},
    Partition{"eusc-", "amazonaws.eu", "api.amazonwebservices.eu", false},
    Partition{"", "amazonaws.com", "api.aws", false},
};

bool is_true(const Environment& environment, std::string_view name) {
  auto value = environment.get(name).value_or("");
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return value == "true";
}

std::string overridden(std::string_view service, const Environment& environment) {
  if (is_true(environment, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")) return {};
  std::string name = fmt::format("AWS_ENDPOINT_URL_{}", service);
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return c == '-' || c == ' ' ? '_' : static_cast<char>(std::toupper(c));
  });
  for (const auto& variable : {name, std::string("AWS_ENDPOINT_URL")}) {
    auto url = environment.get(variable).value_or("");
    if (url.empty()) continue;
    const auto parts = split_url(url);
    if (!parts) {
      throw Error("InvalidEndpoint",
                  fmt::format("{}: expected an http or https URL, found \"{}\"", variable, one_line(url)));
    }
    if (parts->path.empty() && parts->query.empty()) url += '/';
    return url;
  }
  return {};
}

}  // namespace

std::string aws_endpoint(std::string_view service, std::string_view region, const Environment& environment) {
  if (auto url = overridden(service, environment); !url.empty()) return url;
  const bool fits =
      std::ranges::all_of(region, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  static constexpr std::size_t kLongestLabel = 63;
  if (region.empty() || region.size() > kLongestLabel || !fits || region.starts_with('-') || region.ends_with('-')) {
    throw Error("InvalidRegion",
                fmt::format("expected the name of an AWS region like us-east-1, found \"{}\"", one_line(region)));
  }
  const auto& partition = *std::ranges::find_if(
      kPartitions, [&](const Partition& candidate) { return region.starts_with(candidate.region_prefix); });
  const bool fips = is_true(environment, "AWS_USE_FIPS_ENDPOINT");
  const bool dual_stack = is_true(environment, "AWS_USE_DUALSTACK_ENDPOINT");
  if (dual_stack && partition.dual_stack_domain.empty()) {
    throw Error("InvalidRegion", fmt::format("region {} has no dual-stack endpoints", region));
  }
  const auto suffix = fips && (dual_stack || !partition.plain_name_is_fips) ? "-fips" : "";
  return fmt::format("https://{}{}.{}.{}/", service, suffix, region,
                     dual_stack ? partition.dual_stack_domain : partition.domain);
}

}  // namespace burst::auth
