// SPDX-License-Identifier: Apache-2.0
// Managed instance groups of a region and their resize requests, and what happens to them in the course of time.
#pragma once

#include "gce/cloud.h"
#include "gce/operations.h"

namespace cloudsim::gce {

class Groups {
 public:
  Groups(Cloud& /*cloud*/, Operations& /*operations*/) {}
  void reset() {}
};

}  // namespace cloudsim::gce
