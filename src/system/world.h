// SPDX-License-Identifier: Apache-2.0
// The one place where everything is put together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "burst/config.h"
#include "burst/provider.h"
#include "burst/services.h"
#include "programs/suite.h"

namespace burst {

/// The world of one program run: configuration, services, Slurm, providers.
class World {
 public:
  /// Reads SLURM_RESUME_FILE before anything else (it lives only as long as slurmctld's run), then the configuration.
  /// `config_option`: --config's value. Throws Error.
  World(const std::string& program, const std::string& config_option);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Whether the configuration had no fatal problem; all problems are in the log.
  bool configured() const;
  const Config& config() const;
  Log& log();
  Files& files();
  Processes& processes();
  /// The slurm.conf in use; empty when none was found.
  std::string slurm_conf_path();
  /// Content of SLURM_RESUME_FILE; empty when there is none.
  const std::string& resume_file() const;
  /// The hostlist among a power program's arguments: the last, or the last but one when a node feature follows (a call
  /// with SLURM_JOB_ID and without SLURM_RESUME_FILE). Throws Error for none.
  std::string hostlist(const std::vector<std::string>& arguments) const;
  /// With Slurm and the providers; made on first use. Throws Error when Slurm's configuration can't be used.
  Suite& suite();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// What the providers of this build know of their node groups' keys.
std::vector<ProviderKeys> provider_keys();

/// What the group's provider knows of its nodes (ProviderEntry::facts).
GroupFacts group_facts(const NodeGroup& group, const Config& config, const Files& files);

/// Runs a program's body: the one catch for errors, which prints and logs them. Returns the exit status.
int run_tool(const std::string& program, const std::string& config_option, const std::function<int(World&)>& body);

/// The same for what needs no configuration, and so has no log: errors are printed only.
int run_tool(const std::string& program, const std::function<int(Files&)>& body);

}  // namespace burst
