// SPDX-License-Identifier: Apache-2.0
// A node that is to get a pod: what has become of it so far.
#include "providers/kubernetes/pod_claimant.h"

#include <fmt/format.h>

#include "burst/error.h"
#include "providers/kubernetes/pod_failure.h"

namespace burst::kubernetes {
namespace {

/// Who loses its name as often as this has a rival.
constexpr int kMostPosts = 4;

/// Why a pod that nobody of ours deleted in this run goes.
MachineFailure deleted_failure(const NodeName& node, const Pod* pod) {
  MachineFailure why{Outcome::rejected, "PodDeleted", fmt::format("pod {} was deleted while it started", node)};
  if (pod == nullptr || pod->reason.empty()) return why;
  why.code = pod->reason;
  if (!pod->message.empty()) why.message += ": " + pod->message;
  return why;
}

}  // namespace

void Claimant::refuse(const MachineFailure& why) {
  state = State::refused;
  outcome.outcome = why.outcome;
  outcome.code = why.code;
  outcome.message = why.message;
  outcome.machine = {};
  outcome.adopted = false;
}

void Claimant::refuse(const ApiError& error) { refuse({outcome_of(error), error.code, error.message}); }

void Claimant::take(const Pod& pod, const GroupContext& context) {
  state = pod.address.empty() ? State::has_pod : State::has_address;
  uid = pod.uid;
  doubt.reset();
  outcome.outcome = Outcome::ready;
  outcome.machine = machine_of(pod, context.settings, context.now());
}

void Claimant::posted(const CallResult& result, const GroupContext& context) {
  ++posts;
  if (result.error) {
    if (result.error->meaning == ErrorMeaning::already_exists && posts <= kMostPosts) {
      state = State::name_taken;
    } else if (result.unknown) {
      state = State::has_pod;
      doubt = result.error;
    } else {
      refuse(*result.error);
    }
    return;
  }
  try {
    take(parse_pod_reply(result.body, context.identity), context);
  } catch (const Error& error) {
    state = State::has_pod;
    doubt = ApiError{ErrorMeaning::refused, error.code(), fmt::format("POST pod {}: {}", outcome.node, error.what())};
  }
}

void Claimant::found(const CallResult& result, const GroupContext& context, const std::string& launch_id,
                     const std::string& template_hash) {
  if (result.error && result.error->meaning == ErrorMeaning::gone) {
    state = State::to_create;
    return;
  }
  if (result.error) return refuse(*result.error);
  try {
    const Pod pod = parse_pod_reply(result.body, context.identity);
    if (!pod.ours) {
      return refuse(
          {Outcome::rejected, "NameConflict",
           fmt::format("pod {} in namespace {} is there already and is not of node group {} of cluster {}",
                       outcome.node, context.api.name_space(), context.identity.key(), context.identity.cluster)});
    }
    uid = pod.uid;
    const bool from_this_launch = pod.launch == launch_id;
    const bool is_good = pod.template_hash == template_hash && !pod_failure(pod, context.settings, context.now());
    if (pod.deleted) {
      state = State::waits_for_name;
    } else if (from_this_launch || is_good) {
      take(pod, context);
      outcome.adopted = !from_this_launch;
    } else {
      state = State::to_replace;
    }
  } catch (const Error& error) {
    refuse({Outcome::rejected, error.code(), fmt::format("GET pod {}: {}", outcome.node, error.what())});
  }
}

bool Claimant::seen(const Pod* pod, const GroupContext& context) {
  if (state == State::waits_for_name) {
    if (pod == nullptr || pod->uid != uid) state = State::to_create;
    return false;
  }
  if (state != State::has_pod) return false;
  if (pod == nullptr && doubt) return false;
  if (pod == nullptr || (!doubt && pod->uid != uid) || pod->deleted) {
    refuse(deleted_failure(outcome.node, pod));
    return false;
  }
  const auto failure = pod_failure(*pod, context.settings, context.now());
  take(*pod, context);
  if (failure) refuse(*failure);
  return failure.has_value();
}

void Claimant::leave_pending() {
  if (doubt) return refuse(*doubt);
  outcome.outcome = Outcome::pending;
  outcome.message = outcome.machine.detail;
  if (outcome.machine.state == MachineState::queued && !outcome.message.empty()) outcome.code = "Unschedulable";
}

}  // namespace burst::kubernetes
