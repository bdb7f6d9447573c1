// SPDX-License-Identifier: Apache-2.0
// What scontrol and squeue print, taken apart: pure functions of the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "burst/slurm.h"

namespace burst {

/// `scontrol -o show nodes` run with TZ=UTC0 and SLURM_TIME_FORMAT=standard, of any release since 20.11: one node a
/// line, but a Comment may hold newlines. State and addresses are taken from in front of the free text (Reason,
/// Comment, Extra), so that nothing written there is mistaken for them. A node without a legible state is not left
/// out (its machine would look like an orphan): it gets NodeBase::unknown. Lines that are no node are skipped.
std::vector<SlurmNode> parse_nodes(std::string_view output);

/// The names in scontrol's "Node X not found" lines.
std::vector<NodeName> nodes_not_found(std::string_view output);

/// The format that parse_jobs() reads: id, state, nodes, time limit, id as users see it, comment; separated and ended
/// by control characters, since a comment may hold anything that can be typed.
inline constexpr std::string_view kJobFormat = "%A\x1f%T\x1f%N\x1f%l\x1f%i\x1f%k\x1e";

/// `squeue -h -o kJobFormat`. A line that is none is skipped; a nodes column that is no hostlist gives no nodes.
std::vector<SlurmJob> parse_jobs(std::string_view output);

/// `scontrol -o show reservations`, run as parse_nodes() says. One without legible times or nodes is skipped.
std::vector<SlurmReservation> parse_reservations(std::string_view output);

/// `1-00:00:00`, `2:00:00`, `10:00`; nothing for UNLIMITED, Partition_Limit, NOT_SET and the like.
std::optional<std::chrono::seconds> parse_time_limit(std::string_view text);

/// The other way of parse_slurm_time(): what scontrol takes, run with TZ=UTC0.
std::string to_slurm_time(std::chrono::sys_seconds time);

/// `YYYY-MM-DDTHH:MM:SS` as UTC; nothing for Unknown, None, N/A and the like.
std::optional<std::chrono::sys_seconds> parse_slurm_time(std::string_view text);

}  // namespace burst
