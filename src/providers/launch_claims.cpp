// SPDX-License-Identifier: Apache-2.0
// Nodes whose launch is under way, known to all processes that share StateDir: so a launch needs no lock.
#include "providers/launch_claims.h"

#include <charconv>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"

namespace burst {
namespace {

/// `claim_SECONDS_RANDOM`; a machine of it is `claim_SECONDS_RANDOM/NODE`. No machine of a provider's is called so: the
/// names of zones, instance groups and pods know no `_`.
constexpr std::string_view kPrefix = "claim_";

std::chrono::sys_seconds time_in(std::string_view id) {
  long seconds = 0;
  id.remove_prefix(kPrefix.size());
  std::from_chars(id.data(), id.data() + id.size(), seconds);
  return std::chrono::sys_seconds{std::chrono::seconds{seconds}};
}

}  // namespace

bool is_claim_id(const std::string& machine_id) { return machine_id.starts_with(kPrefix); }

LaunchClaims::LaunchClaims(LaunchJournal& journal, std::string group_key)
    : journal_(journal), group_key_(std::move(group_key)) {}

void LaunchClaims::claim(std::span<const Launch> launches, std::chrono::sys_seconds now, Random& random) {
  journal_.forget_dead(group_key_, {});
  const std::string id = fmt::format("{}{}_{:016x}", kPrefix, now.time_since_epoch().count(), random.next());
  Assignments nodes;
  for (const auto& launch : launches)
    for (const auto& node : launch.nodes) nodes.emplace(fmt::format("{}/{}", id, node), node);
  record_ = journal_.begin(group_key_, id);
  record_->assign(nodes);
}

void LaunchClaims::finish() {
  if (record_) record_->finished();
  record_.reset();
}

std::vector<Claim> LaunchClaims::running() const {
  std::map<std::string, Claim> by_id;
  for (const auto& [machine, node] : journal_.assignments(group_key_)) {
    if (!is_claim_id(machine)) continue;
    const std::string id = machine.substr(0, machine.find('/'));
    Claim& claim = by_id[id];
    claim.id = id;
    claim.nodes.push_back(node);
  }
  std::vector<Claim> claims;
  for (auto& [id, claim] : by_id) {
    if (!journal_.running(group_key_, id)) continue;
    claim.since = time_in(id);
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::vector<Claim> LaunchClaims::running_or_none(Log& log) const {
  try {
    return running();
  } catch (const Error& error) {
    log.error(fmt::format("{}: {}", group_key_, error.what()));
    return {};
  }
}

NodeOutcome still_starting(const Machine& machine) {
  return {machine.node.value_or(""), Outcome::pending, machine, "StillStarting",
          "its launch is under way: the machine is ended when it has come"};
}

void add_claimed_machines(const std::vector<Claim>& claims, std::vector<Machine>& machines) {
  if (claims.empty()) return;
  std::unordered_set<NodeName> served;
  for (auto& machine : machines) {
    const bool ends = machine.state == MachineState::stopping || machine.state == MachineState::failed;
    if (machine.node && !ends) served.insert(*machine.node);
    // Its description need not name all its nodes: for the short while it belongs to whoever launches.
    if (!machine.node && machine.state == MachineState::queued) machine.launch = claims.front().id;
  }
  for (const auto& claim : claims) {
    for (const auto& node : claim.nodes) {
      if (!served.insert(node).second) continue;
      Machine machine;
      machine.id = fmt::format("{}/{}", claim.id, node);
      machine.node = node;
      machine.launch = claim.id;
      machine.created = claim.since;
      machine.detail = "its launch is under way";
      machines.push_back(std::move(machine));
    }
  }
}

}  // namespace burst
