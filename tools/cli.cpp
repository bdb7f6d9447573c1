// SPDX-License-Identifier: Apache-2.0
// The command lines of the four programs, over CLI11.
#include "cli.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace burst {
namespace {

constexpr const char* kExitStatuses =
    "Exit status: 0 done; 1 part of the work failed; 2 the configuration can't be used.";

const char* description(Tool tool) {
  switch (tool) {
    case Tool::resume:
      return "ResumeProgram: starts a cloud machine for each node of a hostlist and tells Slurm their addresses.";
    case Tool::suspend:
      return "SuspendProgram and ResumeFailProgram: ends the cloud machines of a hostlist.";
    case Tool::change_state:
      return "Compares Slurm with the cloud and mends what differs; to be run each minute.";
    case Tool::generate_conf:
      return "Writes slurm.conf.aws and gres.conf.aws, to be included in slurm.conf and gres.conf.";
  }
  return "";
}

void add_options(CLI::App& app, Tool tool, CommandLine& line) {
  app.add_option("--config", line.config, "config.json to use (partitions.json beside it)")->type_name("FILE");
  if (tool == Tool::generate_conf) {
    app.add_option("-o,--output", line.output_directory, "folder for the files (default: the current one)")
        ->type_name("DIR");
    app.add_flag("--stdout", line.to_stdout, "print both files instead of writing them");
    auto* const check =
        app.add_flag("--check", line.check, "only check the configuration, for the Slurm that is found");
    app.add_option("--slurm-version", line.slurm_version, "write and check for this version of Slurm, such as 23.11")
        ->type_name("VERSION");
    app.add_option("--from-cluster-config", line.cluster_config,
                   "write a partitions.json made from this cluster_config.json of Vertex AI")
        ->type_name("FILE")
        ->excludes(check);
    return;
  }
  app.add_flag("--dry-run", line.dry_run, "print what would be done; change nothing");
  if (tool != Tool::change_state)
    app.add_option("hostlist", line.arguments, "the nodes, such as aws-node-[0-3]; the last argument counts");
}

}  // namespace

CommandLine parse_command_line(Tool tool, int argc, char** argv) {
  CommandLine line;
  CLI::App app(description(tool));
  app.set_version_flag("--version", std::string("slurm-burst ") + BURST_VERSION);
  app.footer(kExitStatuses);
  add_options(app, tool, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    line.status = app.exit(error) == 0 ? 0 : 1;
  }
  return line;
}

}  // namespace burst
