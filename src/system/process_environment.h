// SPDX-License-Identifier: Apache-2.0
// The process's environment variables under those of the configuration.
#pragma once

#include <map>

#include "burst/environment.h"

namespace burst {

class ProcessEnvironment : public Environment {
 public:
  /// Lays the configuration's `Environment` over the process's; they go to our child programs too.
  void overlay(const std::map<std::string, std::string>& variables);
  std::optional<std::string> get(std::string_view name) const override;
};

}  // namespace burst
