// SPDX-License-Identifier: Apache-2.0
// Slurm by way of its own commands, scontrol and squeue.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "burst/log.h"
#include "burst/process.h"
#include "burst/slurm.h"

namespace burst {

/// Runs the commands without a shell, each with TZ=UTC0 and Slurm's standard time format, and 30 s at most. A list of
/// nodes is sorted, freed of duplicates and sent in runs of 1000; when one run fails the others are made all the same
/// and one Error{"ScontrolError"} says what scontrol said of all that failed. Not for two threads at once.
class ScontrolSlurm : public Slurm {
 public:
  /// `bin_path` is SlurmBinPath: a folder with its slash, or empty for PATH. `slurm_conf` is handed on as SLURM_CONF;
  /// empty: the process's own. The references outlive the object.
  ScontrolSlurm(Processes& processes, Log& log, std::string bin_path, std::string slurm_conf);

  std::vector<SlurmNode> nodes() override;
  /// Those of the names that Slurm knows; the others are a warning in the log.
  std::vector<SlurmNode> nodes(std::span<const NodeName> names) override;
  std::vector<SlurmJob> jobs() override;
  /// A node without a sound address is left out, with an error in the log; one without a hostname gets its own name.
  void set_addresses(std::span<const NodeAddress> addresses) override;
  void set_state(std::span<const NodeName> nodes, StateChange change, std::string_view reason) override;
  void set_job_comment(JobId job, std::string_view comment) override;
  std::vector<SlurmReservation> reservations(std::string_view prefix) override;
  void create_reservation(const SlurmReservation& reservation) override;
  void delete_reservation(const std::string& name) override;
  /// `scontrol -V`, asked once and only when someone needs it.
  SlurmVersion version() override;

  /// How many commands were run.
  int runs() const { return runs_; }

 private:
  ProcessResult run(std::vector<std::string> argv);
  void update(std::vector<std::string> arguments);
  void must_run(const std::vector<std::string>& argv);
  void update_nodes(const std::vector<NodeName>& nodes, const std::string& state, const std::string& reason);
  std::vector<SlurmNode> show(const std::string& hostlist);

  Processes& processes_;
  Log& log_;
  std::string bin_path_, slurm_conf_;
  std::optional<SlurmVersion> version_;
  std::atomic<int> runs_{0};
};

}  // namespace burst
