// SPDX-License-Identifier: Apache-2.0
// Bodies in application/vnd.kubernetes.protobuf, which kubectl from 1.33 on sends for the objects that it makes itself.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace cloudsim::kubernetes {

/// As the same body in JSON; discarded: it is none, or of a kind whose fields are not known here.
nlohmann::json decode_protobuf(std::string_view body);

}  // namespace cloudsim::kubernetes
