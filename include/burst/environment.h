// SPDX-License-Identifier: Apache-2.0
// Environment variables, as a part of the world that tests replace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace burst {

/// The process's variables with those of the configuration's `Environment` laid over them: slurmctld passes its
/// programs SLURM_CONF and SLURM_RESUME_FILE only (no PATH, no HOME, no AWS_*).
class Environment {
 public:
  virtual ~Environment() = default;
  /// Nothing when the variable is unset; an empty string when it is set and empty.
  virtual std::optional<std::string> get(std::string_view name) const = 0;
};

}  // namespace burst
