// SPDX-License-Identifier: Apache-2.0
// A value of a configuration file together with where it stands, read with checks that report instead of throwing.
#include "core/config_place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/config_keys.h"
#include "core/json_document.h"

namespace burst {

namespace {

using Json = nlohmann::ordered_json;

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// What kind of value it is, without the value.
std::string type_shown(const Json& value) {
  if (value.is_object() || value.is_array() || value.is_null()) return json_shown(value);
  return fmt::format("a {}", value.type_name());
}

/// A number as Slurm reads it: no exponent, no `.0`.
std::string number_text(const Json& value) {
  if (!value.is_number_float()) return value.dump();
  const double number = value.get<double>();
  std::array<char, 400> buffer{};  // the largest double has 309 digits
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
  return {buffer.data(), end.ptr};
}

}  // namespace

ConfigPlace::ConfigPlace(std::string file, const Json& document, std::vector<ConfigProblem>& problems)
    : file_(std::move(file)), value_(&document), problems_(&problems) {}

ConfigPlace::ConfigPlace(const ConfigPlace& parent, const Json& value, std::string name)
    : file_(parent.file_),
      pointer_(parent.pointer_ + "/" + json_pointer_step(name)),
      name_(std::move(name)),
      value_(&value),
      problems_(parent.problems_) {}

std::string ConfigPlace::location() const {
  return pointer_.empty() ? fmt::format("\"{}\"", file_) : fmt::format("\"{}\": {}", file_, pointer_);
}

bool ConfigPlace::is_object() const { return value_->is_object(); }

bool ConfigPlace::has(std::string_view key) const { return value_->is_object() && value_->contains(key); }

std::optional<ConfigPlace> ConfigPlace::required(std::string_view key) const {
  auto found = optional(key);
  if (!found) problem(fmt::format("expected a key \"{}\", found none", key));
  return found;
}

std::optional<ConfigPlace> ConfigPlace::optional(std::string_view key) const {
  if (!value_->is_object()) return std::nullopt;
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return ConfigPlace(*this, *found, std::string(key));
}

std::vector<ConfigPlace> ConfigPlace::children() const {
  std::vector<ConfigPlace> all;
  if (value_->is_object()) {
    for (const auto& [key, member] : value_->items()) all.push_back(ConfigPlace(*this, member, key));
  } else if (value_->is_array()) {
    for (std::size_t i = 0; i < value_->size(); ++i) all.push_back(ConfigPlace(*this, (*value_)[i], std::to_string(i)));
  }
  return all;
}

bool ConfigPlace::expect_object() const {
  if (!value_->is_object()) expected("an object");
  return value_->is_object();
}

bool ConfigPlace::expect_array() const {
  if (!value_->is_array()) expected("an array");
  return value_->is_array();
}

std::optional<std::string> ConfigPlace::string() const {
  if (!value_->is_string()) {
    expected("a string");
    return std::nullopt;
  }
  return value_->get<std::string>();
}

std::optional<std::string> ConfigPlace::plain_name() const {
  const auto is_plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (value_->is_string()) {
    auto text = value_->get<std::string>();
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  }
  expected("a name of letters and digits (^[a-zA-Z0-9]+$)");
  return std::nullopt;
}

std::optional<long long> ConfigPlace::integer(long long least, long long most) const {
  if (value_->is_number_unsigned()) {
    const auto number = value_->get<unsigned long long>();
    if (number <= static_cast<unsigned long long>(most) && static_cast<long long>(number) >= least) {
      return static_cast<long long>(number);
    }
  } else if (value_->is_number_integer()) {
    const auto number = value_->get<long long>();
    if (number >= least && number <= most) return number;
  } else if (value_->is_number_float()) {  // to JSON, 10.0 is the integer 10
    const auto number = value_->get<double>();
    if (number >= static_cast<double>(least) && number <= static_cast<double>(most) && std::floor(number) == number) {
      return static_cast<long long>(number);
    }
  }
  expected(fmt::format("an integer from {} to {}", least, most));
  return std::nullopt;
}

std::optional<bool> ConfigPlace::boolean() const {
  if (value_->is_boolean()) return value_->get<bool>();
  expected("true or false");
  return std::nullopt;
}

std::optional<double> ConfigPlace::positive_number() const {
  if (value_->is_number() && value_->get<double>() > 0) return value_->get<double>();
  expected("a number above 0");
  return std::nullopt;
}

std::map<std::string, std::string> ConfigPlace::strings() const {
  std::map<std::string, std::string> all;
  if (!expect_object()) return all;
  for (const auto& child : children()) {
    if (child.name().empty()) problem("expected names that are not empty, found \"\"");
    if (child.value().is_string()) {
      all.emplace(child.name(), child.value().get<std::string>());
    } else {
      child.problem(fmt::format("expected a string, found {}", type_shown(child.value())));
    }
  }
  return all;
}

SlurmOptions ConfigPlace::slurm_options() const {
  SlurmOptions options;
  if (!expect_object()) return options;
  for (const auto& child : children()) {
    std::string text;
    if (child.value().is_string()) {
      text = child.value().get<std::string>();
    } else if (child.value().is_boolean()) {
      text = child.value().get<bool>() ? "YES" : "NO";
    } else if (child.value().is_number()) {
      text = number_text(child.value());
    } else {
      child.expected("a string, a number, true or false");
      continue;
    }
    if (child.name().empty()) {
      problem("expected the name of a Slurm option, found \"\"");
    } else if (has_control_characters(child.name()) || has_control_characters(text)) {
      child.expected("text without line breaks and control characters");
    } else {
      options.emplace_back(child.name(), std::move(text));
    }
  }
  return options;
}

void ConfigPlace::expected(std::string_view what) const {
  problem(fmt::format("expected {}, found {}", what, json_shown(*value_)));
}

void ConfigPlace::problem(std::string_view text, bool fatal) const {
  problems_->push_back({fatal, fmt::format("reading {}: {}", location(), text)});
}

void ConfigPlace::warn_unknown(std::span<const std::string_view> known) const {
  for (const auto& child : children()) {
    if (std::find(known.begin(), known.end(), child.name()) != known.end()) continue;
    const auto nearest = nearest_word(child.name(), known);
    child.problem(nearest.empty() ? "unknown key" : fmt::format("unknown key, did you mean \"{}\"?", nearest), false);
  }
}

}  // namespace burst
