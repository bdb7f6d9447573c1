// SPDX-License-Identifier: Apache-2.0
// What slurmctld leaves undone for the programs that it starts.
#pragma once

namespace burst {

/// Opens /dev/null on closed standard descriptors (up to Slurm 22.05 all are closed: the first file opened would be
/// stdin), empties the signal mask (up to 24.05 TERM, INT, PIPE and others are blocked), ignores SIGPIPE (an orphaned
/// program's stdout pipe has no reader), sets PATH when there is none. To be called first, before any thread.
void prepare_process();

}  // namespace burst
