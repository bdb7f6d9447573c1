// SPDX-License-Identifier: Apache-2.0
// What providers have to know of the texts of tags and labels.
#include "providers/tag_text.h"

#include <algorithm>

namespace burst {

bool is_of_the_node(std::string_view value) {
  return std::ranges::any_of(kNodeWords, [&](auto word) { return value.find(word) != std::string_view::npos; });
}

std::uint64_t hash_of(std::string_view text, std::uint64_t start) {
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t hash = start;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

}  // namespace burst
