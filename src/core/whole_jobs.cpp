// SPDX-License-Identifier: Apache-2.0
// The jobs of one resume as wholes: which machines serve none of them, and what is worth a second try.
#include "core/whole_jobs.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace burst {
namespace {

bool is_want(Outcome outcome) { return outcome == Outcome::no_capacity || outcome == Outcome::over_quota; }

}  // namespace

bool has_machine(Outcome outcome) { return outcome == Outcome::ready || outcome == Outcome::pending; }

CallJobs jobs_of_call(std::vector<ResumeJob> jobs, std::span<const SlurmJob> queue) {
  std::ranges::stable_sort(jobs, std::greater<>(), [](const ResumeJob& job) { return job.priority; });
  std::unordered_map<JobId, JobId> leaders;
  for (const auto& job : queue)
    if (job.het_job != 0) leaders.emplace(job.id, job.het_job);
  std::unordered_map<JobId, std::size_t> first;  // leader -> index of what its components are joined to
  std::vector<ResumeJob> whole;
  for (const auto& job : jobs) {
    const auto leader = leaders.find(job.id);
    const auto [entry, is_new] = first.try_emplace(leader == leaders.end() ? job.id : leader->second, whole.size());
    if (is_new) {
      whole.push_back(job);
    } else {
      ResumeJob& joined = whole[entry->second];
      joined.nodes.insert(joined.nodes.end(), job.nodes.begin(), job.nodes.end());
      joined.allocated.insert(joined.allocated.end(), job.allocated.begin(), job.allocated.end());
    }
  }
  return {std::move(jobs), std::move(whole)};
}

std::vector<ResumeJob> waiting_jobs(std::span<const SlurmJob> queue, std::span<const NodeName> nodes) {
  const std::unordered_set<std::string_view> wanted(nodes.begin(), nodes.end());
  std::vector<ResumeJob> jobs;
  for (const auto& queued : queue) {
    if (queued.state != "CONFIGURING") continue;
    ResumeJob job;
    job.id = queued.id;
    std::ranges::copy_if(queued.nodes, std::back_inserter(job.nodes),
                         [&](const NodeName& node) { return wanted.contains(node); });
    job.allocated = queued.nodes;
    if (!job.nodes.empty()) jobs.push_back(std::move(job));
  }
  return jobs;
}

SecondTries::SecondTries(std::span<const Launch> launches, std::span<const NodeOutcome> outcomes,
                         std::span<const ResumeJob> jobs, bool hands_over)
    : launches_(launches.begin(), launches.end()), jobs_(jobs.begin(), jobs.end()), hands_over_(hands_over) {
  for (const auto& outcome : outcomes) outcomes_.insert_or_assign(outcome.node, outcome.outcome);
  for (const auto& launch : launches_) {
    for (const auto& node : launch.nodes) launch_of_.emplace(node, &launch);
    const bool came_short = launch.all_or_nothing && launch.nodes.size() > 1 &&
                            std::ranges::any_of(launch.nodes, [&](const NodeName& node) { return lacks(node); });
    if (came_short && first_failed_ == nullptr) first_failed_ = &launch;
  }
  if (first_failed_ != nullptr) return;
  next_job_ = jobs_.size();  // nothing was given back
  rest_is_left_ = false;
}

bool SecondTries::lacks(const NodeName& node) const {
  const auto found = outcomes_.find(node);
  return found != outcomes_.end() && !has_machine(found->second);
}

std::optional<Launch> SecondTries::next() {
  while (next_job_ < jobs_.size()) {
    if (auto launch = again(jobs_[next_job_++])) return launch;
  }
  return std::exchange(rest_is_left_, false) && !hands_over_ ? rest() : std::nullopt;
}

std::optional<Launch> SecondTries::again(const ResumeJob& job) const {
  Launch launch;
  bool was_with_another = false, is_whole_launch = false, is_first = false;
  for (const auto& node : job.nodes) {
    if (!lacks(node)) continue;
    if (!is_want(outcomes_.at(node))) return std::nullopt;
    const Launch& before = *launch_of_.at(node);
    is_whole_launch = is_whole_launch || before.all_or_nothing;
    was_with_another = was_with_another || (before.all_or_nothing && before.job != job.id);
    is_first = is_first || &before == first_failed_;
    launch.nodes.push_back(node);
  }
  if (!is_whole_launch || launch.nodes.size() >= smallest_failed_) return std::nullopt;
  if (!was_with_another && (hands_over_ || is_first)) return std::nullopt;
  launch.job = job.id;
  launch.all_or_nothing = launch.nodes.size() > 1;
  return launch;
}

/// Whether a job that is to be kept whole has the node, and lacks another.
bool SecondTries::is_in_vain(const NodeName& node) const {
  return std::ranges::any_of(jobs_, [&](const ResumeJob& job) {
    return std::ranges::find(job.nodes, node) != job.nodes.end() &&
           std::ranges::any_of(
               job.nodes, [&](const NodeName& other) { return lacks(other) && launch_of_.at(other)->all_or_nothing; });
  });
}

std::optional<Launch> SecondTries::rest() {
  Launch launch;
  for (const auto& before : launches_) {
    if (before.all_or_nothing) continue;
    for (const auto& node : before.nodes)
      if (lacks(node) && is_want(outcomes_.at(node)) && !is_in_vain(node)) launch.nodes.push_back(node);
  }
  if (launch.nodes.empty() || smallest_failed_ <= 1) return std::nullopt;
  return launch;
}

void SecondTries::tried(const Launch& launch, std::span<const NodeOutcome> outcomes) {
  for (const auto& outcome : outcomes) outcomes_.insert_or_assign(outcome.node, outcome.outcome);
  if (std::ranges::any_of(launch.nodes, [&](const NodeName& node) { return lacks(node); }))
    smallest_failed_ = std::min(smallest_failed_, launch.nodes.size());
}

std::vector<NodeName> nodes_in_vain(std::span<const ResumeJob> jobs, std::span<const NodeFate> fates) {
  std::unordered_map<std::string_view, const NodeFate*> by_name;
  for (const auto& fate : fates) by_name.emplace(fate.node, &fate);
  const auto lacks = [&](const NodeName& node) {
    const auto fate = by_name.find(node);
    return fate != by_name.end() && !fate->second->has_machine;
  };
  std::unordered_set<std::string_view> of_failed, needed;
  for (const auto& job : jobs) {
    auto& nodes = std::ranges::any_of(job.nodes, lacks) ? of_failed : needed;
    nodes.insert(job.nodes.begin(), job.nodes.end());
  }
  std::vector<NodeName> vain;
  for (const auto& fate : fates) {
    if (fate.has_machine && fate.whole_jobs_only && of_failed.contains(fate.node) && !needed.contains(fate.node))
      vain.push_back(fate.node);
  }
  return vain;
}

}  // namespace burst
