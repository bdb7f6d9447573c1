// SPDX-License-Identifier: Apache-2.0
// Slurm by way of its own commands, scontrol and squeue.
#include "slurm/scontrol_slurm.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/hostlist.h"
#include "burst/text.h"
#include "slurm/scontrol_output.h"

namespace burst {
namespace {

constexpr std::size_t kNodesPerRun = 1000;
/// Linux takes 128 KiB in one argument (MAX_ARG_STRLEN).
constexpr std::size_t kMaxArgument = 100'000;
/// slurmdbd keeps reasons in a column of 255 bytes.
constexpr std::size_t kReasonLimit = 240;
constexpr SlurmVersion kFirstWithForce{22, 5, 0};

/// The command as one would type it, cut: node lists can be long.
std::string command_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const auto& argument : argv) {
    if (!line.empty()) line += ' ';
    line += argument;
  }
  return one_line(line, 200);
}

/// scontrol writes some of its complaints to stdout ("Node X not found").
[[noreturn]] void fail(const std::vector<std::string>& argv, const ProcessResult& result) {
  const std::string command = command_line(argv);
  if (result.timed_out) {
    throw Error("ScontrolError", fmt::format("running '{}': no answer in 30 s, outcome unknown", command));
  }
  std::string said = one_line(result.errors, 500);
  const std::string printed = one_line(result.output, 200);
  if (!printed.empty() && (said.empty() || result.output.size() < 1000)) said += (said.empty() ? "" : "; ") + printed;
  if (said.empty()) said = "no message";
  throw Error("ScontrolError", fmt::format("running '{}': exit status {}: {}", command, result.status, said));
}

/// An address or host name that stays one entry when Slurm reads the list of them.
bool is_list_entry(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < '\x7f' && c != ',' && c != '[' && c != ']' && c != '{' && c != '}' && c != '"' && c != '\'';
  });
}

/// Does each, and then throws what went wrong with them, if anything did.
void for_each_part(std::size_t count, const std::function<void(std::size_t)>& part) {
  std::string failures;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      part(i);
    } catch (const Error& error) {
      failures += (failures.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (!failures.empty()) throw Error("ScontrolError", failures);
}

/// Runs of at most 1000 items whose text fits one argument.
template <typename Item, typename Length>
std::vector<std::span<const Item>> parts_of(const std::vector<Item>& items, Length length) {
  std::vector<std::span<const Item>> parts;
  for (std::size_t begin = 0; begin < items.size();) {
    std::size_t end = begin, bytes = 0;
    while (end < items.size() && end - begin < kNodesPerRun) {
      bytes += length(items[end]) + 1;
      if (bytes > kMaxArgument && end > begin) break;
      ++end;
    }
    parts.push_back(std::span(items).subspan(begin, end - begin));
    begin = end;
  }
  return parts;
}

std::vector<NodeName> sorted(std::span<const NodeName> names) {
  std::vector<NodeName> all(names.begin(), names.end());
  sort_hostnames(all);
  return all;
}

}  // namespace

ScontrolSlurm::ScontrolSlurm(Processes& processes, Log& log, std::string bin_path, std::string slurm_conf)
    : processes_(processes), log_(log), bin_path_(std::move(bin_path)), slurm_conf_(std::move(slurm_conf)) {
  if (!bin_path_.empty() && bin_path_.back() != '/') bin_path_ += '/';
}

ProcessResult ScontrolSlurm::run(std::vector<std::string> argv) {
  ProcessRequest request;
  argv.front().insert(0, bin_path_);
  request.argv = std::move(argv);
  request.environment = {{"TZ", "UTC0"}, {"SLURM_TIME_FORMAT", "standard"}};
  if (!slurm_conf_.empty()) request.environment.emplace_back("SLURM_CONF", slurm_conf_);
  ++runs_;
  if (log_.enabled(LogLevel::debug)) log_.debug("running '" + command_line(request.argv) + "'");
  return processes_.run(request);
}

std::vector<SlurmNode> ScontrolSlurm::show(const std::string& hostlist) {
  std::vector<std::string> argv{"scontrol", "-o", "show", "nodes"};
  if (!hostlist.empty()) argv.push_back(hostlist);
  const auto result = run(argv);
  const auto unknown = nodes_not_found(result.output);
  if (!unknown.empty() && !result.timed_out) {
    log_.warning("Slurm does not know " + one_line(fold_hostlist(unknown)));
  }
  // Its exit status is that of the last name alone, so that only what it says tells a failure from an unknown node.
  const bool failed = result.timed_out || (result.status != 0 && (unknown.empty() || !one_line(result.errors).empty()));
  if (failed) fail(argv, result);
  auto nodes = parse_nodes(result.output);
  if (nodes.empty() && unknown.empty() && result.output.find("NodeName=") != std::string::npos) {
    throw Error("ScontrolError",
                "running '" + command_line(argv) + "': no node in its output: " + one_line(result.output));
  }
  return nodes;
}

std::vector<SlurmNode> ScontrolSlurm::nodes() { return show(""); }

std::vector<SlurmNode> ScontrolSlurm::nodes(std::span<const NodeName> names) {
  std::vector<SlurmNode> all;
  const auto wanted = sorted(names);
  for (const auto& part : parts_of(wanted, [](const NodeName& name) { return name.size(); })) {
    auto shown = show(fold_hostlist(part));
    std::ranges::move(shown, std::back_inserter(all));
  }
  return all;
}

std::vector<SlurmJob> ScontrolSlurm::jobs() {
  const std::vector<std::string> argv{
      "squeue", "-h", "-a", "--local", "-t", "PENDING,CONFIGURING,RUNNING,COMPLETING", "-o", std::string(kJobFormat)};
  const auto result = run(argv);
  if (result.timed_out || result.status != 0) fail(argv, result);
  return parse_jobs(result.output);
}

void ScontrolSlurm::update(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"scontrol", "update"});
  must_run(arguments);
}

void ScontrolSlurm::must_run(const std::vector<std::string>& argv) {
  const auto result = run(argv);
  if (result.timed_out || result.status != 0) fail(argv, result);
}

void ScontrolSlurm::set_addresses(std::span<const NodeAddress> addresses) {
  std::vector<NodeName> names;
  std::vector<const NodeAddress*> sound;
  for (const auto& entry : addresses) {
    if (is_list_entry(entry.address) && (entry.hostname.empty() || is_list_entry(entry.hostname))) {
      names.push_back(entry.node);
      sound.push_back(&entry);
    } else {
      log_.error(fmt::format(R"({}: not an address: "{}" "{}")", entry.node, one_line(entry.address),
                             one_line(entry.hostname)));
    }
  }
  sort_hostnames(names);
  std::ranges::sort(sound, {}, &NodeAddress::node);
  std::vector<NodeAddress> ordered;
  ordered.reserve(names.size());
  for (const auto& name : names) {
    ordered.push_back(**std::ranges::lower_bound(sound, name, {}, &NodeAddress::node));
    if (ordered.back().hostname.empty()) ordered.back().hostname = name;
  }
  const auto longest = [](const NodeAddress& entry) {
    return std::max({entry.node.size(), entry.address.size(), entry.hostname.size()});
  };
  const auto parts = parts_of(ordered, longest);
  for_each_part(parts.size(), [&](std::size_t i) {
    std::vector<std::string> nodes, addrs, hosts;
    for (const auto& entry : parts[i]) {
      nodes.push_back(entry.node);
      addrs.push_back(entry.address);
      hosts.push_back(entry.hostname);
    }
    update({"NodeName=" + fold_hostlist(nodes), "NodeAddr=" + fold_hostlist(addrs),
            "NodeHostName=" + fold_hostlist(hosts)});
  });
}

void ScontrolSlurm::update_nodes(const std::vector<NodeName>& nodes, const std::string& state,
                                 const std::string& reason) {
  const auto parts = parts_of(nodes, [](const NodeName& name) { return name.size(); });
  for_each_part(parts.size(), [&](std::size_t i) {
    std::vector<std::string> arguments{"NodeName=" + fold_hostlist(parts[i]), "State=" + state};
    if (!reason.empty()) arguments.push_back("Reason=" + reason);
    update(std::move(arguments));
  });
}

void ScontrolSlurm::set_state(std::span<const NodeName> nodes, StateChange change, std::string_view reason) {
  if (nodes.empty()) return;
  const auto names = sorted(nodes);
  std::string line = one_line(reason, kReasonLimit);
  const bool two_steps = change == StateChange::power_down_force && version() < kFirstWithForce;
  // Slurm sets no node DOWN without a reason.
  if (line.empty() && (two_steps || change == StateChange::down)) line = "burst:down";
  if (!two_steps) {
    update_nodes(names, std::string(to_string(change)), line);
    return;
  }
  for_each_part(2, [&](std::size_t step) {
    update_nodes(names, std::string(to_string(step == 0 ? StateChange::down : StateChange::power_down)),
                 step == 0 ? line : std::string());
  });
}

void ScontrolSlurm::set_job_comment(JobId job, std::string_view comment) {
  update({fmt::format("JobId={}", job), "Comment=" + one_line(comment, kReasonLimit)});
}

std::vector<SlurmReservation> ScontrolSlurm::reservations(std::string_view prefix) {
  const std::vector<std::string> argv{"scontrol", "-o", "show", "reservations"};
  const auto result = run(argv);
  if (result.timed_out || result.status != 0) fail(argv, result);
  auto all = parse_reservations(result.output);
  std::erase_if(all, [&](const SlurmReservation& reservation) { return !reservation.name.starts_with(prefix); });
  return all;
}

void ScontrolSlurm::create_reservation(const SlurmReservation& reservation) {
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(reservation.end - reservation.start);
  // A reservation needs a user or an account; root needs none to run where it likes.
  must_run({"scontrol", "create", "reservation", "ReservationName=" + reservation.name,
            "StartTime=" + to_slurm_time(reservation.start), fmt::format("Duration={}", minutes.count()),
            "Nodes=" + fold_hostlist(sorted(reservation.nodes)), "Users=root", "Flags=MAINT,IGNORE_JOBS"});
}

void ScontrolSlurm::delete_reservation(const std::string& name) {
  const std::vector<std::string> argv{"scontrol", "delete", "ReservationName=" + name};
  const auto result = run(argv);
  const bool gone = (result.errors + result.output).find("Requested reservation is invalid") != std::string::npos;
  if (result.timed_out || (result.status != 0 && !gone)) fail(argv, result);
}

SlurmVersion ScontrolSlurm::version() {
  if (version_) return *version_;
  const std::vector<std::string> argv{"scontrol", "-V"};
  const auto result = run(argv);
  if (result.timed_out || result.status != 0) fail(argv, result);
  version_ = parse_slurm_version(result.output);
  if (!version_)
    throw Error("ScontrolError", "running 'scontrol -V': no version in \"" + one_line(result.output) + "\"");
  return *version_;
}

}  // namespace burst
