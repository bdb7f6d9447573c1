// SPDX-License-Identifier: Apache-2.0
// The configuration check: goes through the rules, and what they share.
#include "core/conf_check.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/conf_check_rules.h"
#include "core/slurm_conf_text.h"

namespace burst {

namespace {

std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> all;
  while (!list.empty()) {
    const auto comma = list.find(',');
    all.push_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return all;
}

}  // namespace

const std::string* CheckSubject::option(std::string_view name) const {
  if (const auto* ours = find_option(config.slurm_conf, name)) return ours;
  return host.slurm_conf ? find_option(*host.slurm_conf, name) : nullptr;
}

std::optional<std::string> CheckSubject::controller_parameter(std::string_view name) const {
  const auto* parameters = option("SlurmctldParameters");
  if (parameters == nullptr) return std::nullopt;
  for (const auto word : words(*parameters)) {
    const auto equals = word.find('=');
    if (!same_option(word.substr(0, equals), name)) continue;
    return equals == std::string_view::npos ? std::string() : std::string(word.substr(equals + 1));
  }
  return std::nullopt;
}

bool CheckSubject::has_word(std::string_view option_name, std::string_view word) const {
  const auto* list = option(option_name);
  if (list == nullptr) return false;
  const auto all = words(*list);
  return std::any_of(all.begin(), all.end(), [word](auto one) { return same_option(one, word); });
}

std::optional<long long> slurm_number(const std::string& text) {
  for (const char* word : {"INFINITE", "UNLIMITED", "NONE", "-1"}) {
    if (same_option(text, word)) return kNoLimit;
  }
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::vector<Finding> check_conf(const Config& config, const SlurmVersion& version, const HostFacts& host) {
  const CheckSubject subject{config, version, host};
  std::vector<Finding> findings;
  for (const auto rules : {refusing_rules(), warning_rules()}) {
    for (const auto& rule : rules) {
      Messages messages;
      rule.judge(subject, messages);
      for (auto& message : messages) findings.push_back({rule.name, rule.error, std::move(message)});
    }
  }
  return findings;
}

std::string to_string(const Finding& finding) {
  return fmt::format("{}: {} {}", finding.error ? "error" : "warning", finding.rule, finding.message);
}

}  // namespace burst
