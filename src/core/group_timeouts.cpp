// SPDX-License-Identifier: Apache-2.0
// Slurm's timeouts as they hold for one node group.
#include "core/group_timeouts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

namespace burst {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::chrono::seconds option(const SlurmOptions& options, std::string_view key, std::chrono::seconds otherwise) {
  std::chrono::seconds found = otherwise;
  for (const auto& [name, value] : options) {
    if (!same_word(name, key)) continue;
    long seconds = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (error == std::errc() && end == value.data() + value.size() && seconds > 0) {
      found = std::chrono::seconds(seconds);
    } else if (same_word(value, "INFINITE")) {
      found = std::chrono::hours(24);
    }
  }
  return found;
}

}  // namespace

GroupTimeouts group_timeouts(const Config& config, const NodeGroup& group, const SlurmConf& slurm_conf) {
  GroupTimeouts timeouts{slurm_conf.resume_timeout, slurm_conf.suspend_timeout};
  for (const auto& partition : config.partitions) {
    if (partition.name != group.partition) continue;
    const auto options = partition.slurm_options();
    timeouts.resume = option(options, "ResumeTimeout", timeouts.resume);
    timeouts.suspend = option(options, "SuspendTimeout", timeouts.suspend);
  }
  return timeouts;
}

}  // namespace burst
