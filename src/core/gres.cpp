// SPDX-License-Identifier: Apache-2.0
// The Gres option of a node group, and gres.conf made from it.
#include "core/gres.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "core/slurm_conf_text.h"

namespace burst {

namespace {

constexpr unsigned long long kMaxDevices = 1024;  // Slurm's limit of Count with File (gres.conf(5))

/// Splits at a character that stands outside parentheses.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && depth > 0) {
      --depth;
    }
  }
  return parts;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) &&
         std::none_of(text.begin(), text.end(), [](char c) { return c == '(' || c == ')' || c == '=' || c == '"'; });
}

/// `8`, `4G`: the number and its factor of 1024; nothing for anything else, and for what does not fit.
std::optional<unsigned long long> parse_count(std::string_view text) {
  unsigned long long count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc()) return std::nullopt;
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (suffix.empty()) return count;
  constexpr std::string_view suffixes = "KMGTP";
  const auto power = suffixes.find(static_cast<char>(suffix[0] & ~0x20));
  constexpr unsigned bits_a_step = 10;
  if (suffix.size() > 1 || power == std::string_view::npos) return std::nullopt;
  const auto shift = bits_a_step * static_cast<unsigned>(power + 1);
  if (count > (~0ULL >> shift)) return std::nullopt;
  return count << shift;
}

std::optional<Gres> parse_item(std::string_view item) {
  if (const auto sockets = item.find('('); sockets != std::string_view::npos) {
    if (item.back() != ')') return std::nullopt;
    item = item.substr(0, sockets);
  }
  auto fields = split(item, ':');
  Gres gres;
  gres.name = fields[0];
  if (!is_name(gres.name)) return std::nullopt;
  fields.erase(fields.begin());
  if (!fields.empty() && !fields.back().empty() && is_digit(fields.back()[0])) {
    if (const auto count = parse_count(fields.back())) {
      gres.count = *count;
      gres.count_text = fields.back();
      fields.pop_back();
    }  // else a type that begins with a digit: `gpu:1g.5gb`
  }
  if (!fields.empty() && fields.back() == "no_consume") fields.pop_back();
  if (fields.size() > 1 || (fields.size() == 1 && fields[0].empty())) return std::nullopt;
  if (!fields.empty()) gres.type = fields[0];
  return gres;
}

}  // namespace

std::vector<Gres> parse_gres(std::string_view value, std::vector<std::string>& malformed) {
  std::vector<Gres> all;
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
  if (value.empty()) return all;
  for (auto item : split(value, ',')) {
    if (auto gres = parse_item(item)) {
      all.push_back(std::move(*gres));
    } else {
      malformed.emplace_back(item);
    }
  }
  return all;
}

std::vector<Gres> group_gres(const NodeGroup& group, std::vector<std::string>& malformed) {
  const auto* value = find_option(group.slurm_specifications, "Gres");
  return value == nullptr ? std::vector<Gres>() : parse_gres(*value, malformed);
}

std::string gres_conf_text(const Config& config) {
  std::string text;
  std::vector<std::string> malformed;  // generate_conf and check_conf report these
  for (const auto* group : config.groups()) {
    unsigned long long devices = 0;
    for (const auto& gres : group_gres(*group, malformed)) {
      if (gres.count == 0) continue;
      const bool gpu = same_option(gres.name, "gpu");
      text += fmt::format("NodeName={} Name={}", group->node_range(), gpu ? "gpu" : gres.name);
      if (!gres.type.empty()) text += " Type=" + gres.type;
      if (!gpu || gres.count > kMaxDevices) {
        text += " Count=" + gres.count_text;
      } else if (gres.count == 1) {
        text += fmt::format(" File=/dev/nvidia{}", devices);
      } else {
        text += fmt::format(" File=/dev/nvidia[{}-{}]", devices, devices + gres.count - 1);
      }
      if (gpu) devices += gres.count;
      text += '\n';
    }
  }
  return text;
}

}  // namespace burst
