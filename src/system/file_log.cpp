// SPDX-License-Identifier: Apache-2.0
// The log file in the Python plugin's format, and the console, over spdlog.
#include "system/file_log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include "burst/text.h"
#include "system/descriptor.h"
#include "system/disk_files.h"

namespace burst {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::critical:
      return spdlog::level::critical;
  }
  return spdlog::level::critical;
}

/// The level as Python's logging names it.
class PythonLevel : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    constexpr std::array<std::string_view, 7> names{"DEBUG", "DEBUG",    "INFO",    "WARNING",
                                                    "ERROR", "CRITICAL", "CRITICAL"};
    const std::string_view name = names.at(static_cast<std::size_t>(message.level));
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<PythonLevel>(); }
};

std::unique_ptr<spdlog::formatter> python_format(const std::string& pattern) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PythonLevel>('*').set_pattern(pattern);
  return formatter;
}

/// One write() a line, so that lines of several processes do not mix; spdlog's own file sink buffers and leaves its
/// descriptor to child programs.
class AppendSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  AppendSink(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (::write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) || reported_) return;
    reported_ = true;
    std::fprintf(stderr, "writing the log file \"%s\": %s; messages are lost\n", path_.c_str(), std::strerror(errno));
  }
  void flush_() override {}

 private:
  std::string path_;
  Descriptor file_;
  bool reported_ = false;
};

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

class FileLog : public Log {
 public:
  explicit FileLog(const LogSettings& settings) : logger_(settings.program) {
    logger_.set_level(to_spdlog(settings.level));
    auto console = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    console->set_formatter(python_format("%Y-%m-%d %H:%M:%S,%e - %* - %v"));
    // slurmctld keeps what its programs print in memory until they end: without a terminal only what went wrong.
    if (isatty(STDERR_FILENO) == 0) console->set_level(spdlog::level::warn);
    logger_.sinks().push_back(std::move(console));
    if (settings.file.empty()) return;
    Descriptor file(open_for_owner(settings.file, O_WRONLY | O_CREAT | O_APPEND, 0640));
    if (!file) {
      warning("opening the log file \"" + settings.file + "\": " + std::strerror(errno) +
              "; messages go to the console only: set LogFileName to a file that SlurmUser can write");
      return;
    }
    auto sink = std::make_shared<AppendSink>(settings.file, std::move(file));
    sink->set_formatter(python_format("%Y-%m-%d %H:%M:%S,%e - %n - %* - %v"));
    logger_.sinks().push_back(std::move(sink));
  }

  void write(LogLevel level, std::string_view message) override {
    // Callers make foreign text safe; should one forget it, nobody can forge a line by it.
    if (std::any_of(message.begin(), message.end(), is_control)) {
      constexpr std::size_t longest = 4000;
      const std::string line = one_line(message, longest);
      logger_.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
      return;
    }
    logger_.log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
  }
  bool enabled(LogLevel level) const override { return logger_.should_log(to_spdlog(level)); }

 private:
  spdlog::logger logger_;
};

}  // namespace

std::unique_ptr<Log> make_file_log(const LogSettings& settings) { return std::make_unique<FileLog>(settings); }

}  // namespace burst
