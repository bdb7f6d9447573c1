// SPDX-License-Identifier: Apache-2.0
// The parts of cloudsim that all simulated clouds share.
#pragma once

#include "call_log.h"
#include "event_loop.h"
#include "faults.h"
#include "knobs.h"
#include "machine_boot.h"

namespace cloudsim {

/// All of them outlive the clouds.
struct SharedParts {
  EventLoop& loop;
  MachineBoot& boot;
  Knobs& knobs;
  Faults& faults;
  CallLog& calls;
};

}  // namespace cloudsim
