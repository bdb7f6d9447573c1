// SPDX-License-Identifier: Apache-2.0
// What the configuration check wants to know of the machine that it runs on.
#pragma once

#include <string>

#include "burst/files.h"
#include "core/conf_check.h"

namespace burst {

/// Looks at the programs that SlurmConf names, at slurm.conf (Include followed) and the files beside it, and at who may
/// read our own files. Never throws: what can't be read is left out.
HostFacts read_host_facts(const Config& config, const Files& files, const std::string& slurm_conf_path);

}  // namespace burst
