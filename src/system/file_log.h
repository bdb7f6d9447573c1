// SPDX-License-Identifier: Apache-2.0
// The log file in the Python plugin's format, and the console.
#pragma once

#include <memory>
#include <string>

#include "burst/log.h"

namespace burst {

struct LogSettings {
  std::string program;  ///< the name in each line: `resume`
  std::string file;     ///< empty: console only
  LogLevel level = LogLevel::debug;
};

/// File: `2026-11-21 09:00:00,123 - resume - INFO - text`; console (stderr): without the name. Several processes may
/// write the same file. A file that can't be opened or written is reported once on stderr.
std::unique_ptr<Log> make_file_log(const LogSettings& settings);

}  // namespace burst
