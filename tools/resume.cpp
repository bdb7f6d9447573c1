// SPDX-License-Identifier: Apache-2.0
// ResumeProgram.
#include "programs/resume.h"

#include "cli.h"
#include "system/prepare_process.h"
#include "system/world.h"

int main(int argc, char** argv) {
  burst::prepare_process();
  const auto line = burst::parse_command_line(burst::Tool::resume, argc, argv);
  if (line.status) return *line.status;
  return burst::run_tool("resume", line.config, [&](burst::World& world) {
    return burst::resume({world.hostlist(line.arguments), world.resume_file(), line.dry_run}, world.suite());
  });
}
