// SPDX-License-Identifier: Apache-2.0
// Child programs, run without a shell.
#pragma once

#include "burst/process.h"

namespace burst {

class SpawnProcesses : public Processes {
 public:
  ProcessResult run(const ProcessRequest& request) override;
};

}  // namespace burst
