// SPDX-License-Identifier: Apache-2.0
// Foreign text made safe to show.
#include "burst/text.h"

#include <cstdint>

namespace burst {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8
};

/// The UTF-8 character at `at`; overlong forms, surrogates and codes beyond U+10FFFF are no characters.
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + bytes > text.size()) return {};
  std::uint32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(at + i) & 0x3FU);
  }
  const std::uint32_t smallest = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (code < smallest || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes};
}

/// Control characters of all kinds (line separators and those that turn a terminal's writing direction too), blanks.
bool is_blank(std::uint32_t code) {
  return code <= 0x20 || (code >= 0x7F && code <= 0xA0) || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202F) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

/// Drops whole characters from the end until `limit` bytes are left.
void cut(std::string& line, std::size_t limit) {
  const std::string_view dots = "...";
  std::size_t end = limit < dots.size() ? limit : limit - dots.size();
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80) --end;
  while (end > 0 && line[end - 1] == ' ') --end;
  line.resize(end);
  if (limit >= dots.size()) line += dots;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t limit) {
  std::string line;
  line.reserve(text.size() < limit ? text.size() : limit + 8);
  bool blank = false;
  for (std::size_t at = 0; at < text.size() && line.size() <= limit;) {
    const auto [code, bytes] = character_at(text, at);
    if (bytes != 0 && is_blank(code)) {
      blank = true;
    } else {
      if (blank && !line.empty()) line += ' ';
      blank = false;
      if (bytes == 0) {
        line += '?';
      } else if (code == '"' || code == '`') {
        line += '\'';
      } else {
        line += text.substr(at, bytes);
      }
    }
    at += bytes == 0 ? 1 : bytes;
  }
  if (line.size() > limit) cut(line, limit);
  return line;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_at(text, at).bytes;
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

}  // namespace burst
