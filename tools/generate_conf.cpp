// SPDX-License-Identifier: Apache-2.0
// Writes the slurm.conf and gres.conf fragments, and checks the configuration.
#include "programs/generate_conf.h"

#include <iostream>

#include "burst/error.h"
#include "cli.h"
#include "programs/convert_cluster.h"
#include "system/host_facts.h"
#include "system/prepare_process.h"
#include "system/world.h"

int main(int argc, char** argv) {
  burst::prepare_process();
  const auto line = burst::parse_command_line(burst::Tool::generate_conf, argc, argv);
  if (line.status) return *line.status;
  if (!line.cluster_config.empty()) {
    return burst::run_tool("generate_conf", [&](burst::Files& files) {
      const auto providers = burst::provider_keys();
      return burst::convert_cluster({line.cluster_config, line.output_directory, line.to_stdout, providers}, files,
                                    std::cout, std::cerr);
    });
  }
  return burst::run_tool("generate_conf", line.config, [&](burst::World& world) {
    burst::GenerateConfOptions options{line.output_directory, line.to_stdout, line.check, {}};
    if (!line.slurm_version.empty()) {
      options.slurm_version = burst::parse_slurm_version(line.slurm_version);
      if (!options.slurm_version)
        throw burst::Error("Usage", "--slurm-version: expected a version such as 23.11, found " + line.slurm_version);
    }
    const auto facts = [&] { return burst::read_host_facts(world.config(), world.files(), world.slurm_conf_path()); };
    const auto group_facts = [&](const burst::NodeGroup& group) {
      return burst::group_facts(group, world.config(), world.files());
    };
    return burst::generate_conf(options, world.config(),
                                {world.files(), world.log(), world.processes(), std::cout, facts, group_facts});
  });
}
