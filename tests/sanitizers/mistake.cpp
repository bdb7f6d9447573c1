// SPDX-License-Identifier: Apache-2.0
// Makes the mistake that its argument names, for a sanitizer to find: `overrun`, `leak`, `overflow` or `race`.
#include <limits>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int overrun(std::size_t at) {
  const std::vector<int> numbers(at);
  return numbers.data()[at];
}

int race() {
  int number = 0;
  std::thread other([&] { ++number; });
  ++number;
  other.join();
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mistake = argc > 1 ? argv[1] : "";
  if (mistake == "overrun") return overrun(static_cast<std::size_t>(argc));
  if (mistake == "leak") return *new int(0);
  if (mistake == "overflow") return std::numeric_limits<int>::max() + argc;
  if (mistake == "race") return race();
  return 0;
}
