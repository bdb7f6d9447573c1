// SPDX-License-Identifier: Apache-2.0
// ResumeProgram: starts a machine for each node of a hostlist.
#include "programs/resume.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/hostlist.h"
#include "burst/text.h"
#include "core/group_memory.h"
#include "core/group_timeouts.h"
#include "core/launch_plan.h"
#include "core/reconcile.h"

namespace burst {
namespace {

constexpr std::chrono::seconds kLockWait{30};

/// Nodes of a group, by what has to be done for them.
struct Work {
  std::vector<NodeOutcome> adopted;  ///< have a young machine: only Slurm is told
  std::vector<Machine> leftovers;    ///< machines whose end has failed: ended before the node gets a new one
  std::vector<NodeName> to_start;
};

/// A machine that is older than ResumeTimeout is what a failed suspend left: its slurmd has booted before this power-up
/// was asked for, and slurmctld would never accept its registration (docs/decisions/0003). One that is queued has not
/// booted, however long ago it was asked for; one that was has a time of its own. A failed one never will.
bool is_leftover(const Machine& machine, std::chrono::sys_seconds now, std::chrono::seconds resume_timeout) {
  if (machine.state == MachineState::queued) return false;
  if (machine.state == MachineState::failed) return true;
  return machine.register_by ? *machine.register_by <= now : machine.created + resume_timeout <= now;
}

/// Of two machines of a node the one that boots already, else the elder.
bool is_better(const Machine& a, const Machine& b) {
  const bool a_waits = a.state == MachineState::queued, b_waits = b.state == MachineState::queued;
  return a_waits == b_waits ? a.created < b.created : b_waits;
}

NodeOutcome adopt(const NodeName& node, const Machine& machine) {
  NodeOutcome outcome{node, Outcome::ready, machine, {}, {}, true};
  // Whatever address a queued one is promised, nothing answers there yet.
  if (machine.state == MachineState::queued) outcome.machine.address.clear();
  if (outcome.machine.address.empty()) outcome.outcome = Outcome::pending;
  return outcome;
}

Work divide(std::span<const NodeName> nodes, std::span<const Machine> machines, std::chrono::sys_seconds now,
            std::chrono::seconds resume_timeout) {
  Work work;
  std::unordered_map<std::string_view, const Machine*> young;
  const std::unordered_set<std::string_view> wanted(nodes.begin(), nodes.end());
  for (const auto& machine : machines) {
    if (!machine.node || !wanted.contains(*machine.node) || machine.state == MachineState::stopping) continue;
    if (is_leftover(machine, now, resume_timeout)) {
      work.leftovers.push_back(machine);
    } else {
      const Machine*& kept = young[*machine.node];
      if (kept == nullptr || is_better(machine, *kept)) kept = &machine;
    }
  }
  // Beside a machine that is adopted it is change_state's to end (M7).
  std::erase_if(work.leftovers, [&](const Machine& machine) {
    return machine.state == MachineState::failed && young.contains(*machine.node);
  });
  for (const auto& node : nodes) {
    const auto machine = young.find(node);
    if (machine == young.end()) {
      work.to_start.push_back(node);
    } else {
      work.adopted.push_back(adopt(node, *machine->second));
    }
  }
  return work;
}

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
  GroupResume(const GroupNodes& part, const std::optional<std::vector<ResumeJob>>& jobs, Suite& suite)
      : part_(part), jobs_(jobs), suite_(suite), log_(suite.services.log) {}

  /// Returns whether every node has, or will have, its machine.
  bool run() {
    const auto fault = fault_of([&] { start_under_lock(); });
    if (busy_) return false;
    if (fault) refuse_the_rest(*fault);
    bool complete = report(outcomes_) && !fault;
    refuse(outcomes_);
    if (provider_) complete = finish_naming(*part_.group, *provider_, log_) && complete;
    return complete && slurm_knows_;
  }

  void print_plan() {
    const auto provider = suite_.provider(*part_.group);
    const auto machines = provider->list();
    const Work work = divide(part_.nodes, machines, now(), resume_timeout());
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
  const std::optional<std::vector<ResumeJob>>& jobs_;
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
    auto launches = plan_launches(nodes, part_.group->strategy, jobs_, needs.by_job);
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
    Work work = divide(part_.nodes, provider_->list(), now(), resume_timeout());
    outcomes_ = end_leftovers(work);
    if (!work.adopted.empty()) tell_addresses(work.adopted);
    outcomes_.insert(outcomes_.end(), work.adopted.begin(), work.adopted.end());
    if (work.to_start.empty()) return;

    const auto launches = plan(work.to_start, provider_->launch_needs());
    if (provider_->claim(launches)) lock.reset();  // other nodes of the group need not wait for these
    const auto started =
        provider_->start(launches, [this](std::span<const NodeOutcome> ready) { tell_addresses(ready); });
    outcomes_.insert(outcomes_.end(), started.begin(), started.end());
    remember(started, std::move(lock));
  }

  /// A node whose leftover can't be ended gets no second machine, and keeps no second one either.
  std::vector<NodeOutcome> end_leftovers(Work& work) {
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
    exhausted_ = wanting != outcomes.end();
    const std::string key = part_.group->key();
    try {
      if (!lock) lock = suite_.state.lock_group(key, kLockWait);
      if (!lock) throw Error("Busy", "the launch's end could not be remembered");
      const GroupMemory before = parse_group_memory(suite_.state.read_memory(key));
      memory_ = before;
      if (exhausted_) {
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
      if (outcome.outcome == Outcome::ready || outcome.outcome == Outcome::pending) continue;
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

/// The file is an improvement only: without it, or with a broken one, the argument says which nodes.
std::optional<std::vector<ResumeJob>> read_jobs(const std::string& text, Log& log) {
  if (text.empty()) return std::nullopt;
  try {
    return parse_resume_file(text);
  } catch (const Error& error) {
    log.warning(fmt::format("{}; going on with the hostlist alone", error.what()));
    return std::nullopt;
  }
}

}  // namespace

int resume(const ResumeRequest& request, Suite& suite) {
  Log& log = suite.services.log;
  log.info("Hostlist: " + request.hostlist);
  const auto jobs = read_jobs(request.resume_file, log);
  const GroupedNodes grouped = group_nodes(expand_hostlist(request.hostlist), suite.config, log);
  std::atomic<bool> complete{grouped.complete};
  if (request.dry_run) {
    for (const auto& part : grouped.groups) {
      if (fault_of(*part.group, log, [&] { GroupResume(part, jobs, suite).print_plan(); })) complete = false;
    }
    return complete ? kDone : kFailed;
  }
  run_side_by_side(grouped.groups.size(), [&](std::size_t i) {
    if (!GroupResume(grouped.groups[i], jobs, suite).run()) complete = false;
  });
  return complete ? kDone : kFailed;
}

}  // namespace burst
