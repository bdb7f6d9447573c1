// SPDX-License-Identifier: Apache-2.0
// Slurm's timeouts as they hold for one node group.
#include "core/group_timeouts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

namespace burst {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::optional<std::chrono::seconds> seconds_of(std::string_view value) {
  if (same_word(value, "INFINITE") || same_word(value, "UNLIMITED")) return std::chrono::hours(24);
  long seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size() || seconds <= 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

/// The last one counts, as in slurm.conf.
std::optional<std::chrono::seconds> option(const SlurmOptions& options, std::string_view key) {
  std::optional<std::chrono::seconds> found;
  for (const auto& [name, value] : options) {
    if (!same_word(name, key)) continue;
    if (const auto seconds = seconds_of(value)) found = seconds;
  }
  return found;
}

}  // namespace

GroupTimeouts group_timeouts(const Config& config, const NodeGroup& group, const SlurmConf& slurm_conf) {
  GroupTimeouts timeouts{slurm_conf.resume_timeout, slurm_conf.suspend_timeout};
  for (const auto& partition : config.partitions) {
    if (partition.name != group.partition) continue;
    const auto options = partition.slurm_options();
    timeouts.resume = option(options, "ResumeTimeout").value_or(timeouts.resume);
    timeouts.suspend = option(options, "SuspendTimeout").value_or(timeouts.suspend);
  }
  return timeouts;
}

}  // namespace burst
