// SPDX-License-Identifier: Apache-2.0
// The one exception of the project: a call that failed as a whole.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace burst {

/// A call that failed as a whole: no credentials, no network, a broken file. A single refused node is a value
/// (NodeOutcome), never an Error. `code` is one word fit for a node's reason (`burst:CODE text`): the vendor's own
/// where there is one (`AuthFailure`), else ours (`NoCredentials`). what() is one line, lower case, no full stop,
/// and never holds a secret.
class Error : public std::runtime_error {
 public:
  Error(std::string code, const std::string& message) : std::runtime_error(message), code_(std::move(code)) {}
  const std::string& code() const noexcept { return code_; }

 private:
  std::string code_;
};

}  // namespace burst
