// SPDX-License-Identifier: Apache-2.0
// Maintenance reservations that keep jobs from nodes whose machines end before the jobs would.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "core/reconcile.h"

namespace burst {

/// All names of ours begin so; then the group's key.
inline constexpr std::string_view kExpiryPrefix = "burst-expiry-";

/// Rows E1 and E2 of docs/reconcile.md: one reservation for all nodes of a group whose machines end in the same minute,
/// from that minute on, for ten minutes at most. Creates those that are missing, first, and drops those of this group
/// that fit no machine any more; `existing` are Slurm::reservations(kExpiryPrefix), of any group. Pure.
std::vector<Action> plan_expiry_reservations(const GroupView& view, std::span<const SlurmReservation> existing,
                                             std::chrono::sys_seconds now);

/// Takes MAINTENANCE and RESERVED from the states of nodes that they have from one of our reservations alone, as far as
/// can be told: the tables leave nodes in maintenance alone, and a machine that has expired is to be followed up.
void ignore_our_maintenance(std::span<SlurmNode> nodes, std::span<const SlurmReservation> ours,
                            std::chrono::sys_seconds now);

}  // namespace burst
