// SPDX-License-Identifier: Apache-2.0
// Reading the time stamps that clouds write.
#include "auth/iso_time.h"

#include <algorithm>

namespace burst::auth {
namespace {

/// Takes values off the front of a text; `ok` turns false at the first that is not there.
struct Reader {
  std::string_view text;
  bool ok = true;

  int digits(std::size_t count) {
    if (text.size() < count) ok = false;
    int value = 0;
    for (std::size_t i = 0; ok && i < count; ++i) {
      ok = text[i] >= '0' && text[i] <= '9';
      value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(std::min(count, text.size()));
    return value;
  }
  bool skip(std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
  }
  void expect(std::string_view any_of) { ok = skip(any_of) && ok; }
};

}  // namespace

std::optional<std::chrono::sys_seconds> parse_iso_time(std::string_view text) {
  using namespace std::chrono;  // NOLINT(google-build-using-namespace): names of units
  Reader reader{text};
  const int y = reader.digits(4);
  reader.expect("-");
  const int m = reader.digits(2);
  reader.expect("-");
  const int d = reader.digits(2);
  reader.expect("T ");
  const int hour = reader.digits(2);
  reader.expect(":");
  const int minute = reader.digits(2);
  reader.expect(":");
  const int second = reader.digits(2);
  if (reader.ok && reader.skip(".")) {
    reader.digits(1);
    while (reader.skip("0123456789")) {
    }
  }
  minutes offset{0};
  const bool behind = reader.text.starts_with('-');
  if (reader.skip("+-")) {
    offset = hours(reader.digits(2));
    reader.skip(":");
    offset += minutes(reader.digits(2));
    if (behind) offset = -offset;
  } else {
    reader.skip("Zz");
  }
  const year_month_day date{year(y), month(static_cast<unsigned>(m)), day(static_cast<unsigned>(d))};
  static constexpr int kLeapSecond = 60;
  if (!reader.ok || !reader.text.empty() || !date.ok() || hour > 23 || minute > 59 || second > kLeapSecond) {
    return std::nullopt;
  }
  return sys_days(date) + hours(hour) + minutes(minute) + seconds(second) - offset;
}

}  // namespace burst::auth
