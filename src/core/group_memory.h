// SPDX-License-Identifier: Apache-2.0
// What is remembered of a node group between runs: cool-down, failed starts, missed polls.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "burst/config.h"
#include "burst/node_name.h"

namespace burst {

/// A pause after the provider had no capacity or quota, or after machines of the group never registered.
struct CoolDown {
  std::string code, message;                              ///< why: goes into `burst:CODE message`
  std::chrono::sys_seconds until{};                       ///< then one node is released as a probe
  std::chrono::seconds length{0};                         ///< doubled while it keeps failing
  std::optional<std::chrono::sys_seconds> probing_since;  ///< a probe is out; after probe_time all are released
  bool operator==(const CoolDown&) const = default;
};

/// A node that was found in a state that is mended only when it lasts.
struct Sighting {
  std::string state;                 ///< "starting without machine": another one begins to count anew
  std::chrono::sys_seconds since{};  ///< when a pass first found it so
  int passes = 0;                    ///< passes in a row that found it so (and, where a machine matters, none)
  bool operator==(const Sighting&) const = default;
};

/// Kept in StateDir, one file a group. Losing it loses no machine.
struct GroupMemory {
  std::optional<CoolDown> cool_down;
  std::chrono::seconds last_length{0};      ///< of the cool-down before, until a success resets it
  int bootstrap_failures = 0;               ///< machines in a row that never registered
  int invalid_registrations = 0;            ///< INVALID_REG in a row
  std::map<NodeName, std::string> booting;  ///< POWERING_UP nodes seen with a machine -> machine id
  std::map<NodeName, Sighting> sightings;
  std::map<NodeName, std::chrono::sys_seconds> expires;  ///< when the provider ends the node's machine, or ended it
  std::map<std::string, std::chrono::sys_seconds>
      machines_since;  ///< first seen: unnamed ones of launches that are over, and those whose creation the provider
                       ///< hides
  bool operator==(const GroupMemory&) const = default;
};

/// A file that is damaged is as good as none: an empty memory.
GroupMemory parse_group_memory(std::string_view json);
std::string to_json(const GroupMemory& memory);

/// The provider refused for want of capacity or quota: starts the cool-down, or doubles it up to max_cool_down when the
/// last one ended without a success between. A failure while one is running and not probing leaves it as it is.
/// True when it started one.
bool record_refusal(GroupMemory& memory, const std::string& code, const std::string& message,
                    std::chrono::sys_seconds now, const Timing& timing);
/// A cool-down runs, and no probe is out.
bool is_closed(const GroupMemory& memory, std::chrono::sys_seconds now);
/// The code of a cool-down that bootstrap protection began: machines start, and never register.
inline constexpr std::string_view kBootstrapFailing = "BootstrapFailing";

/// A machine was started: a probe that is out has succeeded, the cool-down is over and its length reset. Not one of
/// kBootstrapFailing: there only a registration counts. A cool-down that runs stays: the machine was one of the last.
void record_success(GroupMemory& memory);

}  // namespace burst
