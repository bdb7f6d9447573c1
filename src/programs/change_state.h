// SPDX-License-Identifier: Apache-2.0
// The reconciler: compares Slurm with the cloud and mends what differs.
#pragma once

#include "programs/suite.h"

namespace burst {

/// One pass; returns the exit status. A group whose cloud can't be read is left alone in this pass. `dry_run` prints
/// the decisions and changes nothing. When another change_state runs, it does nothing and returns kDone.
int change_state(bool dry_run, Suite& suite);

}  // namespace burst
