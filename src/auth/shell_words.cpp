// SPDX-License-Identifier: Apache-2.0
// Splitting a command line into words as a POSIX shell does, without a shell.
#include "auth/shell_words.h"

#include <cstddef>

namespace burst::auth {

std::optional<std::vector<std::string>> split_shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool last = i + 1 == text.size();
    if (quote == '\'') {
      if (c == '\'') {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\\') {
      if (last) return std::nullopt;
      const char next = text[++i];
      if (quote == '"' && next != '"' && next != '\\') word += c;
      word += next;
      in_word = true;
    } else if (quote == '"') {
      if (c == '"') {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != '\0') return std::nullopt;
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace burst::auth
