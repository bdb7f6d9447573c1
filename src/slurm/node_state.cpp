// SPDX-License-Identifier: Apache-2.0
// Slurm's node states, state changes and versions as text: both generations of names.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "burst/slurm.h"

namespace burst {
namespace {

struct BaseName {
  std::string_view name;
  NodeBase base;
};

constexpr std::array kBases{
    BaseName{"UNKNOWN", NodeBase::unknown}, BaseName{"DOWN", NodeBase::down},
    BaseName{"IDLE", NodeBase::idle},       BaseName{"ALLOCATED", NodeBase::allocated},
    BaseName{"MIXED", NodeBase::mixed},     BaseName{"FUTURE", NodeBase::future},
    BaseName{"ALLOC", NodeBase::allocated}, BaseName{"MIX", NodeBase::mixed},
};

struct FlagName {
  std::string_view name;
  NodeFlag flag;
};

/// The first name of each flag is today's, in the order in which Slurm prints them (node_state_flags[]); behind them
/// those of earlier releases: POWER of 20.11, DYNAMIC of 21.08.
constexpr std::array kFlags{
    FlagName{"BLOCKED", NodeFlag::blocked},
    FlagName{"CLOUD", NodeFlag::cloud},
    FlagName{"COMPLETING", NodeFlag::completing},
    FlagName{"DRAIN", NodeFlag::drain},
    FlagName{"DYNAMIC_FUTURE", NodeFlag::dynamic_future},
    FlagName{"DYNAMIC_NORM", NodeFlag::dynamic_norm},
    FlagName{"EXTERNAL", NodeFlag::external},
    FlagName{"INVALID_REG", NodeFlag::invalid_reg},
    FlagName{"FAIL", NodeFlag::fail},
    FlagName{"MAINTENANCE", NodeFlag::maintenance},
    FlagName{"POWER_DOWN", NodeFlag::power_down},
    FlagName{"POWER_UP", NodeFlag::power_up},
    FlagName{"POWERED_DOWN", NodeFlag::powered_down},
    FlagName{"REBOOT_REQUESTED", NodeFlag::reboot_requested},
    FlagName{"REBOOT_ISSUED", NodeFlag::reboot_issued},
    FlagName{"RESERVED", NodeFlag::reserved},
    FlagName{"RESUME", NodeFlag::resume},
    FlagName{"NOT_RESPONDING", NodeFlag::not_responding},
    FlagName{"PLANNED", NodeFlag::planned},
    FlagName{"POWERING_UP", NodeFlag::powering_up},
    FlagName{"POWERING_DOWN", NodeFlag::powering_down},
    FlagName{"POWER", NodeFlag::powered_down},
    FlagName{"POWER_SAVE", NodeFlag::powered_down},
    FlagName{"DYNAMIC", NodeFlag::dynamic_future},
    FlagName{"MAINT", NodeFlag::maintenance},
    FlagName{"REBOOT", NodeFlag::reboot_requested},
    FlagName{"DRAINED", NodeFlag::drain},
    FlagName{"INVAL", NodeFlag::invalid_reg},
};

/// Up to 20.11 the first word is sinfo's: a base and a flag in one.
struct CompoundName {
  std::string_view name;
  NodeBase base;
  NodeFlag flag;
};

constexpr std::array kCompounds{
    CompoundName{"DRAINING", NodeBase::allocated, NodeFlag::drain},
    CompoundName{"FAILING", NodeBase::allocated, NodeFlag::fail},
};

/// What sinfo and 20.11 hang on a state; only the one that matters most is shown.
std::optional<NodeFlag> suffix_flag(char c) {
  switch (c) {
    case '$':
      return NodeFlag::maintenance;
    case '^':
      return NodeFlag::reboot_issued;
    case '@':
      return NodeFlag::reboot_requested;
    case '#':
      return NodeFlag::powering_up;
    case '%':
      return NodeFlag::powering_down;
    case '~':
      return NodeFlag::powered_down;
    case '!':
      return NodeFlag::power_down;
    case '*':
      return NodeFlag::not_responding;
    case '-':
      return NodeFlag::planned;
    default:
      return std::nullopt;
  }
}

bool same_word(std::string_view text, std::string_view upper) {
  return std::ranges::equal(text, upper,
                            [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; });
}

template <typename Table>
auto find_name(const Table& table, std::string_view word) {
  return std::ranges::find_if(table, [&](const auto& row) { return same_word(word, row.name); });
}

void add_flag(NodeState& state, std::string_view word) {
  const auto* const found = find_name(kFlags, word);
  state.set(found == kFlags.end() ? NodeFlag::unknown : found->flag);
}

void set_base(NodeState& state, std::string_view word) {
  if (const auto* const base = find_name(kBases, word); base != kBases.end()) {
    state.base = base->base;
    return;
  }
  if (const auto* const compound = find_name(kCompounds, word); compound != kCompounds.end()) {
    state.base = compound->base;
    state.set(compound->flag);
    return;
  }
  add_flag(state, word);  // 20.11 shows an idle node that is drained, in maintenance ... by that word alone
  state.base = state.has(NodeFlag::unknown) ? NodeBase::unknown : NodeBase::idle;
}

}  // namespace

NodeState parse_node_state(std::string_view text) {
  NodeState state;
  for (bool first = true; !text.empty() || first; first = false) {
    const auto plus = text.find('+');
    std::string_view word = text.substr(0, plus);
    text = plus == std::string_view::npos ? std::string_view() : text.substr(plus + 1);
    while (!word.empty()) {
      const auto flag = suffix_flag(word.back());
      if (!flag) break;
      state.set(*flag);
      word.remove_suffix(1);
    }
    if (first) {
      set_base(state, word);
    } else if (!word.empty()) {  // sinfo's `allocated+` has nothing behind the plus
      add_flag(state, word);
    }
  }
  return state;
}

std::string to_string(const NodeState& state) {
  const auto* const base = std::ranges::find(kBases, state.base, &BaseName::base);
  std::string text(base->name);
  std::uint32_t shown = 0;
  for (const auto& [name, flag] : kFlags) {
    const std::uint32_t bit = 1U << static_cast<unsigned>(flag);
    if (!state.has(flag) || (shown & bit) != 0) continue;
    shown |= bit;
    text += '+';
    text += name;
  }
  return state.has(NodeFlag::unknown) ? text + "+?" : text;
}

std::optional<SlurmVersion> parse_slurm_version(std::string_view text) {
  for (std::size_t at = text.find_first_of("0123456789"); at != std::string_view::npos;
       at = text.find_first_of("0123456789", at)) {
    std::array<int, 3> parts{};
    std::size_t count = 0;
    const char* position = text.data() + at;
    const char* const end = text.data() + text.size();
    while (count < parts.size()) {
      const auto [next, failure] = std::from_chars(position, end, parts.at(count));
      if (failure != std::errc() || *position == '-') break;
      position = next;
      ++count;
      if (position == end || *position != '.') break;
      ++position;
    }
    if (count >= 2) return SlurmVersion{parts[0], parts[1], parts[2]};
    at = std::min(text.find_first_not_of("0123456789.", at), text.size());
  }
  return std::nullopt;
}

std::string_view to_string(StateChange change) {
  switch (change) {
    case StateChange::down:
      return "DOWN";
    case StateChange::idle:
      return "IDLE";
    case StateChange::resume:
      return "RESUME";
    case StateChange::undrain:
      return "UNDRAIN";
    case StateChange::power_up:
      return "POWER_UP";
    case StateChange::power_down:
      return "POWER_DOWN";
    case StateChange::power_down_force:
      return "POWER_DOWN_FORCE";
  }
  return "";
}

}  // namespace burst
