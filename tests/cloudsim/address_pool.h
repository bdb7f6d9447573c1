// SPDX-License-Identifier: Apache-2.0
// The private addresses that a cloud's machines get: loopback ones, so that each can listen on its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cloudsim {

/// 65,536 addresses from the first on, but for .0 and .255. Fresh ones first; then those given back, the oldest first.
class AddressPool {
 public:
  std::string take(const std::string& first);
  void give_back(std::string address) { free_.push_back(std::move(address)); }
  void reset();

 private:
  std::uint32_t next_ = 0;
  std::vector<std::string> free_;
};

}  // namespace cloudsim
