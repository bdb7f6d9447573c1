// SPDX-License-Identifier: Apache-2.0
// The reconciler, run each minute.
#include "programs/change_state.h"

#include "cli.h"
#include "system/prepare_process.h"
#include "system/world.h"

int main(int argc, char** argv) {
  burst::prepare_process();
  const auto line = burst::parse_command_line(burst::Tool::change_state, argc, argv);
  if (line.status) return *line.status;
  return burst::run_tool("change_state", line.config,
                         [&](burst::World& world) { return burst::change_state(line.dry_run, world.suite()); });
}
