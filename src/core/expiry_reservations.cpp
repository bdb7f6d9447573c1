// SPDX-License-Identifier: Apache-2.0
// Maintenance reservations that keep jobs from nodes whose machines end before the jobs would.
#include "core/expiry_reservations.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace burst {
namespace {

using std::chrono::sys_seconds;

/// The cloud may take some minutes to end a machine; the reservation is dropped when it has.
constexpr std::chrono::minutes kLength{10};

std::string group_prefix(const NodeGroup& group) { return fmt::format("{}{}-", kExpiryPrefix, group.key()); }

/// FNV-1a: the same nodes have the same hash in every run of every build.
std::uint32_t hash_of(std::span<const NodeName> nodes) {
  std::uint32_t hash = 2'166'136'261U;
  for (const auto& node : nodes) {
    for (const char c : node + "\n") hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  }
  return hash;
}

/// Two reservations of different nodes or times never have one name: the new one is there before the old one goes.
SlurmReservation reservation_of(const NodeGroup& group, sys_seconds start, std::vector<NodeName> nodes) {
  std::ranges::sort(nodes);
  SlurmReservation made;
  made.name = fmt::format("{}{}-{:08x}", group_prefix(group), start.time_since_epoch().count() / 60, hash_of(nodes));
  made.nodes = std::move(nodes);
  made.start = start;
  made.end = start + kLength;
  return made;
}

bool is_up_and_expires(const Machine& machine) {
  return (machine.state == MachineState::running || machine.state == MachineState::starting) && machine.node &&
         machine.expires;
}

std::vector<SlurmReservation> wanted_reservations(const GroupView& view) {
  std::unordered_set<std::string_view> known;
  for (const auto& node : view.nodes) known.insert(node.name);
  std::map<NodeName, sys_seconds> expiries;  // of a node with two machines the first that ends
  for (const auto& machine : view.machines) {
    if (!is_up_and_expires(machine) || !known.contains(*machine.node)) continue;
    const auto start = std::chrono::floor<std::chrono::minutes>(*machine.expires);
    const auto [entry, is_new] = expiries.try_emplace(*machine.node, start);
    if (!is_new) entry->second = std::min<sys_seconds>(entry->second, start);
  }
  std::map<sys_seconds, std::vector<NodeName>> by_start;
  for (const auto& [node, start] : expiries) by_start[start].push_back(node);
  std::vector<SlurmReservation> wanted;
  for (auto& [start, nodes] : by_start) wanted.push_back(reservation_of(view.group, start, std::move(nodes)));
  return wanted;
}

Action make_action(std::string_view row, ActionKind kind, SlurmReservation reservation, std::string reason) {
  Action action;
  action.row = row;
  action.kind = kind;
  action.reservation = std::move(reservation);
  action.reason = std::move(reason);
  return action;
}

bool has_name(std::span<const SlurmReservation> reservations, std::string_view name) {
  return std::ranges::find(reservations, name, &SlurmReservation::name) != reservations.end();
}

}  // namespace

std::vector<Action> plan_expiry_reservations(const GroupView& view, std::span<const SlurmReservation> existing,
                                             sys_seconds now) {
  const auto wanted = wanted_reservations(view);
  std::vector<Action> actions;
  for (auto reservation : wanted) {
    if (has_name(existing, reservation.name) || reservation.end <= now) continue;
    reservation.start = std::max(reservation.start, now);  // Slurm refuses one that begins in the past
    actions.push_back(make_action("E1", ActionKind::reserve, std::move(reservation), "their machines end then"));
  }
  for (const auto& reservation : existing) {
    if (!reservation.name.starts_with(group_prefix(view.group)) || has_name(wanted, reservation.name)) continue;
    actions.push_back(
        make_action("E2", ActionKind::unreserve, reservation, "its machines are gone, or end at another time"));
  }
  return actions;
}

void ignore_our_maintenance(std::span<SlurmNode> nodes, std::span<const SlurmReservation> ours, sys_seconds now) {
  std::unordered_set<std::string_view> reserved;
  for (const auto& reservation : ours) {
    if (reservation.start <= now && now < reservation.end)
      reserved.insert(reservation.nodes.begin(), reservation.nodes.end());
  }
  for (auto& node : nodes) {
    if (!reserved.contains(node.name)) continue;
    for (const auto flag : {NodeFlag::maintenance, NodeFlag::reserved})
      node.state.flags &= ~(1U << static_cast<unsigned>(flag));
  }
}

}  // namespace burst
