// SPDX-License-Identifier: Apache-2.0
// The names of nodes: PARTITION-NODEGROUP-ID.
#include "burst/node_name.h"

#include <algorithm>
#include <charconv>

namespace burst {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::optional<NodeNameParts> parse_node_name(std::string_view name) {
  const auto first = name.find('-');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = name.find('-', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  NodeNameParts parts{name.substr(0, first), name.substr(first + 1, second - first - 1), name.substr(second + 1)};
  if (parts.partition.empty() || parts.group.empty() || parts.id.empty()) return std::nullopt;
  if (!std::ranges::all_of(parts.partition, is_alphanumeric) || !std::ranges::all_of(parts.group, is_alphanumeric) ||
      !std::ranges::all_of(parts.id, is_digit)) {
    return std::nullopt;
  }
  const auto* const end = parts.id.data() + parts.id.size();
  if (std::from_chars(parts.id.data(), end, parts.number).ec != std::errc()) return std::nullopt;
  return parts;
}

}  // namespace burst
