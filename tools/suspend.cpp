// SPDX-License-Identifier: Apache-2.0
// SuspendProgram and ResumeFailProgram.
#include "programs/suspend.h"

#include "cli.h"
#include "system/prepare_process.h"
#include "system/world.h"

int main(int argc, char** argv) {
  burst::prepare_process();
  const auto line = burst::parse_command_line(burst::Tool::suspend, argc, argv);
  if (line.status) return *line.status;
  return burst::run_tool("suspend", line.config, [&](burst::World& world) {
    return burst::suspend(world.hostlist(line.arguments), line.dry_run, world.suite());
  });
}
