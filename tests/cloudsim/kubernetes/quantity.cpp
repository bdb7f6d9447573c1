// SPDX-License-Identifier: Apache-2.0
// Amounts as Kubernetes writes them.
#include "kubernetes/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace cloudsim::kubernetes {

namespace {

constexpr double kKi = 1024;
constexpr std::array<std::pair<std::string_view, double>, 13> kSuffixes{{{"", 1},
                                                                         {"m", 1e-3},
                                                                         {"k", 1e3},
                                                                         {"M", 1e6},
                                                                         {"G", 1e9},
                                                                         {"T", 1e12},
                                                                         {"P", 1e15},
                                                                         {"Ki", kKi},
                                                                         {"Mi", kKi* kKi},
                                                                         {"Gi", kKi* kKi* kKi},
                                                                         {"Ti", kKi* kKi* kKi* kKi},
                                                                         {"u", 1e-6},
                                                                         {"n", 1e-9}}};

}  // namespace

std::optional<std::int64_t> parse_quantity(std::string_view text) {
  double number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);  // takes exponents, too
  if (result.ec != std::errc{} || !std::isfinite(number)) {
    return std::nullopt;
  }
  const std::string_view suffix(result.ptr, static_cast<std::size_t>(text.data() + text.size() - result.ptr));
  for (const auto& [name, factor] : kSuffixes) {
    if (name == suffix) {
      return static_cast<std::int64_t>(std::ceil(number * factor * 1000));
    }
  }
  return std::nullopt;
}

std::string format_quantity(std::int64_t thousandths, bool binary) {
  if (thousandths % 1000 != 0) {
    return fmt::format("{}m", thousandths);
  }
  auto value = thousandths / 1000;
  static constexpr std::array<std::string_view, 5> kBinary{"", "Ki", "Mi", "Gi", "Ti"};
  static constexpr std::array<std::string_view, 5> kDecimal{"", "k", "M", "G", "T"};
  const std::int64_t step = binary ? 1024 : 1000;
  std::size_t suffix = 0;
  while (value != 0 && value % step == 0 && suffix + 1 < kBinary.size()) {
    value /= step;
    ++suffix;
  }
  return fmt::format("{}{}", value, binary ? kBinary[suffix] : kDecimal[suffix]);
}

}  // namespace cloudsim::kubernetes
