// SPDX-License-Identifier: Apache-2.0
// The parts of the outside world, handed to whoever needs them.
#pragma once

#include "burst/clock.h"
#include "burst/environment.h"
#include "burst/files.h"
#include "burst/http.h"
#include "burst/log.h"
#include "burst/process.h"
#include "burst/random.h"

namespace burst {

/// References to the world: real ones made in src/system, fakes in tests. A class keeps only the parts that it uses.
/// All of them outlive everything that is made from them.
struct Services {
  Clock& clock;
  Environment& environment;
  Files& files;
  HttpClient& http;
  Log& log;
  Processes& processes;
  Random& random;
};

}  // namespace burst
