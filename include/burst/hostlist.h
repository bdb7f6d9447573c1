// SPDX-License-Identifier: Apache-2.0
// Slurm's hostlists: `aws-node-[0-3,7]` <-> names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace burst {

/// The names of a hostlist in their order, duplicates kept, as `scontrol show hostnames` of Slurm 23.11 gives them
/// (several brackets, a suffix behind a bracket, zero padding). Throws Error{"InvalidHostlist"} naming the list and the
/// place; also for more than 2^20 names.
std::vector<std::string> expand_hostlist(std::string_view hostlist);

/// The shortest hostlist of names in their order, as Slurm prints it: `n1,n2,n3` -> `n[1-3]`. Joins neighbours only:
/// sort first (sort_hostnames) for the shortest form. Every bracket holds ranges written out, so that
/// expand_hostlist(fold_hostlist(x)) == x.
std::string fold_hostlist(std::span<const std::string> names);

/// Sorts by prefix, then by number (n9 before n10), and drops duplicates.
void sort_hostnames(std::vector<std::string>& names);

}  // namespace burst
