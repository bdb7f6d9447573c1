// SPDX-License-Identifier: Apache-2.0
// RunInstances: at least MinCount instances, or an error.
#include <fmt/format.h>

#include "ec2/actions.h"

namespace cloudsim::ec2 {

namespace {

ResolvedLaunch resolve(const Call& call) {
  const auto& parameters = call.parameters;
  const auto from_template = parameters.at("LaunchTemplate");
  const auto from = from_template.any() ? resolve_template(call.region, from_template) : ResolvedTemplate{};
  auto launch = resolve_launch(call, parameters, from);
  if (launch.refusal) {
    throw ApiError(launch.refusal->code, launch.refusal->message);
  }
  launch.spec.tags = tags_for(parameters, "instance");
  launch.spec.client_token = parameters.text("ClientToken");
  launch.spec.spot = parameters.text("InstanceMarketOptions.MarketType") == "spot";
  if (launch.spec.metadata_tags) {
    check_metadata_tag_keys(launch.spec.tags);
  }
  return launch;
}

/// How many could be reserved. Throws when these are fewer than `least`.
std::int64_t reserve_between(const Call& call, const LaunchSpec& spec, std::int64_t least, std::int64_t most) {
  for (std::int64_t got = 0; got < most; ++got) {
    const auto refusal = call.cloud.reserve(spec);
    if (!refusal) {
      continue;
    }
    if (got >= least) {
      return got;
    }
    for (; got > 0; --got) {
      call.cloud.release(spec.type, spec.zone, spec.subnet_id, spec.spot);
    }
    // EC2 counts missing capacity among its server errors.
    throw ApiError(refusal->code == "InsufficientInstanceCapacity" ? 500 : 400, refusal->code, refusal->message);
  }
  return most;
}

}  // namespace

std::string run_instances(const Call& call) {
  if (auto body = replayed(call, "RunInstances")) {
    return *body;
  }
  call.parameters.required("MinCount");
  call.parameters.required("MaxCount");
  const auto most = call.parameters.integer("MaxCount", 1, 10'000).value_or(1);
  const auto least = call.parameters.integer("MinCount", 1, most).value_or(1);
  auto launch = resolve(call);
  const auto count = reserve_between(call, launch.spec, least, most);
  launch.spec.reservation_id = call.cloud.new_id("r-");
  XmlWriter xml;
  xml.text("reservationId", launch.spec.reservation_id);
  xml.text("ownerId", call.cloud.ec2_knobs().account);
  xml.raw("<groupSet/>");
  xml.element("instancesSet", [&] {
    for (std::int64_t i = 0; i < count; ++i) {
      write_instance(xml, call, call.cloud.launch(call.region, launch.spec), "");
    }
  });
  auto body = xml.take();
  remember(call, "RunInstances", body);
  return body;
}

}  // namespace cloudsim::ec2
