// SPDX-License-Identifier: Apache-2.0
// What the rules of the configuration check share: one subject to look at, one list to add to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/conf_check.h"

namespace burst {

struct CheckSubject {
  const Config& config;
  const SlurmVersion& version;
  const HostFacts& host;

  bool at_least(int major, int minor) const { return version >= SlurmVersion{major, minor, 0}; }
  /// An option of slurm.conf: ours, else the installed file's; null when neither sets it.
  const std::string* option(std::string_view name) const;
  /// The value of `name=` in SlurmctldParameters.
  std::optional<std::string> controller_parameter(std::string_view name) const;
  /// Whether a comma list holds the word, compared without case.
  bool has_word(std::string_view option_name, std::string_view word) const;
};

using Messages = std::vector<std::string>;

/// One rule: appends a message for everything that it finds.
struct CheckRule {
  const char* name;
  bool error;
  void (*judge)(const CheckSubject&, Messages&);
};

std::span<const CheckRule> refusing_rules();                     ///< R1 ...
std::span<const CheckRule> warning_rules();                      ///< W1 ...
void spelling(const CheckSubject& subject, Messages& messages);  ///< W16

/// A time or count of slurm.conf; nothing when it is no number. `INFINITE`, `UNLIMITED`, `NONE` and `-1` give
/// kNoLimit.
std::optional<long long> slurm_number(const std::string& text);
inline constexpr long long kNoLimit = -1;

}  // namespace burst
