// SPDX-License-Identifier: Apache-2.0
// The private addresses that a cloud's machines get.
#include "address_pool.h"

#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace cloudsim {

namespace {

constexpr std::uint32_t kSize = 65536;

std::uint32_t to_number(const std::string& address) {
  in_addr out{};
  inet_pton(AF_INET, address.c_str(), &out);
  return ntohl(out.s_addr);
}

std::string to_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24U, (address >> 16U) & 255U, (address >> 8U) & 255U, address & 255U);
}

}  // namespace

std::string AddressPool::take(const std::string& first) {
  while (next_ < kSize) {
    const auto address = to_number(first) + next_++;
    if ((address & 255U) != 0 && (address & 255U) != 255) {
      return to_text(address);
    }
  }
  if (free_.empty()) {
    next_ = 0;
    return take(first);
  }
  auto address = std::move(free_.front());
  free_.erase(free_.begin());
  return address;
}

void AddressPool::reset() {
  next_ = 0;
  free_.clear();
}

}  // namespace cloudsim
