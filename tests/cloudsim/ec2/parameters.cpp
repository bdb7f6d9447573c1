// SPDX-License-Identifier: Apache-2.0
// The parameters of an EC2 Query request, read by type.
#include "ec2/parameters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include <fmt/format.h>

namespace cloudsim::ec2 {

namespace {

constexpr std::size_t kMaxFilterValues = 200;
constexpr std::size_t kMaxTags = 50;

struct KnownNames {
  const char* action;
  const char* names;
};

constexpr auto kKnownNames = std::to_array<KnownNames>({
#include "ec2/parameter_names.inc"
});

using NameSet = std::unordered_set<std::string_view>;

const std::unordered_map<std::string_view, NameSet>& known_actions() {
  static const auto kTable = [] {
    std::unordered_map<std::string_view, NameSet> table;
    for (const auto& [action, names] : kKnownNames) {
      std::string_view left = names;
      while (!left.empty()) {
        const auto end = left.find(' ');
        table[action].insert(left.substr(0, end));
        left.remove_prefix(end + 1);
      }
    }
    return table;
  }();
  return kTable;
}

// `Filter.2.Value.17` -> `Filter.#.Value.#`
std::string without_indexes(std::string_view name) {
  std::string out;
  while (true) {
    const auto end = name.find('.');
    const auto part = name.substr(0, end);
    const bool index = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    out += index ? "#" : part;
    if (end == std::string_view::npos) {
      return out;
    }
    out += '.';
    name.remove_prefix(end + 1);
  }
}

}  // namespace

void check_names(const std::string& action, const CallParameters& parameters) {
  const auto found = known_actions().find(action);
  if (found == known_actions().end()) {
    throw ApiError("InvalidAction", fmt::format("The action {} is not valid for this web service.", action));
  }
  for (const auto& [name, value] : parameters) {
    if (found->second.count(without_indexes(name)) == 0) {
      throw ApiError("UnknownParameter", fmt::format("The parameter {} is not recognized", name));
    }
  }
}

bool Parameters::any() const {
  const auto found = all_->lower_bound(prefix_);
  return found != all_->end() && found->first.starts_with(prefix_);
}

std::string Parameters::text(const std::string& name, const std::string& fallback) const {
  const auto found = all_->find(prefix_ + name);
  return found == all_->end() ? fallback : found->second;
}

std::string Parameters::required(const std::string& name) const {
  auto value = text(name);
  if (value.empty()) {
    throw ApiError("MissingParameter", fmt::format("The request must contain the parameter {}{}", prefix_, name));
  }
  return value;
}

std::optional<std::int64_t> Parameters::integer(const std::string& name, std::int64_t low, std::int64_t high) const {
  const auto value = text(name);
  if (value.empty()) {
    return std::nullopt;
  }
  std::int64_t out = 0;
  const auto result = std::from_chars(value.data(), value.data() + value.size(), out);
  if (result.ec != std::errc{} || result.ptr != value.data() + value.size() || out < low || out > high) {
    throw ApiError("InvalidParameterValue", fmt::format("Value ({}) for parameter {}{} is invalid. Expecting {} to {}.",
                                                        value, prefix_, name, low, high));
  }
  return out;
}

std::optional<double> Parameters::number(const std::string& name) const {
  const auto value = text(name);
  if (value.empty()) {
    return std::nullopt;
  }
  double out = 0;
  const auto result = std::from_chars(value.data(), value.data() + value.size(), out);
  if (result.ec != std::errc{} || result.ptr != value.data() + value.size()) {
    throw ApiError("InvalidParameterValue",
                   fmt::format("Value ({}) for parameter {}{} is invalid.", value, prefix_, name));
  }
  return out;
}

bool Parameters::boolean(const std::string& name) const {
  const auto value = text(name, "false");
  if (value != "true" && value != "false") {
    throw ApiError("InvalidParameterValue",
                   fmt::format("Invalid value '{}' for {}{}. Expecting a boolean.", value, prefix_, name));
  }
  return value == "true";
}

std::string Parameters::choice(const std::string& name, const std::vector<std::string>& allowed) const {
  auto value = text(name, allowed.front());
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    throw ApiError("InvalidParameterValue",
                   fmt::format("Value ({}) for parameter {}{} is invalid.", value, prefix_, name));
  }
  return value;
}

std::vector<std::string> Parameters::list(const std::string& name) const {
  std::vector<std::string> out;
  for (std::size_t i = 1;; ++i) {
    const auto found = all_->find(fmt::format("{}{}.{}", prefix_, name, i));
    if (found == all_->end()) {
      return out;
    }
    out.push_back(found->second);
  }
}

std::vector<Parameters> Parameters::structures(const std::string& name) const {
  std::vector<Parameters> out;
  for (std::size_t i = 1;; ++i) {
    auto one = at(fmt::format("{}.{}", name, i));
    if (!one.any()) {
      return out;
    }
    out.push_back(std::move(one));
  }
}

CallParameters Parameters::copy() const {
  CallParameters out;
  for (auto it = all_->lower_bound(prefix_); it != all_->end() && it->first.starts_with(prefix_); ++it) {
    out.emplace(it->first.substr(prefix_.size()), it->second);
  }
  return out;
}

bool matches_wildcard(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool Filter::accepts(const std::string& value) const {
  return exact.count(value) != 0 || std::any_of(patterns.begin(), patterns.end(),
                                                [&](const auto& pattern) { return matches_wildcard(pattern, value); });
}

bool Filter::is_about_tags() const { return name.starts_with("tag:") || name == "tag-key" || name == "tag-value"; }

bool Filter::accepts_tags(const Tags& tags) const {
  if (name.starts_with("tag:")) {
    const auto found = tags.find(name.substr(4));
    return found != tags.end() && accepts(found->second);
  }
  return std::any_of(tags.begin(), tags.end(),
                     [&](const auto& tag) { return accepts(name == "tag-key" ? tag.first : tag.second); });
}

std::vector<Filter> parse_filters(const Parameters& parameters, const std::vector<std::string_view>& names) {
  std::vector<Filter> out;
  std::size_t count = 0;
  for (const auto& given : parameters.structures("Filter")) {
    Filter filter;
    filter.name = given.required("Name");
    if (!filter.is_about_tags() && std::find(names.begin(), names.end(), filter.name) == names.end()) {
      throw ApiError("InvalidParameterValue", fmt::format("The filter '{}' is invalid", filter.name));
    }
    for (auto& value : given.list("Value")) {
      ++count;
      if (value.find_first_of("*?") == std::string::npos) {
        filter.exact.insert(std::move(value));
      } else {
        filter.patterns.push_back(std::move(value));
      }
    }
    out.push_back(std::move(filter));
  }
  if (count > kMaxFilterValues) {
    throw ApiError(
        "FilterLimitExceeded",
        fmt::format("The maximum number of filter values specified on a single call is {}", kMaxFilterValues));
  }
  return out;
}

Tags parse_tags(const Parameters& parameters) {
  Tags tags;
  for (const auto& tag : parameters.structures("Tag")) {
    const auto key = tag.required("Key");
    const auto value = tag.text("Value");
    if (key.starts_with("aws:")) {
      throw ApiError("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use");
    }
    if (key.size() > 128 || value.size() > 256) {
      throw ApiError("InvalidParameterValue", fmt::format("Tag '{}' exceeds the maximum length", key));
    }
    if (!tags.emplace(key, value).second) {
      throw ApiError("InvalidParameterValue", fmt::format("Duplicate tag key '{}' specified.", key));
    }
  }
  if (tags.size() > kMaxTags) {
    throw ApiError("TagLimitExceeded", "The maximum number of tags for a resource is 50");
  }
  return tags;
}

void check_metadata_tag_keys(const Tags& tags) {
  for (const auto& [key, value] : tags) {
    const bool allowed =
        key.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_+=,.@:") ==
        std::string::npos;
    if (!allowed || key == "." || key == ".." || key == "_index") {
      throw ApiError("InvalidParameterValue",
                     fmt::format("'{}' is not a valid tag key. Tag keys must match pattern "
                                 "([0-9a-zA-Z\\-_+=,.@:]{{1,255}}), and must not be a reserved name ('.', '..', "
                                 "'_index')",
                                 key));
    }
  }
}

Page parse_page(const Parameters& parameters, const std::string& ids_name) {
  Page page;
  if (const auto limit = parameters.integer("MaxResults", 5, 1000)) {
    page.limit = static_cast<std::size_t>(*limit);
    if (parameters.has(ids_name + ".1")) {
      throw ApiError("InvalidParameterCombination", fmt::format("The parameter {} cannot be used with the parameter "
                                                                "maxResults",
                                                                ids_name));
    }
  }
  const auto token = parameters.text("NextToken");
  if (!token.empty()) {
    const auto result = std::from_chars(token.data(), token.data() + token.size(), page.after, 16);
    if (token.size() != 16 || result.ptr != token.data() + token.size()) {
      throw ApiError("InvalidNextToken", "The specified NextToken is not valid.");
    }
  }
  return page;
}

std::string page_token(std::uint64_t position) { return fmt::format("{:016x}", position); }

}  // namespace cloudsim::ec2
