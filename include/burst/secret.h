// SPDX-License-Identifier: Apache-2.0
// A string that does not print itself.
#pragma once

#include <ostream>
#include <string>
#include <utility>

namespace burst {

/// A key, a token, a password. Prints `***`; the value comes out by reveal() only, which reviewers can search for.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }
  bool operator==(const Secret&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "***"; }

 private:
  std::string value_;
};

}  // namespace burst
