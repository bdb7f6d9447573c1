// SPDX-License-Identifier: Apache-2.0
// Where the user's own files are.
#pragma once

#include <string>

#include "burst/environment.h"

namespace burst::auth {

/// HOME, else what the user database says (slurmctld passes no HOME on), else `/`.
std::string home_folder(const Environment& environment);

}  // namespace burst::auth
