// SPDX-License-Identifier: Apache-2.0
// The one table of what a pod's status words mean: whether it will ever be a node.
#include "providers/kubernetes/pod_failure.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace burst::kubernetes {
namespace {

using std::chrono::seconds;

/// A pull that fails is tried again after 10 s and after 20 s more, and the first one on a new machine may well be too
/// early: no network yet, no credential from the cloud's helper yet. The third failure is one.
constexpr seconds kPullGrace{30};
constexpr int kCrashes = 3;

/// A container's waiting reason that does not go away by itself.
struct WaitingReason {
  std::string_view reason;
  seconds grace;  ///< since the pod has a machine
  int restarts;   ///< and no fewer than these
};
constexpr WaitingReason kWaitingReasons[] = {
    {"InvalidImageName", seconds{0}, 0},           {"ErrImageNeverPull", seconds{0}, 0},
    {"CreateContainerConfigError", seconds{0}, 0}, {"CreateContainerError", seconds{0}, 0},
    {"RunContainerError", seconds{0}, 0},          {"ErrImagePull", kPullGrace, 0},
    {"ImagePullBackOff", kPullGrace, 0},           {"ImageInspectError", kPullGrace, 0},
    {"RegistryUnavailable", kPullGrace, 0},        {"CrashLoopBackOff", seconds{0}, kCrashes},
};

/// Reasons of a failed pod that speak of its machine's room: `OutOfcpu`, `OutOfpods`, `OutOfnvidia.com/gpu`.
Outcome outcome_of_reason(std::string_view reason) {
  return reason.starts_with("OutOf") || reason == "UnexpectedAdmissionError" ? Outcome::no_capacity : Outcome::rejected;
}

std::string joined(std::string_view first, std::string_view second) {
  return first.empty() || second.empty() ? fmt::format("{}{}", first, second) : fmt::format("{}; {}", first, second);
}

std::string container_end(const ContainerTrouble& trouble) {
  return trouble.last_end.empty() ? std::string()
                                  : fmt::format("container {}: {}", trouble.container, trouble.last_end);
}

MachineFailure ended(const Pod& pod) {
  const std::string code = !pod.reason.empty() ? pod.reason : "Pod" + pod.phase;
  std::string why = joined(pod.message, container_end(pod.trouble));
  if (why.empty()) why = fmt::format("the pod is {}, nothing says why", pod.phase);
  return {outcome_of_reason(pod.reason), code, std::move(why)};
}

MachineFailure never_scheduled(const Pod& pod) {
  if (pod.unschedulable.empty())
    return {Outcome::rejected, "Unschedulable", "no scheduler has said a word about the pod"};
  return {Outcome::no_capacity, "Unschedulable", pod.unschedulable};
}

}  // namespace

std::optional<MachineFailure> pod_failure(const Pod& pod, const GroupSettings& settings, std::chrono::sys_seconds now) {
  if (pod.deleted) return std::nullopt;
  if (pod.phase == "Failed" || pod.phase == "Succeeded") return ended(pod);
  if (!pod.scheduled) {
    if (pod.created == std::chrono::sys_seconds() || now - pod.created <= settings.unschedulable_timeout)
      return std::nullopt;
    return never_scheduled(pod);
  }
  const ContainerTrouble& trouble = pod.trouble;
  if (pod.slurmd_runs) return std::nullopt;
  const auto* row = std::ranges::find(kWaitingReasons, trouble.reason, &WaitingReason::reason);
  if (row == std::end(kWaitingReasons)) return std::nullopt;
  if (now - *pod.scheduled < row->grace || trouble.restarts < row->restarts) return std::nullopt;
  std::string why = fmt::format("container {}", trouble.container);
  if (row->restarts > 0) {
    why += fmt::format(" has ended {} times: {}", trouble.restarts,
                       trouble.last_end.empty() ? trouble.message : trouble.last_end);
  } else if (!trouble.message.empty()) {
    why += ": " + trouble.message;
  }
  return MachineFailure{Outcome::rejected, trouble.reason, std::move(why)};
}

}  // namespace burst::kubernetes
