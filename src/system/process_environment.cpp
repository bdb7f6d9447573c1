// SPDX-License-Identifier: Apache-2.0
// The process's environment variables: the one place that reads and sets them, before any thread is started.
#include "system/process_environment.h"

#include <cstdlib>

namespace burst {

void ProcessEnvironment::overlay(const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

std::optional<std::string> ProcessEnvironment::get(std::string_view name) const {
  const char* value = std::getenv(std::string(name).c_str());  // NOLINT(concurrency-mt-unsafe): never set after start
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace burst
