// SPDX-License-Identifier: Apache-2.0
// ResumeProgram: starts a machine for each node of a hostlist.
#include "programs/resume.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/hostlist.h"
#include "core/whole_jobs.h"
#include "programs/group_resume.h"

namespace burst {
namespace {

constexpr const char* kNotWhole = "burst:JobNotWhole another node of its job got no machine";

bool is_all_or_nothing(const GroupNodes& part) { return part.group->strategy == LaunchStrategy::all_or_nothing; }

/// The file is an improvement only: without it, or with a broken one, the argument says which nodes.
std::optional<std::vector<ResumeJob>> read_file(const std::string& text, Log& log) {
  if (text.empty()) return std::nullopt;
  try {
    return parse_resume_file(text);
  } catch (const Error& error) {
    log.warning(fmt::format("{}; going on with the hostlist alone", error.what()));
    return std::nullopt;
  }
}

/// Where jobs are to be kept whole the queue says which components are of one job, and which jobs there are where no
/// file says it.
std::optional<CallJobs> read_jobs(const ResumeRequest& request, const GroupedNodes& grouped, Suite& suite) {
  Log& log = suite.services.log;
  auto jobs = read_file(request.resume_file, log);
  std::vector<SlurmJob> queue;
  if (std::ranges::any_of(grouped.groups, is_all_or_nothing) && (!jobs || jobs->size() > 1)) {
    try {
      queue = suite.slurm.jobs();
    } catch (const Error& error) {
      log.warning(fmt::format("reading the queue: {}; what it says of the jobs is not regarded", error.what()));
    }
  }
  if (!jobs) {
    jobs = waiting_jobs(queue, expand_hostlist(request.hostlist));
    if (jobs->empty()) return std::nullopt;
  }
  return jobs_of_call(std::move(*jobs), queue);
}

/// Takes the groups' outcomes; when the last has come, gives back what serves no job: nodes of all-or-nothing groups
/// whose jobs lack a node elsewhere, in another launch or in another group.
class WholeJobs {
 public:
  WholeJobs(const std::optional<CallJobs>& jobs, std::size_t groups, Suite& suite)
      : jobs_(jobs), left_(groups), suite_(suite) {}

  void take(const GroupNodes& part, std::span<const NodeOutcome> outcomes) {
    if (!jobs_) return;
    const std::lock_guard lock(mutex_);
    for (const auto& outcome : outcomes)
      fates_.push_back({outcome.node, has_machine(outcome.outcome), is_all_or_nothing(part)});
    if (--left_ == 0) give_back();
  }

 private:
  const std::optional<CallJobs>& jobs_;
  std::size_t left_;
  Suite& suite_;
  std::mutex mutex_;
  std::vector<NodeFate> fates_;

  /// Slurm requeues their jobs, if it has not yet, and runs SuspendProgram for them.
  void give_back() {
    auto nodes = nodes_in_vain(jobs_->whole, fates_);
    Log& log = suite_.services.log;
    try {
      if (!nodes.empty()) leave_to_other_jobs(nodes);
      if (nodes.empty()) return;
      log.warning(fmt::format("Giving back {}: {}", fold_hostlist(nodes), kNotWhole));
      suite_.slurm.set_state(nodes, StateChange::power_down_force, kNotWhole);
    } catch (const Error& error) {
      log.error(fmt::format("Failed to give back {}: {}", fold_hostlist(nodes), error.what()));
    }
  }

  /// Once a group that came first has had a job requeued, Slurm may give its other nodes to the next.
  void leave_to_other_jobs(std::vector<NodeName>& nodes) {
    std::unordered_set<JobId> ours;
    for (const auto& job : jobs_->each) ours.insert(job.id);
    for (const auto& job : suite_.slurm.jobs()) {
      if (ours.contains(job.id) || job.state == "COMPLETING" || job.state == "PENDING") continue;
      const std::unordered_set<std::string_view> its(job.nodes.begin(), job.nodes.end());
      std::erase_if(nodes, [&](const NodeName& node) { return its.contains(node); });
    }
  }
};

}  // namespace

int resume(const ResumeRequest& request, Suite& suite) {
  Log& log = suite.services.log;
  log.info("Hostlist: " + request.hostlist);
  const GroupedNodes grouped = group_nodes(expand_hostlist(request.hostlist), suite.config, log);
  const auto jobs = read_jobs(request, grouped, suite);
  std::atomic<bool> complete{grouped.complete};
  if (request.dry_run) {
    for (const auto& part : grouped.groups) {
      if (fault_of(*part.group, log, [&] { print_group_plan(part, jobs, suite); })) complete = false;
    }
    return complete ? kDone : kFailed;
  }
  WholeJobs whole(jobs, grouped.groups.size(), suite);
  run_side_by_side(grouped.groups.size(), [&](std::size_t i) {
    const GroupNodes& part = grouped.groups[i];
    const auto decided = [&](std::span<const NodeOutcome> outcomes) { whole.take(part, outcomes); };
    if (!resume_group(part, jobs, suite, decided)) complete = false;
  });
  return complete ? kDone : kFailed;
}

}  // namespace burst
