// SPDX-License-Identifier: Apache-2.0
// What has to be done for each node of a resume, by the machines that there are.
#include "programs/resume_work.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace burst {
namespace {

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

}  // namespace

ResumeWork divide(std::span<const NodeName> nodes, std::span<const Machine> machines, std::chrono::sys_seconds now,
                  std::chrono::seconds resume_timeout) {
  ResumeWork work;
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

}  // namespace burst
