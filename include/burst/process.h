// SPDX-License-Identifier: Apache-2.0
// Running another program, as a part of the world that tests replace.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace burst {

struct ProcessRequest {
  std::vector<std::string> argv;  ///< argv[0] is a path, or a name looked up in PATH; no shell is involved
  std::string input;              ///< what the program reads from stdin
  std::vector<std::pair<std::string, std::string>> environment;  ///< added to our own
  std::chrono::milliseconds timeout{30'000};                     ///< then SIGKILL for its process group
};

struct ProcessResult {
  int status = 0;          ///< exit status; 128 + signal when killed
  bool timed_out = false;  ///< it was killed by our timeout: what it did is unknown
  std::string output;      ///< stdout
  std::string errors;      ///< stderr
};

/// Runs programs and waits for them. Safe to call from several threads.
class Processes {
 public:
  virtual ~Processes() = default;
  /// A program that ran and failed is a result; one that could not be started throws Error{"ProcessError"}.
  virtual ProcessResult run(const ProcessRequest& request) = 0;
};

}  // namespace burst
