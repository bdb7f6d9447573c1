// SPDX-License-Identifier: Apache-2.0
// The resume of one node group: what is adopted, ended, started and refused.
#include "programs/group_resume.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/hostlist.h"
#include "burst/text.h"
#include "core/group_memory.h"
#include "core/group_timeouts.h"
#include "core/launch_plan.h"
#include "core/reconcile.h"
#include "programs/resume_work.h"

namespace burst {
namespace {

constexpr std::chrono::seconds kLockWait{30};
/// So long a second try waits for what the first one gave back.
constexpr std::chrono::seconds kReturnPatience{30}, kLongestPause{4};

/// ` - CODE: message`, of what is known.
std::string why_pending(const NodeOutcome& outcome) {
  std::string why = outcome.code;
  const std::string& words = outcome.message.empty() ? outcome.machine.detail : outcome.message;
  if (!words.empty()) why += (why.empty() ? "" : ": ") + one_line(words);
  return why.empty() ? "" : " - " + why;
}

/// The resume of one group.
class GroupResume {
 public:
  GroupResume(const GroupNodes& part, const std::optional<CallJobs>& jobs, Suite& suite)
      : part_(part), jobs_(jobs), suite_(suite), log_(suite.services.log) {}

  bool run(const OutcomesSink& decided) {
    const auto fault = fault_of([&] { start_under_lock(); });
    if (fault) refuse_the_rest(*fault);
    decided(outcomes_);
    if (busy_) return false;
    bool complete = report(outcomes_) && !fault;
    refuse(outcomes_);
    if (provider_) complete = finish_naming(*part_.group, *provider_, log_) && complete;
    return complete && slurm_knows_;
  }

  void print_plan() {
    const auto provider = suite_.provider(*part_.group);
    const auto machines = provider->list();
    const ResumeWork work = divide(part_.nodes, machines, now(), resume_timeout());
    for (const auto& outcome : work.adopted)
      suite_.out << fmt::format("{}: has machine {}, would adopt it\n", outcome.node, outcome.machine.id);
    for (const auto& machine : work.leftovers)
      suite_.out << fmt::format("{}: would end leftover machine {}\n", *machine.node, machine.id);
    for (const auto& launch : plan(work.to_start, provider->launch_needs())) {
      suite_.out << fmt::format("{}: would start {} machine{} for {}{}{}\n", part_.group->key(), launch.nodes.size(),
                                launch.nodes.size() == 1 ? "" : "s", fold_hostlist(launch.nodes),
                                launch.job ? fmt::format(", job {}", *launch.job) : "",
                                launch.all_or_nothing ? ", all or nothing" : "");
    }
  }

 private:
  const GroupNodes& part_;
  const std::optional<CallJobs>& jobs_;
  Suite& suite_;
  Log& log_;
  std::unique_ptr<Provider> provider_;
  std::vector<NodeOutcome> outcomes_;
  std::unordered_set<NodeName> told_;  ///< nodes whose machines run, Slurm has been given their addresses
  GroupMemory memory_;
  bool busy_ = false;
  bool slurm_knows_ = true;  ///< every update of Slurm went through
  bool exhausted_ = false;   ///< no capacity or no quota

  std::chrono::seconds resume_timeout() const {
    return group_timeouts(suite_.config, *part_.group, suite_.slurm_conf).resume;
  }
  std::chrono::sys_seconds now() const { return std::chrono::floor<std::chrono::seconds>(suite_.services.clock.now()); }

  std::vector<Launch> plan(std::span<const NodeName> nodes, const LaunchNeeds& needs) {
    std::optional<std::vector<ResumeJob>> jobs;
    if (jobs_) jobs = needs.by_job ? jobs_->each : jobs_->whole;
    auto launches = plan_launches(nodes, part_.group->strategy, jobs, needs.by_job);
    const bool has_jobs = std::ranges::any_of(launches, [](const Launch& launch) { return launch.job.has_value(); });
    if (needs.job_time_limit && has_jobs) add_time_limits(launches);
    return launches;
  }

  /// Without them the provider takes the longest time that it may.
  void add_time_limits(std::span<Launch> launches) {
    std::map<JobId, std::optional<std::chrono::seconds>> limits;
    try {
      for (const auto& job : suite_.slurm.jobs()) limits[job.id] = job.time_limit;
    } catch (const Error& error) {
      log_.warning(fmt::format("{}: reading the jobs' time limits: {}", part_.group->key(), error.what()));
    }
    for (auto& launch : launches) {
      if (const auto limit = launch.job ? limits.find(*launch.job) : limits.end(); limit != limits.end())
        launch.job_time_limit = limit->second;
    }
  }

  void start_under_lock() {
    const std::string key = part_.group->key();
    auto lock = suite_.state.lock_group(key, kLockWait);
    if (!lock) {
      log_.error(
          fmt::format("{}: another program works on this node group since {} s; change_state will mend what is "
                      "left",
                      key, kLockWait.count()));
      busy_ = true;
      return;
    }
    provider_ = suite_.provider(*part_.group);
    ResumeWork work = divide(part_.nodes, provider_->list(), now(), resume_timeout());
    outcomes_ = end_leftovers(work);
    adopt(work.adopted);
    refuse_while_closed(work);
    if (work.to_start.empty()) return;

    const LaunchNeeds needs = provider_->launch_needs();
    const auto launches = plan(work.to_start, needs);
    auto started = launch(launches, lock);
    if (jobs_ && part_.group->strategy == LaunchStrategy::all_or_nothing && !needs.by_job)
      try_again(launches, started, needs, lock);
    outcomes_.insert(outcomes_.end(), started.begin(), started.end());
    remember(started, std::move(lock));
  }

  void adopt(std::span<const NodeOutcome> adopted) {
    if (!adopted.empty()) tell_addresses(adopted);
    outcomes_.insert(outcomes_.end(), adopted.begin(), adopted.end());
  }

  /// Nodes that Slurm chose just before the group was closed. One that is of no job is powered up by hand: that is
  /// someone's will.
  void refuse_while_closed(ResumeWork& work) {
    // Without a memory nothing is known of a cool-down; remember() says so.
    if (fault_of([&] { memory_ = parse_group_memory(suite_.state.read_memory(part_.group->key())); })) return;
    if (!is_closed(memory_, now())) return;
    std::unordered_set<std::string_view> of_jobs;
    if (jobs_)
      for (const auto& job : jobs_->each) of_jobs.insert(job.nodes.begin(), job.nodes.end());
    const auto is_refused = [&](const NodeName& node) { return !jobs_ || of_jobs.contains(node); };
    for (const auto& node : work.to_start) {
      if (!is_refused(node)) continue;
      outcomes_.push_back({node, Outcome::no_capacity, {}, memory_.cool_down->code, memory_.cool_down->message});
      exhausted_ = true;
    }
    std::erase_if(work.to_start, is_refused);
  }

  /// The lock goes where the provider does not need it: other nodes of the group need not wait for these.
  std::vector<NodeOutcome> launch(std::span<const Launch> launches, std::unique_ptr<StateLock>& lock) {
    if (provider_->claim(launches)) lock.reset();
    return provider_->start(launches, [this](std::span<const NodeOutcome> ready) { tell_addresses(ready); });
  }

  /// What launches gave back is offered to others of this call. A failure costs no more than that.
  void try_again(std::span<const Launch> launches, std::vector<NodeOutcome>& started, const LaunchNeeds& needs,
                 std::unique_ptr<StateLock>& lock) {
    SecondTries tries(launches, started, jobs_->whole, needs.hands_over);
    bool is_first = true;
    fault_of(*part_.group, log_, [&] {
      while (const auto next = tries.next()) {
        if (!needs.hands_over && std::exchange(is_first, false) && !await_return(started)) return;
        if (!lock && !is_still_free(next->nodes, lock)) return;
        log_.info(fmt::format("{}: trying {} again: other nodes of this call have given back what they got",
                              part_.group->key(), fold_hostlist(next->nodes)));
        const auto outcomes = launch({&*next, 1}, lock);
        tries.tried(*next, outcomes);
        for (const auto& outcome : outcomes) {
          const auto before = std::ranges::find(started, outcome.node, &NodeOutcome::node);
          if (before != started.end()) *before = outcome;
        }
      }
    });
  }

  /// Machines that bear names take room until they are gone, and names are taken until then.
  bool await_return(std::span<const NodeOutcome> started) {
    std::unordered_set<std::string_view> refused;
    for (const auto& outcome : started)
      if (outcome.machine.id.empty()) refused.insert(outcome.node);
    Clock& clock = suite_.services.clock;
    const auto end = clock.steady_now() + kReturnPatience;
    for (std::chrono::milliseconds pause{250};; pause = std::min<std::chrono::milliseconds>(pause * 2, kLongestPause)) {
      const auto machines = provider_->list();
      const bool is_clear = std::ranges::none_of(machines, [&](const Machine& machine) {
        return machine.node && machine.state == MachineState::stopping && refused.contains(*machine.node);
      });
      if (is_clear) return true;
      if (clock.steady_now() + pause > end) return false;
      clock.sleep_for(pause);
    }
  }

  /// Takes the lock again; false when meanwhile someone else has started one of the nodes, or is about to.
  bool is_still_free(std::span<const NodeName> nodes, std::unique_ptr<StateLock>& lock) {
    lock = suite_.state.lock_group(part_.group->key(), kLockWait);
    if (!lock) return false;
    const auto machines = provider_->list();
    return std::ranges::none_of(machines, [&](const Machine& machine) {
      return machine.node && std::ranges::find(nodes, *machine.node) != nodes.end();
    });
  }

  /// A node whose leftover can't be ended gets no second machine, and keeps no second one either.
  std::vector<NodeOutcome> end_leftovers(ResumeWork& work) {
    std::vector<NodeOutcome> failed;
    if (work.leftovers.empty()) return failed;
    for (auto& outcome : provider_->stop_machines(work.leftovers)) {
      if (outcome.outcome == Outcome::ready) {
        const bool failed_itself = std::ranges::any_of(work.leftovers, [&](const Machine& machine) {
          return machine.id == outcome.machine.id && machine.state == MachineState::failed;
        });
        log_.warning(fmt::format("Terminated instance {} {}: {}", outcome.node, outcome.machine.id,
                                 failed_itself ? "it had failed" : "it was left by an earlier suspend"));
      } else {
        // One that ends later keeps the node's place until then: none can be started beside it.
        if (outcome.outcome == Outcome::pending) outcome.outcome = Outcome::rejected;
        if (outcome.code.empty()) outcome.code = "MachineEnding";
        std::erase(work.to_start, outcome.node);
        std::erase_if(work.adopted, [&](const NodeOutcome& adopted) { return adopted.node == outcome.node; });
        if (std::none_of(failed.begin(), failed.end(), [&](const auto& other) { return other.node == outcome.node; }))
          failed.push_back(std::move(outcome));
      }
    }
    return failed;
  }

  /// A failure here is mended by change_state (row N2): the machine runs and is known.
  void tell_addresses(std::span<const NodeOutcome> outcomes) {
    std::vector<NodeAddress> addresses;
    for (const auto& outcome : outcomes) {
      if (!outcome.machine.address.empty())
        addresses.push_back({outcome.node, outcome.machine.address, outcome.machine.hostname});
    }
    try {
      if (!addresses.empty()) suite_.slurm.set_addresses(addresses);
    } catch (const Error& error) {
      slurm_knows_ = false;
      log_.error(fmt::format("Failed to update node addresses of {}: {}", part_.group->key(), error.what()));
    }
    for (const auto& outcome : outcomes) {
      told_.insert(outcome.node);
      log_.info(fmt::format("{} node {} {} {}", outcome.adopted ? "Adopted" : "Launched", outcome.node,
                            outcome.machine.id, outcome.machine.address));
    }
  }

  /// Capacity and quota are remembered, so that the scheduler is led to other groups for a while. The machines run by
  /// now: a memory that can't be kept is an error line, and no more.
  void remember(std::span<const NodeOutcome> outcomes, std::unique_ptr<StateLock> lock) {
    const auto wanting = std::find_if(outcomes.begin(), outcomes.end(), [](const NodeOutcome& outcome) {
      return outcome.outcome == Outcome::no_capacity || outcome.outcome == Outcome::over_quota;
    });
    const bool any_ready = std::any_of(outcomes.begin(), outcomes.end(),
                                       [](const NodeOutcome& outcome) { return outcome.outcome == Outcome::ready; });
    const bool is_short = wanting != outcomes.end();
    exhausted_ = exhausted_ || is_short;
    const std::string key = part_.group->key();
    try {
      if (!lock) lock = suite_.state.lock_group(key, kLockWait);
      if (!lock) throw Error("Busy", "the launch's end could not be remembered");
      const GroupMemory before = parse_group_memory(suite_.state.read_memory(key));
      memory_ = before;
      if (is_short) {
        record_refusal(memory_, wanting->code, one_line(wanting->message), now(), suite_.config.timing);
      } else if (any_ready) {
        record_success(memory_);
      }
      if (memory_ != before) suite_.state.write_memory(key, to_json(memory_));
    } catch (const Error& error) {
      log_.error(fmt::format("{}: {}", key, error.what()));
    }
  }

  /// What was adopted or started before the fault runs and is known: it stays. The fault is told with the nodes that it
  /// costs, once; where it costs none, by itself.
  void refuse_the_rest(const Fault& fault) {
    std::unordered_set<NodeName> done = told_;
    for (const auto& outcome : outcomes_) done.insert(outcome.node);
    const std::size_t before = outcomes_.size();
    for (const auto& node : part_.nodes) {
      if (!done.contains(node)) outcomes_.push_back({node, Outcome::rejected, {}, fault.code, fault.message});
    }
    if (outcomes_.size() == before)
      log_.error(fmt::format("{}: {}: {}", part_.group->key(), fault.code, fault.message));
  }

  bool report(std::span<const NodeOutcome> outcomes) {
    std::size_t failed = 0;
    for (const auto& outcome : outcomes) {
      if (outcome.outcome == Outcome::pending) {
        log_.info(fmt::format("Node {} {} is pending{}", outcome.node, outcome.machine.id, why_pending(outcome)));
      } else if (outcome.outcome != Outcome::ready) {
        ++failed;
      }
    }
    if (failed > 0) log_.info(fmt::format("Failed to launch {} nodes", failed));  // refuse() says which and why
    return failed == 0;
  }

  /// One update a code: the jobs are requeued at once, and the reason says why.
  void refuse(std::span<const NodeOutcome> outcomes) {
    std::map<std::string, std::pair<std::string, std::vector<NodeName>>> by_code;
    for (const auto& outcome : outcomes) {
      if (has_machine(outcome.outcome)) continue;
      auto& entry = by_code[outcome.code];
      if (entry.second.empty()) entry.first = outcome.message;
      entry.second.push_back(outcome.node);
    }
    for (const auto& entry : by_code) {
      constexpr std::size_t logged = 2000;  // Slurm gets less of it: set_state() cuts
      const std::string& message = entry.second.first;
      const std::vector<NodeName>& nodes = entry.second.second;
      const std::string reason = one_line(fmt::format("burst:{} {}", entry.first, message), logged);
      log_.error(fmt::format("Failed to launch nodes for partition={} and nodegroup={} - {}: {}",
                             part_.group->partition, part_.group->name, fold_hostlist(nodes), reason));
      fault_of(*part_.group, log_, [&] { suite_.slurm.set_state(nodes, StateChange::power_down_force, reason); });
    }
    if (exhausted_) fault_of(*part_.group, log_, [&] { close_group_now(); });
  }

  void close_group_now() {
    const auto nodes = suite_.slurm.nodes(expand_hostlist(part_.group->node_range()));
    apply_actions(close_group(nodes, memory_, now()), *provider_, suite_);
  }
};

}  // namespace

bool resume_group(const GroupNodes& part, const std::optional<CallJobs>& jobs, Suite& suite,
                  const OutcomesSink& decided) {
  return GroupResume(part, jobs, suite).run(decided);
}

void print_group_plan(const GroupNodes& part, const std::optional<CallJobs>& jobs, Suite& suite) {
  GroupResume(part, jobs, suite).print_plan();
}

}  // namespace burst
