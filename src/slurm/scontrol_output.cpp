// SPDX-License-Identifier: Apache-2.0
// What scontrol and squeue print, taken apart: pure functions of the text.
#include "slurm/scontrol_output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/hostlist.h"

namespace burst {
namespace {

constexpr auto kNone = std::string_view::npos;

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  return text;
}

/// slurmctld prints `(null)` where it has nothing.
std::string value_of(std::string_view text) { return text == "(null)" ? std::string() : std::string(text); }

/// Free text is behind these keys; everything of ours stands before the first of them.
bool begins_free_text(std::string_view token) {
  return token.starts_with("Reason=") || token.starts_with("Comment=") || token.starts_with("Extra=");
}

/// A node's line and not a line of a Comment that looks like one: all of Slurm's have a core count near their start.
bool begins_node(std::string_view line) {
  return line.starts_with("NodeName=") && line.substr(0, 600).find(" CoresPerSocket=") != kNone;
}

bool says_not_found(std::string_view line) { return line.starts_with("Node ") && line.ends_with(" not found"); }

/// States repeat: few differ among ten thousand nodes.
class StateCache {
 public:
  NodeState state(std::string_view text) {
    const auto found = std::ranges::find(known_, text, &std::pair<std::string_view, NodeState>::first);
    if (found != known_.end()) return found->second;
    return known_.emplace_back(text, parse_node_state(text)).second;
  }

 private:
  std::vector<std::pair<std::string_view, NodeState>> known_;
};

/// Reason, from the free text at a line's end: `Reason=TEXT [user@time]`, then `Comment=...`, `Extra=...`. The lines
/// of a reason behind its first stand behind the bracket.
void read_reason(std::string_view text, SlurmNode& node) {
  std::size_t begin = 0;
  const bool reason_first = text.starts_with("Reason=");
  if (!reason_first) {
    begin = text.rfind(" Reason=");  // a Comment stands in front: the last one is Slurm's own, if it has a bracket
    if (begin == kNone) return;
    ++begin;
  }
  text = text.substr(begin + std::string_view("Reason=").size());
  for (const std::string_view key : {" Comment=", " Extra=", " ReservationName=", " InstanceId="}) {
    text = text.substr(0, text.find(key));
  }
  for (std::size_t open = text.rfind(" ["); open != kNone; open = open == 0 ? kNone : text.rfind(" [", open - 1)) {
    const std::size_t close = text.find(']', open);
    if (close == kNone) continue;
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    const std::size_t at = inside.rfind('@');
    if (at == kNone) continue;
    const std::string_view time = inside.substr(at + 1);
    node.reason_time = parse_slurm_time(time);
    if (!node.reason_time && time != "Unknown") continue;
    node.reason = without_blanks(text.substr(0, open));
    const std::string_view rest = without_blanks(text.substr(close + 1));
    if (!rest.empty()) node.reason += " " + std::string(rest);
    return;
  }
  if (reason_first) node.reason = without_blanks(text);
}

class NodeReader {
 public:
  SlurmNode read(std::string_view record) {
    SlurmNode node;
    bool has_state = false;
    while (!record.empty()) {
      if (begins_free_text(record)) {
        read_reason(record, node);
        break;
      }
      const std::size_t blank = record.find(' ');
      const std::string_view token = record.substr(0, blank);
      record = blank == kNone ? std::string_view() : record.substr(blank + 1);
      if (!token.empty()) has_state |= take(token, node, has_state);
    }
    if (!has_state) node.state.set(NodeFlag::unknown);
    return node;
  }

 private:
  /// True for the state.
  bool take(std::string_view token, SlurmNode& node, bool has_state) {
    const auto value = [&](std::string_view key) { return token.substr(key.size()); };
    switch (token.front()) {
      case 'N':
        if (token.starts_with("NodeName=") && node.name.empty()) node.name = value("NodeName=");
        if (token.starts_with("NodeAddr=")) node.address = value_of(value("NodeAddr="));
        if (token.starts_with("NodeHostName=")) node.hostname = value_of(value("NodeHostName="));
        return false;
      case 'S':
        if (has_state || !token.starts_with("State=")) return false;
        node.state = states_.state(value("State="));
        return true;
      case 'B':
        if (token.starts_with("BootTime=")) node.boot_time = parse_slurm_time(value("BootTime="));
        return false;
      case 'L':
        if (token.starts_with("LastBusyTime=")) node.last_busy = parse_slurm_time(value("LastBusyTime="));
        return false;
      default:
        return false;
    }
  }

  StateCache states_;
};

/// The next line without its newline; `text` moves behind it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == kNone ? std::string_view() : text.substr(end + 1);
  return line;
}

/// `123` of `123+1`; 0 of anything else.
JobId het_job_of(std::string_view shown) {
  JobId id = 0;
  const auto [end, error] = std::from_chars(shown.data(), shown.data() + shown.size(), id);
  return error == std::errc() && end != shown.data() + shown.size() && *end == '+' ? id : 0;
}

}  // namespace

std::vector<SlurmNode> parse_nodes(std::string_view output) {
  std::vector<SlurmNode> nodes;
  NodeReader reader;
  std::string_view rest = output;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (!begins_node(line)) continue;
    auto end = static_cast<std::size_t>(rest.data() - output.data());
    for (std::string_view ahead = rest; !ahead.empty();) {  // the lines of its Comment
      const std::string_view next = next_line(ahead);
      if (begins_node(next) || says_not_found(next)) break;
      rest = ahead;
      end = static_cast<std::size_t>(rest.data() - output.data());
    }
    const auto begin = static_cast<std::size_t>(line.data() - output.data());
    if (rest.empty()) end = output.size();
    nodes.push_back(reader.read(output.substr(begin, end - begin)));
  }
  return nodes;
}

std::vector<NodeName> nodes_not_found(std::string_view output) {
  std::vector<NodeName> names;
  while (!output.empty()) {
    std::string_view line = next_line(output);
    if (!says_not_found(line)) continue;
    line.remove_prefix(std::string_view("Node ").size());
    line.remove_suffix(std::string_view(" not found").size());
    names.emplace_back(line);
  }
  return names;
}

std::vector<SlurmJob> parse_jobs(std::string_view output) {
  std::vector<SlurmJob> jobs;
  for (std::size_t end = output.find('\x1e'); end != kNone; end = output.find('\x1e')) {
    std::string_view record = without_blanks(output.substr(0, end));
    output = output.substr(end + 1);
    std::array<std::string_view, 5> fields;
    bool complete = true;
    for (auto& field : fields) {
      const std::size_t separator = record.find('\x1f');
      complete = complete && separator != kNone;
      if (!complete) break;
      field = record.substr(0, separator);
      record = record.substr(separator + 1);
    }
    SlurmJob job;
    const char* const id_end = fields[0].data() + fields[0].size();
    if (!complete || std::from_chars(fields[0].data(), id_end, job.id).ptr != id_end || job.id == 0) continue;
    job.state = fields[1];
    job.time_limit = parse_time_limit(fields[3]);
    job.het_job = het_job_of(fields[4]);
    job.comment = value_of(record);
    try {
      if (fields[2] != "(null)") job.nodes = expand_hostlist(fields[2]);
    } catch (const Error&) {  // `None assigned` and what later releases may say instead
      job.nodes.clear();
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::vector<SlurmReservation> parse_reservations(std::string_view output) {
  std::vector<SlurmReservation> reservations;
  while (!output.empty()) {
    std::string_view line = next_line(output);
    if (!line.starts_with("ReservationName=")) continue;
    SlurmReservation reservation;
    std::string_view nodes;
    std::optional<std::chrono::sys_seconds> start, end;
    while (!line.empty()) {
      const std::size_t blank = line.find(' ');
      const std::string_view token = line.substr(0, blank);
      line = blank == kNone ? std::string_view() : line.substr(blank + 1);
      const auto value = [&](std::string_view key) { return token.substr(key.size()); };
      if (token.starts_with("ReservationName=")) reservation.name = value("ReservationName=");
      if (token.starts_with("StartTime=")) start = parse_slurm_time(value("StartTime="));
      if (token.starts_with("EndTime=")) end = parse_slurm_time(value("EndTime="));
      if (token.starts_with("Nodes=")) nodes = value("Nodes=");
      if (token.starts_with("NodeCnt=")) break;  // what follows may be someone's free text
    }
    if (!start || !end) continue;
    reservation.start = *start;
    reservation.end = *end;
    try {
      if (nodes != "(null)") reservation.nodes = expand_hostlist(nodes);
    } catch (const Error&) {
      continue;
    }
    reservations.push_back(std::move(reservation));
  }
  return reservations;
}

std::optional<std::chrono::seconds> parse_time_limit(std::string_view text) {
  long days = 0;
  if (const std::size_t dash = text.find('-'); dash != kNone) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + dash, days);
    if (error != std::errc() || end != text.data() + dash || days < 0 || days > 1'000'000) return std::nullopt;
    text.remove_prefix(dash + 1);
  }
  long seconds = 0;
  for (int parts = 1;; ++parts) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    long number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || number < 0 || number > 1'000'000)
      return std::nullopt;
    seconds = seconds * 60 + number;
    if (colon == kNone)
      return parts == 2 || parts == 3 ? std::optional(days * std::chrono::hours(24) + std::chrono::seconds(seconds))
                                      : std::nullopt;
    if (parts == 3) return std::nullopt;
    text.remove_prefix(colon + 1);
  }
}

std::string to_slurm_time(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

std::optional<std::chrono::sys_seconds> parse_slurm_time(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t begin, std::size_t length) {
    int value = 0;
    for (const char c : text.substr(begin, length)) value = value * 10 + (c - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2)) +
         std::chrono::seconds(number(17, 2));
}

}  // namespace burst
