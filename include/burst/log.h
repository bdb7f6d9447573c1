// SPDX-License-Identifier: Apache-2.0
// Where messages go: a file and, where there is one, a terminal.
#pragma once

#include <string_view>

namespace burst {

/// The five levels of `LogLevel` in config.json, in rising order.
enum class LogLevel { debug, info, warning, error, critical };

/// Takes whole messages, one line each. Safe to call from several threads. Never throws: a log that can't be written
/// is reported once on stderr and the work goes on. A message holds no secret; callers pass error texts of a cloud
/// through one_line() first.
class Log {
 public:
  virtual ~Log() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;
  /// Whether a message of this level would be kept; lets a caller skip the cost of building it.
  virtual bool enabled(LogLevel level) const = 0;

  void debug(std::string_view message) { write(LogLevel::debug, message); }
  void info(std::string_view message) { write(LogLevel::info, message); }
  void warning(std::string_view message) { write(LogLevel::warning, message); }
  void error(std::string_view message) { write(LogLevel::error, message); }
  void critical(std::string_view message) { write(LogLevel::critical, message); }
};

}  // namespace burst
