// SPDX-License-Identifier: Apache-2.0
// What the API server says about itself: groups, versions, resources, and as much OpenAPI as kubectl asks for.
#pragma once

#include <optional>
#include <string>

#include "http_message.h"

namespace cloudsim::kubernetes {

/// Nothing: no such path.
std::optional<HttpReply> describe_api(const std::string& path, const std::string& version);

}  // namespace cloudsim::kubernetes
