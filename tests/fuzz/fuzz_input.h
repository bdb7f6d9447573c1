// SPDX-License-Identifier: Apache-2.0
// What all fuzz targets share: input as text, and what every failure has to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "burst/config.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process where a claim does not hold, as a crash does.
inline void require(bool holds, const char* claim, std::string_view shown = {}) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n%.*s\n", claim, static_cast<int>(shown.size()), shown.data());
  std::abort();
}

/// A text that one_line() would leave as it is, bar quotes and length: it can go into a log and on a terminal.
inline void require_one_line(std::string_view text, const char* claim) {
  std::string unquoted(text);
  for (char& c : unquoted) {
    if (c == '"' || c == '`') c = '\'';
  }
  require(one_line(unquoted, std::string::npos - 8) == unquoted, claim, text);
}

inline void require_safe(const Error& error) {
  constexpr std::size_t longest = 2000;
  const std::string_view what = error.what();
  require(what.size() <= longest, "an error's text has a limit", what);
  require_one_line(what, "an error's text is one safe line");
  require(!error.code().empty() && error.code().find_first_of(" \n\t\"") == std::string::npos, "a code is one word",
          error.code());
}

/// The only way to fail is Error: anything else reaches libFuzzer.
template <typename Work>
void only_errors(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    require_safe(error);
  }
}

/// Every path has the same content.
class OneFile : public Files {
 public:
  explicit OneFile(std::string_view content) : content_(content) {}
  std::optional<std::string> read(const std::string&) const override { return content_; }
  void write(const std::string&, std::string_view, unsigned) override {}
  void remove(const std::string&) override {}

 private:
  std::string content_;
};

}  // namespace burst::fuzz
