// SPDX-License-Identifier: Apache-2.0
// The few things that we need of slurm.conf, read from the file itself.
#pragma once

#include <string>

#include "burst/environment.h"
#include "burst/files.h"
#include "burst/slurm.h"

namespace burst {

/// Reads the file that SLURM_CONF names, else the first that exists of those where Slurm's packages put it (also
/// relative to `bin_path`, SlurmBinPath). Include is followed as Slurm does: relative to the file's folder, `%c` for
/// the cluster's name, which is `cluster_hint` until the file says it. Lines are Slurm's: `#` starts a comment, a
/// backslash at the end goes on, keys in any case. No file, or one that can't be read: Slurm's defaults and an empty
/// path (configless clusters have none); the caller decides whether it can do without.
SlurmConf read_slurm_conf(const Files& files, const Environment& environment, const std::string& bin_path,
                          const std::string& cluster_hint);

}  // namespace burst
