// SPDX-License-Identifier: Apache-2.0
// Slurm's hostlists: `aws-node-[0-3,7]` <-> names.
//
// Follows Slurm's own parser (src/common/hostlist.c). What it lets pass by accident is refused: a name with a bracket
// in it (`n[[1-2]]`, `n]`), letters behind a bound (`[1a-3]`), numbers of more than 18 digits.
#include "burst/hostlist.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/text.h"

namespace burst {
namespace {

constexpr std::size_t kMaxNames = std::size_t{1} << 20U;
constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;  ///< of all names together: a long prefix times a wide range
constexpr std::uint64_t kMaxRange = 65536;                 ///< Slurm's MAX_RANGE
constexpr std::size_t kMaxPrefixes = 65536;                ///< Slurm's MAX_PREFIX_CNT
constexpr std::size_t kMaxDigits = 18;                     ///< what fits 64 bits for certain

bool is_separator(char c) { return c == ',' || c == ' ' || c == '\t' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_number(std::string& text, std::uint64_t number, std::size_t width) {
  std::array<char, 20> digits{};
  const auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto length = static_cast<std::size_t>(end - digits.data());
  if (length < width) text.append(width - length, '0');
  text.append(digits.data(), length);
}

struct Range {
  std::uint64_t low = 0, high = 0;
  std::size_t width = 1;
};

/// What stands between two commas: text, a bracket, text, a bracket ... and the text behind the last bracket.
struct Pattern {
  std::vector<std::string_view> texts;  ///< texts[i] stands before brackets[i]
  std::vector<std::vector<Range>> brackets;
  std::string_view suffix;
};

std::size_t hosts_in(const std::vector<Range>& bracket) {
  std::size_t hosts = 0;
  for (const auto& range : bracket) hosts += range.high - range.low + 1;
  return hosts;
}

class Expander {
 public:
  explicit Expander(std::string_view list) : list_(list) {}

  std::vector<std::string> expand() {
    while (at_ < list_.size()) {
      if (is_separator(list_[at_])) {
        ++at_;
      } else {
        write(pattern());
      }
    }
    return std::move(names_);
  }

 private:
  [[noreturn]] void fail(std::size_t position, std::string_view what) const {
    throw Error("InvalidHostlist",
                fmt::format("hostlist \"{}\": position {}: {}", one_line(list_, 200), position + 1, what));
  }

  Pattern pattern() {
    Pattern pattern;
    std::size_t text_begin = at_;
    for (; at_ < list_.size() && !is_separator(list_[at_]); ++at_) {
      if (list_[at_] == ']') fail(at_, "unexpected \"]\"");
      if (list_[at_] != '[') continue;
      pattern.texts.push_back(list_.substr(text_begin, at_ - text_begin));
      pattern.brackets.push_back(bracket());
      text_begin = at_ + 1;
    }
    pattern.suffix = list_.substr(text_begin, at_ - text_begin);
    return pattern;
  }

  /// From `[` to its `]`, on which at_ then stands.
  std::vector<Range> bracket() {
    const std::size_t open = at_;
    const std::size_t close = list_.find_first_of("[]", open + 1);
    if (close == std::string_view::npos) fail(open, R"("[" without "]")");
    if (list_[close] == '[') fail(close, "a bracket within brackets");
    std::vector<Range> ranges;
    for (at_ = open + 1; at_ <= close; ++at_) {
      const std::size_t end = std::min(list_.find(',', at_), close);
      ranges.push_back(range(at_, end));
      at_ = end;
    }
    at_ = close;
    return ranges;
  }

  Range range(std::size_t begin, std::size_t end) const {
    const std::string_view item = list_.substr(begin, end - begin);
    const std::size_t dash = item.find('-');
    const std::string_view low = item.substr(0, dash);
    Range range;
    range.low = number(low, begin);
    range.high = range.low;
    range.width = low.size();
    if (dash != std::string_view::npos && dash + 1 < item.size())
      range.high = number(item.substr(dash + 1), begin + dash + 1);
    if (range.high < range.low) fail(begin, fmt::format("the range \"{}\" runs backwards", item));
    if (range.high - range.low >= kMaxRange) fail(begin, fmt::format("the range \"{}\" is too wide", item));
    return range;
  }

  /// As strtoul(): blanks and a plus sign may stand before the digits (and count in the width).
  std::uint64_t number(std::string_view text, std::size_t position) const {
    std::string_view digits = text;
    while (!digits.empty() && (digits.front() == ' ' || digits.front() == '\t')) digits.remove_prefix(1);
    if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
    if (digits.empty() || !std::ranges::all_of(digits, is_digit)) {
      fail(position, fmt::format("expected a number, found \"{}\"", one_line(text, 40)));
    }
    if (digits.size() > kMaxDigits) fail(position, "a number of more than 18 digits");
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }

  /// Counts before it writes, so that no list can take more memory than the limits allow.
  void reserve(const Pattern& pattern) {
    std::size_t count = 1, length = pattern.suffix.size();
    for (std::size_t i = 0; i < pattern.brackets.size(); ++i) {
      if (i + 1 == pattern.brackets.size() && count > kMaxPrefixes) fail(at_, "too many names before the last bracket");
      count *= hosts_in(pattern.brackets[i]);
      std::size_t digits = 0;
      for (const auto& range : pattern.brackets[i])
        digits = std::max({digits, range.width, fmt::formatted_size("{}", range.high)});
      length += pattern.texts[i].size() + digits;
      if (count > kMaxNames) break;
    }
    if (count > kMaxNames - names_.size()) fail(at_, fmt::format("more than {} names", kMaxNames));
    if (length * count > kMaxBytes - bytes_) fail(at_, "too long in all");
    bytes_ += length * count;
    if (count > names_.size()) names_.reserve(names_.size() + count);  // smaller ones: the vector doubles by itself
  }

  void write(const Pattern& pattern) {
    reserve(pattern);
    if (pattern.brackets.empty()) {
      names_.emplace_back(pattern.suffix);
      return;
    }
    // Slurm expands the second last bracket first, then those to the left of it, and the last one innermost:
    // a[1-2]b[3-4]c[5-6] is a1b3c5 a1b3c6 a2b3c5 a2b3c6 a1b4c5 ...
    std::vector<Cursor> cursors(pattern.brackets.size() - 1);
    do {
      std::string prefix;
      for (std::size_t i = 0; i < cursors.size(); ++i) {
        const Range& range = pattern.brackets[i][cursors[i].range];
        prefix += pattern.texts[i];
        append_number(prefix, range.low + cursors[i].offset, range.width);
      }
      prefix += pattern.texts.back();
      write_last(prefix, pattern.brackets.back(), pattern.suffix);
    } while (advance(cursors, pattern));
  }

  void write_last(const std::string& prefix, const std::vector<Range>& ranges, std::string_view suffix) {
    for (const auto& range : ranges) {
      for (std::uint64_t number = range.low; number <= range.high; ++number) {
        std::string& name = names_.emplace_back(prefix);
        append_number(name, number, range.width);
        name += suffix;
      }
    }
  }

  struct Cursor {
    std::size_t range = 0;
    std::uint64_t offset = 0;
  };

  /// The leftmost bracket turns fastest. False when all combinations have been.
  static bool advance(std::vector<Cursor>& cursors, const Pattern& pattern) {
    for (std::size_t i = 0; i < cursors.size(); ++i) {
      Cursor& cursor = cursors[i];
      const auto& bracket = pattern.brackets[i];
      if (cursor.offset < bracket[cursor.range].high - bracket[cursor.range].low) {
        ++cursor.offset;
        return true;
      }
      cursor.offset = 0;
      if (++cursor.range < bracket.size()) return true;
      cursor.range = 0;
    }
    return false;
  }

  std::string_view list_;
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::string> names_;
};

struct SplitName {
  std::string_view prefix, digits;  ///< digits: the longest run of them at the end; too long a run counts as none
};

SplitName split(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (name.size() - begin > kMaxDigits) begin = name.size();
  return {name.substr(0, begin), name.substr(begin)};
}

/// One bracket being written: hosts of one prefix.
class Fold {
 public:
  void add(std::string_view name) {
    const auto [prefix, digits] = split(name);
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (!ranges_.empty() && !digits.empty() && prefix == prefix_) {
      Range& last = ranges_.back();
      if (number == last.high + 1 && number - last.low < kMaxRange && written(number, last.width) == digits) {
        last.high = number;
      } else {
        ranges_.push_back({number, number, digits.size()});
      }
      return;
    }
    flush();
    if (digits.empty()) {
      separate();
      list_ += name;
    } else {
      prefix_ = prefix;
      ranges_.push_back({number, number, digits.size()});
    }
  }

  std::string finish() {
    flush();
    return std::move(list_);
  }

 private:
  static std::string written(std::uint64_t number, std::size_t width) {
    std::string text;
    append_number(text, number, width);
    return text;
  }

  void separate() {
    if (!list_.empty()) list_ += ',';
  }

  void flush() {
    if (ranges_.empty()) return;
    separate();
    list_ += prefix_;
    const bool bracket = ranges_.size() > 1 || ranges_.front().low != ranges_.front().high;
    if (bracket) list_ += '[';
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (i > 0) list_ += ',';
      append_number(list_, ranges_[i].low, ranges_[i].width);
      if (ranges_[i].high == ranges_[i].low) continue;
      list_ += '-';
      append_number(list_, ranges_[i].high, ranges_[i].width);
    }
    if (bracket) list_ += ']';
    ranges_.clear();
  }

  std::string list_;
  std::string_view prefix_;
  std::vector<Range> ranges_;
};

/// Two runs of digits as Slurm's strnatcmp() orders them: by value, or by text where one begins with 0.
int compare_runs(std::string_view a, std::string_view b) {
  if (a.front() != '0' && b.front() != '0' && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

/// Natural order of prefixes: g9- before g10-.
int compare_prefixes(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::size_t end_a = std::min(a.find_first_not_of("0123456789", i), a.size());
      const std::size_t end_b = std::min(b.find_first_not_of("0123456789", j), b.size());
      if (const int order = compare_runs(a.substr(i, end_a - i), b.substr(j, end_b - j)); order != 0) return order;
      i = end_a;
      j = end_b;
    } else if (a[i] != b[j]) {
      return a[i] < b[j] ? -1 : 1;
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j ? -1 : 1;
}

/// Slurm's own order: 22.05.0-7 sort the names of an update so, and pair them with addresses that stay as they are.
/// Numbers of fewer digits come first, which is their numeric order unless they are padded.
bool comes_before(const std::string& a, const std::string& b) {
  const auto [prefix_a, digits_a] = split(a);
  const auto [prefix_b, digits_b] = split(b);
  if (const int order = compare_prefixes(prefix_a, prefix_b); order != 0) return order < 0;
  if (digits_a.size() != digits_b.size()) return digits_a.size() < digits_b.size();
  return digits_a < digits_b;
}

}  // namespace

std::vector<std::string> expand_hostlist(std::string_view hostlist) { return Expander(hostlist).expand(); }

std::string fold_hostlist(std::span<const std::string> names) {
  Fold fold;
  for (const auto& name : names) fold.add(name);
  return fold.finish();
}

void sort_hostnames(std::vector<std::string>& names) {
  if (!std::ranges::is_sorted(names, comes_before)) std::ranges::sort(names, comes_before);
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace burst
