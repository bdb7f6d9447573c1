// SPDX-License-Identifier: Apache-2.0
// The text of tests/data/compute-v1.json, which CMake puts into the program.
#pragma once

#include <string_view>

namespace cloudsim::gce {

extern const std::string_view kComputeV1Json;

}  // namespace cloudsim::gce
