// SPDX-License-Identifier: Apache-2.0
// The Slurm side: what scontrol and squeue say, and what they are told.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burst/machine.h"
#include "burst/node_name.h"

namespace burst {

struct SlurmVersion {
  int major = 0, minor = 0, micro = 0;  ///< 22.05.8
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 finds a zero in the defaulted comparison
  auto operator<=>(const SlurmVersion&) const = default;
};

/// `22.05.8`, `slurm 23.11.4`, `22.05`; nothing when there is no such number in the text.
std::optional<SlurmVersion> parse_slurm_version(std::string_view text);

enum class NodeBase : std::uint8_t { unknown, down, idle, allocated, mixed, future };

/// Flags behind the base state, of both generations of names (`POWER` and `POWERED_DOWN` are one).
enum class NodeFlag : std::uint8_t {
  blocked,
  cloud,
  completing,
  drain,
  dynamic_future,
  dynamic_norm,
  external,
  invalid_reg,
  fail,
  maintenance,
  power_down,
  power_up,
  powered_down,
  reboot_requested,
  reboot_issued,
  reserved,
  resume,
  not_responding,
  planned,
  powering_up,
  powering_down,
  unknown
};

struct NodeState {
  NodeBase base = NodeBase::unknown;
  std::uint32_t flags = 0;

  bool has(NodeFlag flag) const { return (flags >> static_cast<unsigned>(flag) & 1U) != 0; }
  void set(NodeFlag flag) { flags |= 1U << static_cast<unsigned>(flag); }
  bool operator==(const NodeState&) const = default;
};

/// `IDLE+CLOUD+POWERED_DOWN`, `DOWN*+CLOUD+POWER`: a set of flags; words that are not known set NodeFlag::unknown.
NodeState parse_node_state(std::string_view text);
/// The same in today's spelling and Slurm's order, for messages.
std::string to_string(const NodeState& state);

struct SlurmNode {
  NodeName name;
  NodeState state;
  std::string address, hostname;  ///< NodeAddr, NodeHostName; Slurm shows the node's own name when none was set
  std::string reason;             ///< without `[user@time]`
  std::optional<std::chrono::sys_seconds> reason_time;  ///< Slurm prints local time; converted
  std::optional<std::chrono::sys_seconds> boot_time, last_busy;
};

struct SlurmJob {
  JobId id = 0;
  JobId het_job = 0;  ///< of a heterogeneous job's component: the id of the first one; else 0
  std::string state;  ///< PENDING, CONFIGURING, RUNNING ...
  std::vector<NodeName> nodes;
  std::string comment;
  std::optional<std::chrono::seconds> time_limit;  ///< nothing: unlimited, or the partition's
};

/// A reservation of ours: MAINT and IGNORE_JOBS.
struct SlurmReservation {
  std::string name;
  std::vector<NodeName> nodes;
  std::chrono::sys_seconds start{}, end{};
  bool operator==(const SlurmReservation&) const = default;
};

struct NodeAddress {
  NodeName node;
  std::string address, hostname;
};

/// What a node is told to become. Before Slurm 22.05 power_down_force is sent as DOWN, then POWER_DOWN.
enum class StateChange { down, idle, resume, undrain, power_up, power_down, power_down_force };
/// As scontrol takes it: `POWER_DOWN_FORCE`.
std::string_view to_string(StateChange change);

/// Reads and updates Slurm by its own commands. Every failure throws Error with what scontrol said; a timed-out update
/// may have happened, all are safe to repeat. Counts its own runs (for the bench and --dry-run).
class Slurm {
 public:
  virtual ~Slurm() = default;
  virtual std::vector<SlurmNode> nodes() = 0;
  virtual std::vector<SlurmNode> nodes(std::span<const NodeName> names) = 0;
  virtual std::vector<SlurmJob> jobs() = 0;
  /// One scontrol run for up to 1000 nodes, names sorted (Slurm 22.05.0-7 sorts them itself and pairs wrongly).
  virtual void set_addresses(std::span<const NodeAddress> addresses) = 0;
  /// One scontrol run for up to 1000 nodes; the reason is cut to one safe line.
  virtual void set_state(std::span<const NodeName> nodes, StateChange change, std::string_view reason = {}) = 0;
  virtual void set_job_comment(JobId job, std::string_view comment) = 0;
  /// Those whose names begin with the prefix; empty: all.
  virtual std::vector<SlurmReservation> reservations(std::string_view prefix) = 0;
  /// MAINT and IGNORE_JOBS, for whole minutes: an end between two is the later one. Its nodes' order does not matter.
  virtual void create_reservation(const SlurmReservation& reservation) = 0;
  /// One that is gone already is no failure.
  virtual void delete_reservation(const std::string& name) = 0;
  virtual SlurmVersion version() = 0;
};

/// What we need of slurm.conf, read from the file itself (Include followed): no scontrol run is spent on it.
struct SlurmConf {
  std::string path;
  std::string cluster_name, state_save_location, slurm_user;
  std::chrono::seconds resume_timeout{60}, suspend_timeout{30}, kill_wait{30}, unkillable_step_timeout{60};
};

struct ResumeJob {
  JobId id = 0;
  std::vector<NodeName> nodes;      ///< the nodes that need power in this call
  std::vector<NodeName> allocated;  ///< its whole allocation; empty when this Slurm does not say
  std::string oversubscribe, partition;
  std::optional<std::int64_t> priority;  ///< since 26.05
};

/// SLURM_RESUME_FILE of every generation (`nodes`/`nodes_resume`, `all_nodes`/`all_nodes_resume`). Throws
/// Error{"ResumeFileError"} when it is not such a file; the caller goes on with its argument.
std::vector<ResumeJob> parse_resume_file(std::string_view json);

}  // namespace burst
