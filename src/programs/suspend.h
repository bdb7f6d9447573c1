// SPDX-License-Identifier: Apache-2.0
// SuspendProgram and ResumeFailProgram: ends the machines of a hostlist.
#pragma once

#include <string>

#include "programs/suite.h"

namespace burst {

/// Returns the exit status. Slurm's state is left alone: it knows that the nodes go. What could not be ended is
/// retried by change_state. `dry_run`: print the machines that would be ended.
int suspend(const std::string& hostlist, bool dry_run, Suite& suite);

}  // namespace burst
