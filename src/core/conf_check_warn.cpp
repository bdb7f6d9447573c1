// SPDX-License-Identifier: Apache-2.0
// The rules W: what Slurm takes, but what serves cloud nodes badly.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/conf_check_rules.h"
#include "core/slurm_conf_text.h"

namespace burst {

namespace {

long long seconds_of(const SlurmOptions& options, const char* name, long long otherwise) {
  const auto* value = find_option(options, name);
  return value == nullptr ? otherwise : slurm_number(*value).value_or(otherwise);
}

long long seconds_of(const CheckSubject& subject, const char* name, long long otherwise) {
  const auto* value = subject.option(name);
  return value == nullptr ? otherwise : slurm_number(*value).value_or(otherwise);
}

constexpr long long kDefaultResumeTimeout = 60, kDefaultSuspendTimeout = 30;

/// The three times as a partition has them; Slurm takes partition options since 21.08.
struct PowerTimes {
  std::string where;
  long long suspend, resume_timeout, suspend_timeout;
  bool queue = false;  ///< ResumeTimeout covers the time in a queue too
};

std::vector<PowerTimes> power_times(const CheckSubject& subject) {
  const PowerTimes global{"", seconds_of(subject, "SuspendTime", kNoLimit),
                          seconds_of(subject, "ResumeTimeout", kDefaultResumeTimeout),
                          seconds_of(subject, "SuspendTimeout", kDefaultSuspendTimeout), false};
  std::vector<PowerTimes> all{global};
  for (const auto& partition : subject.config.partitions) {
    const auto options = partition.slurm_options();
    const PowerTimes own{fmt::format("partition {}: ", partition.name),
                         seconds_of(options, "SuspendTime", global.suspend),
                         seconds_of(options, "ResumeTimeout", global.resume_timeout),
                         seconds_of(options, "SuspendTimeout", global.suspend_timeout),
                         std::any_of(partition.groups.begin(), partition.groups.end(), machines_queue)};
    if (own.suspend != global.suspend || own.resume_timeout != global.resume_timeout ||
        own.suspend_timeout != global.suspend_timeout) {
      all.push_back(own);
    }
  }
  return all;
}

void suspend_time(const CheckSubject& subject, Messages& messages) {
  constexpr long long too_short = 60;
  for (const auto& times : power_times(subject)) {
    if (times.suspend == kNoLimit) continue;
    if (times.suspend < too_short) {
      messages.push_back(fmt::format("{}SuspendTime={}: nodes end {} s after their last job", times.where,
                                     times.suspend, times.suspend));
    } else if (!times.queue && times.resume_timeout != kNoLimit &&
               times.suspend < times.suspend_timeout + times.resume_timeout) {
      messages.push_back(fmt::format("{}SuspendTime={}: less than SuspendTimeout + ResumeTimeout, {} + {}", times.where,
                                     times.suspend, times.suspend_timeout, times.resume_timeout));
    }
  }
}

void power_saving_off(const CheckSubject& subject, Messages& messages) {
  const auto times = power_times(subject);
  if (std::all_of(times.begin(), times.end(), [](const auto& one) { return one.suspend == kNoLimit; })) {
    messages.emplace_back("SuspendTime is set nowhere: idle machines are never ended");
  }
}

void other_nodes(const CheckSubject& subject, Messages& messages) {
  if (!subject.host.other_nodes || seconds_of(subject, "SuspendTime", kNoLimit) == kNoLimit) return;
  for (const char* name : {"SuspendExcNodes", "SuspendExcParts"}) {
    if (subject.option(name) != nullptr) return;
  }
  messages.emplace_back(
      "SuspendTime is set for all nodes, and slurm.conf has some that are not in the cloud: name them in "
      "SuspendExcNodes or SuspendExcParts, or set SuspendTime in PartitionOptions");
}

void needed_by_release(const CheckSubject& subject, Messages& messages) {
  constexpr long long no_forwarding = 1000, new_default = 16;
  const auto width = seconds_of(subject, "TreeWidth", 0);
  if (!subject.at_least(23, 2) && !subject.has_word("PrivateData", "cloud")) {
    messages.emplace_back("PrivateData=CLOUD is missing: commands hide powered-down nodes up to Slurm 22.05");
  }
  if (!subject.at_least(23, 11)) {
    if (width < no_forwarding) {
      messages.push_back(
          fmt::format("TreeWidth={}: up to Slurm 23.02 slurmd can't forward to cloud nodes, use 65533", width));
    }
  } else if (width > new_default) {
    messages.push_back(
        fmt::format("TreeWidth={}: not needed since Slurm 23.11, its default of {} serves better", width, new_default));
  }
}

void boot_time(const CheckSubject& subject, Messages& messages) {
  constexpr long long boot = 120;
  for (const auto& times : power_times(subject)) {
    if (times.resume_timeout != kNoLimit && times.resume_timeout < boot) {
      messages.push_back(fmt::format("{}ResumeTimeout={}: cloud machines need up to {} s until slurmd runs",
                                     times.where, times.resume_timeout, boot));
    }
  }
}

void suspend_timeout(const CheckSubject& subject, Messages& messages) {
  constexpr long long termination = 30, too_long = 600;
  for (const auto& times : power_times(subject)) {
    if (times.suspend_timeout < termination) {
      messages.push_back(fmt::format("{}SuspendTimeout={}: a machine may still be ending when its node starts anew",
                                     times.where, times.suspend_timeout));
    } else if (times.suspend_timeout > too_long) {
      messages.push_back(fmt::format("{}SuspendTimeout={}: a node can't be used for that long after it was ended",
                                     times.where, times.suspend_timeout));
    }
  }
}

void return_to_service(const CheckSubject& subject, Messages& messages) {
  const auto* value = subject.option("ReturnToService");
  if (value == nullptr && !subject.host.slurm_conf) return;  // it may be set where we can't look
  if (value == nullptr || *value != "2") {
    messages.push_back(fmt::format("ReturnToService={}: with 2 a node that registers late serves again",
                                   value == nullptr ? "0" : *value));
  }
}

void resume_fail_program(const CheckSubject& subject, Messages& messages) {
  if (subject.option("ResumeFailProgram") != nullptr) return;
  messages.emplace_back(
      "ResumeFailProgram is not set: set it to the path of suspend, or machines that never register "
      "run until change_state ends them");
}

void batch_size(const CheckSubject& subject, Messages& messages) {
  if (!subject.at_least(24, 5)) return;
  constexpr long long default_rate = 300, default_interval = 10, seconds_a_minute = 60;
  const auto rate = seconds_of(subject, "ResumeRate", default_rate);
  const auto text = subject.controller_parameter("power_save_interval");
  const auto interval = text ? slurm_number(*text).value_or(default_interval) : default_interval;
  if (rate <= 0) return;
  const auto batch = std::max(1LL, rate * interval / seconds_a_minute);
  for (const auto* group : subject.config.groups()) {
    if (group->strategy != LaunchStrategy::all_or_nothing || group->max_nodes <= batch) continue;
    messages.push_back(
        fmt::format("{}: ResumeRate={} gives {} nodes a call, so that a job of up to {} nodes is not started as one; "
                    "use ResumeRate=0",
                    group->key(), rate, batch, group->max_nodes));
  }
}

void powered_nodes(const CheckSubject& subject, Messages& messages) {
  if (subject.at_least(24, 5) && !subject.at_least(26, 5) && subject.controller_parameter("max_powered_nodes")) {
    messages.emplace_back("SlurmctldParameters=max_powered_nodes: nodes are miscounted before Slurm 26.05");
  }
}

void requeue(const CheckSubject& subject, Messages& messages) {
  const auto* value = subject.option("JobRequeue");
  if (value != nullptr && *value == "0") {
    messages.emplace_back("JobRequeue=0: a job is lost when a machine of its does not start");
  }
}

void call_interval(const CheckSubject& subject, Messages& messages) {
  if (subject.option("SlurmctldParameters") == nullptr && !subject.host.slurm_conf) return;
  const auto value = subject.controller_parameter("power_save_min_interval");
  if (!value || *value == "0") {
    messages.emplace_back("SlurmctldParameters=power_save_min_interval is 0: up to one call a second; 5 batches them");
  }
}

void topology(const CheckSubject& subject, Messages& messages) {
  const auto& text = subject.host.topology_conf;
  if (text && subject.host.topology_yaml) {
    messages.emplace_back("topology.conf and topology.yaml are both there: since Slurm 25.05 the latter counts alone");
  }
  const auto* plugin = subject.option("TopologyPlugin");
  if (!text || subject.host.topology_yaml || plugin == nullptr || same_option(*plugin, "topology/default")) return;
  for (const auto* group : subject.config.groups()) {
    if (text->find(group->key() + "-") == std::string::npos) {
      messages.push_back(fmt::format("{}: topology.conf names none of its nodes", group->key()));
    }
  }
}

void readable(const CheckSubject& subject, Messages& messages) {
  for (const auto& file : subject.host.unreadable) {
    messages.push_back(fmt::format("SlurmUser can't read \"{}\"", file));
  }
}

void excluded_nodes(const CheckSubject& subject, Messages& messages) {
  const auto* value = find_option(subject.config.slurm_conf, "SuspendExcNodes");
  if (value == nullptr) return;
  for (const auto* group : subject.config.groups()) {
    if (value->find(group->key() + "-") == std::string::npos) continue;
    messages.push_back(
        fmt::format("SuspendExcNodes names nodes of {}: their machines are never ended; MinNodes says "
                    "which nodes shall always be up",
                    group->key()));
  }
}

/// W17: Slurm gives up on machines that still wait in a queue.
void queue_time(const CheckSubject& subject, Messages& messages) {
  for (const auto& partition : subject.config.partitions) {
    const auto seconds = seconds_of(partition.options, "ResumeTimeout", kNoLimit);
    if (seconds == kNoLimit) continue;
    for (const auto& group : partition.groups) {
      const auto needed = seconds_of(group.partition_needs, "ResumeTimeout", 0);
      if (seconds >= needed) continue;
      messages.push_back(
          fmt::format("partition {}: ResumeTimeout={}: machines of {} wait in the provider's queue, and "
                      "Slurm gives up on them after that time; without it {} is written",
                      partition.name, seconds, group.key(), needed));
    }
  }
}

/// W18: a ResumeTimeout that covers a queue holds for machines too that have none.
void mixed_partition(const CheckSubject& subject, Messages& messages) {
  for (const auto& partition : subject.config.partitions) {
    const auto waits = std::find_if(partition.groups.begin(), partition.groups.end(), machines_queue);
    const auto starts = std::find_if_not(partition.groups.begin(), partition.groups.end(), machines_queue);
    if (waits == partition.groups.end() || starts == partition.groups.end()) continue;
    messages.push_back(
        fmt::format("partition {}: the long ResumeTimeout that {} needs holds for {} too: give them "
                    "partitions of their own",
                    partition.name, waits->key(), starts->key()));
  }
}

/// W19: a node is used again while its machine is still ending: the new one can't have the name.
void termination_time(const CheckSubject& subject, Messages& messages) {
  const auto global = seconds_of(subject, "SuspendTimeout", kDefaultSuspendTimeout);
  for (const auto& partition : subject.config.partitions) {
    const auto timeout = seconds_of(partition.slurm_options(), "SuspendTimeout", global);
    for (const auto& group : partition.groups) {
      const auto needed = group.termination_time.count();
      if (needed <= kDefaultSuspendTimeout || timeout == kNoLimit || timeout >= needed) continue;
      messages.push_back(
          fmt::format("partition {}: SuspendTimeout={}: ending a machine of {} can take {} s, and as long "
                      "its node can't have a new one",
                      partition.name, timeout, group.key(), needed));
    }
  }
}

/// W20: addresses of machines that queue, where SlurmctldParameters stands in the installed slurm.conf alone.
void registered_addresses(const CheckSubject& subject, Messages& messages) {
  if (!subject.host.slurm_conf || find_option(*subject.host.slurm_conf, "SlurmctldParameters") == nullptr) return;
  const auto wanted = wanted_controller_parameters(subject.config, subject.version, &*subject.host.slurm_conf);
  if (wanted.empty()) return;
  messages.push_back(
      fmt::format("slurm.conf: SlurmctldParameters lacks cloud_reg_addrs, by which Slurm up to 23.02 "
                  "learns the addresses of machines that queue; expected {}",
                  wanted));
}

}  // namespace

std::span<const CheckRule> warning_rules() {
  static constexpr auto kRules =
      std::to_array<CheckRule>({{"W1", false, suspend_time},      {"W2", false, power_saving_off},
                                {"W3", false, other_nodes},       {"W4", false, needed_by_release},
                                {"W5", false, boot_time},         {"W6", false, suspend_timeout},
                                {"W7", false, return_to_service}, {"W8", false, resume_fail_program},
                                {"W9", false, batch_size},        {"W10", false, powered_nodes},
                                {"W11", false, requeue},          {"W12", false, call_interval},
                                {"W13", false, topology},         {"W14", false, readable},
                                {"W15", false, excluded_nodes},   {"W16", false, spelling},
                                {"W17", false, queue_time},       {"W18", false, mixed_partition},
                                {"W19", false, termination_time}, {"W20", false, registered_addresses}});
  return kRules;
}

}  // namespace burst
