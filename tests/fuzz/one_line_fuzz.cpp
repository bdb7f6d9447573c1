// SPDX-License-Identifier: Apache-2.0
// one_line(), by which every foreign text reaches a log, a reason or a terminal.
#include <algorithm>

#include "fuzz_input.h"

using namespace burst::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  for (const std::size_t limit : {std::size_t{0}, std::size_t{2}, std::size_t{40}, std::size_t{300}}) {
    const auto line = burst::one_line(text, limit);
    require(line.size() <= limit, "a line has its limit", line);
    require(burst::one_line(line, limit) == line, "a safe line stays as it is", line);
    const auto is_unsafe = [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '"' || c == '`';
    };
    require(std::ranges::none_of(line, is_unsafe), "no control characters and no quotes", line);
  }
  return 0;
}
