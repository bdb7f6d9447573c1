// SPDX-License-Identifier: Apache-2.0
// What scontrol and squeue print: anything may stand there, as comments and reasons are free text.
#include <algorithm>

#include "fuzz_input.h"
#include "slurm/scontrol_output.h"

using namespace burst::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  const auto lines = 1 + static_cast<std::size_t>(std::ranges::count(text, '\n'));
  const auto nodes = burst::parse_nodes(text);
  require(nodes.size() <= lines, "a line holds one node at most");
  for (const auto& node : nodes) {
    require(node.name.find('\n') == std::string::npos, "a node's name is within its line", node.name);
    require(burst::parse_node_state(burst::to_string(node.state)) == node.state, "a state is read as it is written",
            burst::to_string(node.state));
  }
  require(burst::nodes_not_found(text).size() <= lines, "a line names one unknown node at most");
  const auto records = static_cast<std::size_t>(std::ranges::count(text, '\x1e'));
  const auto jobs = burst::parse_jobs(text);
  require(jobs.size() <= records, "a record holds one job at most");
  for (const auto& job : jobs) require(job.id != 0, "a job has a number");
  for (const auto& reservation : burst::parse_reservations(text)) {
    const auto start = burst::to_slurm_time(reservation.start);
    require(burst::parse_slurm_time(start) == reservation.start, "a time is read as it is written", start);
  }
  static_cast<void>(burst::parse_time_limit(text));
  static_cast<void>(burst::parse_slurm_version(text));
  return 0;
}
