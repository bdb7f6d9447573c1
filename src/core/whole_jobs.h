// SPDX-License-Identifier: Apache-2.0
// The jobs of one resume as wholes: which machines serve none of them, and what is worth a second try.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "burst/machine.h"
#include "burst/slurm.h"

namespace burst {

/// It runs, or it will.
bool has_machine(Outcome outcome);

/// The jobs of one resume, those of higher priority first where Slurm tells it (26.05), else in the file's order.
struct CallJobs {
  std::vector<ResumeJob> each;
  std::vector<ResumeJob> whole;  ///< components of a heterogeneous job are one job, called as the first of them
};

/// `queue` says which are components of one job; without it each is a job by itself.
CallJobs jobs_of_call(std::vector<ResumeJob> jobs, std::span<const SlurmJob> queue);

/// For a Slurm that gives no SLURM_RESUME_FILE: the jobs that wait for some of these nodes to boot.
std::vector<ResumeJob> waiting_jobs(std::span<const SlurmJob> queue, std::span<const NodeName> nodes);

/// What is asked for once more, one launch after the other, when all-or-nothing launches came short and have given
/// back what they had got. In the order of the jobs, and nothing that is no smaller than what has failed by itself:
/// - a job some of whose nodes were asked for with another job's that came short;
/// - unless start() hands over itself what launches give up (LaunchNeeds): the jobs that came short after the first
///   such job, then the nodes of single-node jobs.
class SecondTries {
 public:
  SecondTries(std::span<const Launch> launches, std::span<const NodeOutcome> outcomes, std::span<const ResumeJob> jobs,
              bool hands_over);
  SecondTries(const SecondTries&) = delete;
  SecondTries& operator=(const SecondTries&) = delete;
  /// Nothing: that was all.
  std::optional<Launch> next();
  void tried(const Launch& launch, std::span<const NodeOutcome> outcomes);

 private:
  std::vector<Launch> launches_;
  std::vector<ResumeJob> jobs_;
  bool hands_over_;
  bool rest_is_left_ = true;
  std::size_t next_job_ = 0;
  std::size_t smallest_failed_ = std::numeric_limits<std::size_t>::max();
  std::unordered_map<NodeName, Outcome> outcomes_;
  std::unordered_map<NodeName, const Launch*> launch_of_;
  const Launch* first_failed_ = nullptr;

  std::optional<Launch> again(const ResumeJob& job) const;
  std::optional<Launch> rest();
  bool lacks(const NodeName& node) const;
  bool is_in_vain(const NodeName& node) const;
};

/// What became of a node of the call.
struct NodeFate {
  NodeName node;
  bool has_machine = false;
  bool whole_jobs_only = false;  ///< its group's LaunchStrategy is all-or-nothing
};

/// Nodes of all-or-nothing groups that have machines, but whose jobs all lack one of some other node.
std::vector<NodeName> nodes_in_vain(std::span<const ResumeJob> jobs, std::span<const NodeFate> fates);

}  // namespace burst
