// SPDX-License-Identifier: Apache-2.0
// EC2's published request limits, per action and region.
#pragma once

#include <string>

#include "ec2/model.h"
#include "ec2/parameters.h"
#include "knobs.h"

namespace cloudsim::ec2 {

/// Throws RequestLimitExceeded. Source: docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
void admit(const Knobs& knobs, Region& region, const std::string& action, const Parameters& parameters);

}  // namespace cloudsim::ec2
