// SPDX-License-Identifier: Apache-2.0
// Compute Engine's names: of projects, regions, zones, labels, and of resources in their several spellings.
#include "providers/gce/gce_names.h"

#include <algorithm>
#include <vector>

namespace burst::gce {
namespace {

constexpr std::size_t kLongest = 63;  // of names and labels alike

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <typename Predicate>
bool all_of(std::string_view text, Predicate fits) {
  return std::all_of(text.begin(), text.end(), fits);
}

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> all;
  for (std::size_t start = 0; start <= path.size();) {
    const auto end = std::min(path.find('/', start), path.size());
    all.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return all;
}

}  // namespace

std::optional<ResourceName> parse_resource(std::string_view text, std::string_view collection,
                                           std::string_view project) {
  if (is_dns_label(text)) return ResourceName{std::string(project), "", std::string(text)};
  if (text.starts_with("https://")) {
    const auto path = text.find("/projects/");
    if (path == std::string_view::npos) return std::nullopt;
    text.remove_prefix(path + 1);
  }
  auto parts = segments(text);
  ResourceName resource{std::string(project), "", ""};
  if (parts.size() > 2 && parts[0] == "projects") {
    if (!is_project(parts[1])) return std::nullopt;
    resource.project = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (parts.size() == 3 && parts[0] == "global") {
    resource.location = "global";
    parts.erase(parts.begin());
  } else if (parts.size() == 4 && (parts[0] == "regions" || parts[0] == "zones") && is_dns_label(parts[1])) {
    resource.location = std::string(parts[0]) + "/" + std::string(parts[1]);
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (parts.size() != 2 || parts[0] != collection || !is_dns_label(parts[1])) return std::nullopt;
  resource.name = parts[1];
  return resource;
}

bool is_project(std::string_view text) {
  constexpr std::size_t shortest_id = 6, longest_id = 30, longest_number = 19;
  if (!text.empty() && text.size() <= longest_number && all_of(text, is_digit)) return true;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    const auto domain = text.substr(0, colon);
    const auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '.' || c == '-'; };
    if (domain.empty() || !all_of(domain, fits)) return false;
    text.remove_prefix(colon + 1);
  }
  return is_dns_label(text) && text.size() >= shortest_id && text.size() <= longest_id;
}

bool is_region(std::string_view text) {
  return is_dns_label(text) && text.find('-') != std::string_view::npos && is_digit(text.back());
}

bool is_zone_of(std::string_view text, std::string_view region) {
  if (!text.starts_with(region)) return false;
  text.remove_prefix(region.size());
  const auto fits = [](char c) { return is_lower(c) || is_digit(c); };
  return text.size() > 1 && text[0] == '-' && is_lower(text[1]) && all_of(text.substr(1), fits);
}

bool is_dns_label(std::string_view text) {
  const auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '-'; };
  return !text.empty() && text.size() <= kLongest && is_lower(text[0]) && text.back() != '-' && all_of(text, fits);
}

bool is_label_value(std::string_view text) {
  const auto fits = [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '_'; };
  return text.size() <= kLongest && all_of(text, fits);
}

bool is_label_key(std::string_view text) { return !text.empty() && is_lower(text[0]) && is_label_value(text); }

std::string as_label_text(std::string_view text) {
  std::string label;
  for (const char c : text.substr(0, kLongest)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    label += is_lower(lower) || is_digit(lower) || lower == '_' ? lower : '-';
  }
  return label;
}

}  // namespace burst::gce
