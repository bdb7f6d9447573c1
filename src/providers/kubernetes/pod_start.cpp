// SPDX-License-Identifier: Apache-2.0
// Starting machines: a POST a pod, then a short wait for their addresses.
#include "providers/kubernetes/pod_start.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "providers/kubernetes/pod_claimant.h"

namespace burst::kubernetes {
namespace {

using std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

/// No launch waits longer than a program that slurmctld waits for should.
constexpr std::chrono::seconds kLongestNameWait{90};

class PodStart {
 public:
  PodStart(const GroupContext& context, const PodTemplate& pod_template, std::span<const Launch> launches,
           const StartedSink& started)
      : context_(context), template_(pod_template), launches_(launches), started_(started) {}

  std::vector<NodeOutcome> run(const LeavingPods& leaving) {
    claim_names(leaving);
    create();
    wait();
    finish();
    std::vector<NodeOutcome> outcomes;
    for (auto& claimant : claimants_) outcomes.push_back(std::move(claimant.outcome));
    return outcomes;
  }

 private:
  const GroupContext& context_;
  const PodTemplate& template_;
  std::span<const Launch> launches_;
  const StartedSink& started_;
  std::vector<std::string> launch_ids_;
  std::vector<Claimant> claimants_;

  bool is_whole(const Claimant& claimant) const { return launches_[claimant.launch].all_or_nothing; }

  void claim_names(const LeavingPods& leaving) {
    for (std::size_t launch = 0; launch < launches_.size(); ++launch) {
      launch_ids_.push_back(fmt::format("sb-{:016x}", context_.random.next()));
      for (const auto& node : launches_[launch].nodes) {
        Claimant claimant;
        claimant.launch = launch;
        claimant.outcome.node = node;
        if (const auto found = leaving.find(node); found != leaving.end()) {
          claimant.state = Claimant::State::waits_for_name;
          claimant.uid = found->second;
        }
        claimants_.push_back(std::move(claimant));
      }
    }
  }

  std::vector<Claimant*> in_state(Claimant::State state) {
    std::vector<Claimant*> some;
    for (auto& claimant : claimants_)
      if (claimant.state == state) some.push_back(&claimant);
    return some;
  }

  bool any(Claimant::State state) const {
    return std::ranges::any_of(claimants_, [&](const Claimant& claimant) { return claimant.state == state; });
  }

  /// Until nothing can be sent at once: each node has its pod, waits for its name, or is refused.
  void create() {
    while (any(Claimant::State::to_create)) {
      post();
      look_at_taken_names();
      end_replaced();
      give_back_incomplete();
    }
  }

  void post() {
    const auto wanting = in_state(Claimant::State::to_create);
    std::vector<ApiCall> calls;
    calls.reserve(wanting.size());
    for (const auto* claimant : wanting) {
      const NodeName& node = claimant->outcome.node;
      calls.push_back({"POST", context_.api.pods_path() + "?fieldManager=slurm-burst&fieldValidation=Strict",
                       template_.body(node, launch_ids_[claimant->launch], launches_[claimant->launch].job),
                       "pod " + node, kMetadataForm});
    }
    const auto results = send_until_hopeless(context_.api, calls);
    for (std::size_t i = 0; i < wanting.size(); ++i) wanting[i]->posted(results[i], context_);
  }

  void look_at_taken_names() {
    const auto blocked = in_state(Claimant::State::name_taken);
    std::vector<ApiCall> calls;
    for (const auto* claimant : blocked)
      calls.push_back({"GET", context_.api.pods_path(claimant->outcome.node), {}, "pod " + claimant->outcome.node});
    const auto results = context_.api.send(calls);
    for (std::size_t i = 0; i < blocked.size(); ++i)
      blocked[i]->found(results[i], context_, launch_ids_[blocked[i]->launch], template_.hash());
  }

  void end_replaced() {
    const auto blocked = in_state(Claimant::State::to_replace);
    std::vector<PodId> doomed;
    for (const auto* claimant : blocked) doomed.push_back({claimant->outcome.node, claimant->uid});
    const auto failed = delete_pods(context_, doomed);
    for (auto* claimant : blocked) {
      claimant->state = Claimant::State::waits_for_name;
      const auto error = failed.find(machine_id({claimant->outcome.node, claimant->uid}));
      if (error != failed.end()) claimant->refuse(error->second);
    }
  }

  /// Of a launch that is to be kept whole and is not, nothing is kept; its nodes all bear the reason of the first.
  void give_back_incomplete() {
    std::unordered_map<std::size_t, const Claimant*> broken;
    for (const auto& claimant : claimants_)
      if (is_whole(claimant) && claimant.state == Claimant::State::refused) broken.emplace(claimant.launch, &claimant);
    if (broken.empty()) return;
    std::vector<Claimant*> given_back;
    for (auto& claimant : claimants_) {
      const auto why = broken.find(claimant.launch);
      if (why == broken.end() || claimant.state == Claimant::State::refused) continue;
      given_back.push_back(&claimant);
    }
    std::vector<Claimant*> alive;
    for (auto* claimant : given_back)
      if (claimant->state == Claimant::State::has_pod || claimant->state == Claimant::State::has_address)
        alive.push_back(claimant);
    end_pods(alive);
    for (auto* claimant : given_back) {
      const NodeOutcome& first = broken.at(claimant->launch)->outcome;
      claimant->refuse({first.outcome, first.code, first.message});
    }
  }

  /// A failure here leaves pods to change_state, which finds them without a node that wants them.
  void end_pods(const std::vector<Claimant*>& doomed) {
    std::vector<PodId> pods;
    for (const auto* claimant : doomed) {
      if (claimant->uid.empty()) continue;
      pods.push_back({claimant->outcome.node, claimant->uid});
    }
    for (const auto& [id, error] : delete_pods(context_, pods))
      context_.log.error(
          fmt::format("{}: ending pod {}: {}: {}", context_.identity.key(), id, error.code, error.message));
  }

  void wait() {
    const TimePoint begin = context_.clock.steady_now();
    const TimePoint names_end = begin + std::min(context_.settings.grace_period + kRemoval, kLongestNameWait);
    TimePoint addresses_end = begin + context_.settings.address_wait;
    milliseconds pause{200};
    if (any(Claimant::State::waits_for_name))
      context_.log.debug(fmt::format("{}: waiting for pods that are being deleted", context_.identity.key()));
    for (;;) {
      const bool wants_names = any(Claimant::State::waits_for_name);
      const TimePoint end = wants_names ? std::max(names_end, addresses_end) : addresses_end;
      const TimePoint now = context_.clock.steady_now();
      if (now >= end || !(wants_names || any(Claimant::State::has_pod))) break;
      if (!look()) break;
      if (any(Claimant::State::to_create)) {
        create();
        addresses_end = context_.clock.steady_now() + context_.settings.address_wait;
      }
      if (wants_names && context_.clock.steady_now() + pause > names_end) refuse_names();
      if (!any(Claimant::State::waits_for_name) && !any(Claimant::State::has_pod)) break;
      if (context_.clock.steady_now() + pause > end) break;
      context_.clock.sleep_for(pause);
      pause = std::min<milliseconds>(pause * 3 / 2, std::chrono::seconds{1});
    }
    refuse_names();
  }

  /// One list, of no more than is looked for. False when the program has no time left for another one.
  bool look() {
    std::set<std::string> launches;
    bool all = false;
    for (const auto& claimant : claimants_) {
      all = all || claimant.state == Claimant::State::waits_for_name || claimant.outcome.adopted;
      if (claimant.state == Claimant::State::has_pod) launches.insert(launch_ids_[claimant.launch]);
    }
    std::vector<Pod> pods;
    try {
      pods = read_pods(context_,
                       all ? std::vector<std::string>{} : std::vector<std::string>(launches.begin(), launches.end()));
    } catch (const Error& error) {
      // The pods are there: they keep their nodes, and the next look, or change_state, learns their addresses.
      context_.log.error(fmt::format("{}: {}: {}", context_.identity.key(), error.code(), error.what()));
      return error.code() != kNotSent;
    }
    std::unordered_map<std::string_view, const Pod*> by_name;
    for (const auto& pod : pods) by_name.emplace(pod.name, &pod);
    std::vector<Claimant*> hopeless;
    for (auto& claimant : claimants_) {
      const auto found = by_name.find(claimant.outcome.node);
      const Pod* pod = found == by_name.end() ? nullptr : found->second;
      if (claimant.seen(pod, context_)) hopeless.push_back(&claimant);
    }
    end_pods(hopeless);
    give_back_incomplete();
    tell();
    return true;
  }

  /// Nodes with an address are told at once; those of a launch that is to be kept whole when all have one.
  void tell() {
    std::set<std::size_t> incomplete;
    for (const auto& claimant : claimants_)
      if (is_whole(claimant) && claimant.is_open() && claimant.state != Claimant::State::has_address)
        incomplete.insert(claimant.launch);
    tell_all([&](const Claimant& claimant) { return !incomplete.contains(claimant.launch); });
  }

  template <typename Condition>
  void tell_all(Condition condition) {
    std::vector<NodeOutcome> ready;
    for (auto& claimant : claimants_) {
      if (claimant.state != Claimant::State::has_address || !condition(claimant)) continue;
      claimant.state = Claimant::State::told;
      ready.push_back(claimant.outcome);
    }
    if (!ready.empty()) started_(ready);
  }

  void refuse_names() {
    for (auto* claimant : in_state(Claimant::State::waits_for_name)) {
      claimant->refuse({Outcome::rejected, "PodTerminating",
                        fmt::format("pod {} of before is still being deleted", claimant->outcome.node)});
    }
    give_back_incomplete();
  }

  void finish() {
    for (auto* claimant : in_state(Claimant::State::has_pod)) claimant->leave_pending();
    give_back_incomplete();  // where a pod's existence was in doubt
    tell_all([](const Claimant&) { return true; });
  }
};

}  // namespace

std::vector<NodeOutcome> start_pods(const GroupContext& context, const PodTemplate& pod_template,
                                    std::span<const Launch> launches, const LeavingPods& leaving,
                                    const StartedSink& started) {
  return PodStart(context, pod_template, launches, started).run(leaving);
}

}  // namespace burst::kubernetes
