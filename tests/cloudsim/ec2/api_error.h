// SPDX-License-Identifier: Apache-2.0
// An answer of AWS that is an error: its HTTP status, code and message.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace cloudsim::ec2 {

class ApiError : public std::runtime_error {
 public:
  ApiError(int status, std::string code, const std::string& message)
      : std::runtime_error(message), status_(status), code_(std::move(code)) {}
  ApiError(std::string code, const std::string& message) : ApiError(400, std::move(code), message) {}
  int status() const { return status_; }
  const std::string& code() const { return code_; }

 private:
  int status_;
  std::string code_;
};

}  // namespace cloudsim::ec2
