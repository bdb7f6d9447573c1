// SPDX-License-Identifier: Apache-2.0
// ResumeProgram: starts a machine for each node of a hostlist.
#pragma once

#include <string>

#include "programs/suite.h"

namespace burst {

struct ResumeRequest {
  std::string hostlist;
  std::string resume_file;  ///< content of SLURM_RESUME_FILE; empty when there is none
  bool dry_run = false;     ///< print what would be done; start nothing, change nothing
};

/// Returns the exit status. Nodes that can't be started are told to Slurm with the reason (`burst:CODE text`), so that
/// their jobs are requeued at once.
int resume(const ResumeRequest& request, Suite& suite);

}  // namespace burst
