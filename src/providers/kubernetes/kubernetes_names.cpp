// SPDX-License-Identifier: Apache-2.0
// Kubernetes' names: of objects, of labels, of what a label may hold.
#include "providers/kubernetes/kubernetes_names.h"

#include <algorithm>

#include "providers/kubernetes/pod_labels.h"

namespace burst::kubernetes {
namespace {

constexpr std::size_t kLongestLabel = 63, kLongestSubdomain = 253;
constexpr std::string_view kOwnPrefix = "slurm-burst/";

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alphanumeric(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }
bool is_label_character(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

}  // namespace

bool is_dns_label(std::string_view text) {
  const auto fits = [](char c) { return is_lower_or_digit(c) || c == '-'; };
  return !text.empty() && text.size() <= kLongestLabel && std::all_of(text.begin(), text.end(), fits) &&
         text.front() != '-' && text.back() != '-';
}

bool is_dns_subdomain(std::string_view text) {
  if (text.size() > kLongestSubdomain) return false;
  while (true) {
    const auto dot = text.find('.');
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_label_key(std::string_view text) {
  const auto slash = text.find('/');
  if (slash != std::string_view::npos) {
    if (!is_dns_subdomain(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return !text.empty() && is_label_value(text);
}

bool is_label_value(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= kLongestLabel && std::all_of(text.begin(), text.end(), is_label_character) &&
         is_alphanumeric(text.front()) && is_alphanumeric(text.back());
}

bool is_own_key(std::string_view key) { return key == kManagedBy || key.starts_with(kOwnPrefix); }

std::string as_label_text(std::string_view text) {
  std::string made(text);
  std::replace_if(
      made.begin(), made.end(), [](char c) { return !is_label_character(c); }, '-');
  made.erase(made.begin(), std::find_if(made.begin(), made.end(), is_alphanumeric));
  made.resize(std::min(made.size(), kLongestLabel));
  while (!made.empty() && !is_alphanumeric(made.back())) made.pop_back();
  return made;
}

}  // namespace burst::kubernetes
