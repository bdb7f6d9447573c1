// SPDX-License-Identifier: Apache-2.0
// The few things that we need of slurm.conf, read from the file itself.
#include "slurm/slurm_conf.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "burst/error.h"

namespace burst {
namespace {

/// Slurm's INFINITE where a time is expected: long enough never to pass, short enough to be added to a date.
constexpr std::chrono::seconds kForever = std::chrono::hours(24 * 3650);
constexpr int kMaxIncludes = 20;  ///< deep: a file that includes itself ends here

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_key(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// A line up to its comment; `\#` is no comment.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] != '\\')) return line.substr(0, i);
  }
  return line;
}

void read_seconds(std::string_view value, std::chrono::seconds& target) {
  if (same_key(value, "INFINITE") || same_key(value, "UNLIMITED") || value == "-1") {
    target = kForever;
    return;
  }
  int number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure == std::errc() && number >= 0) target = std::chrono::seconds(number);
}

class Reader {
 public:
  Reader(const Files& files, SlurmConf& conf, std::string cluster)
      : files_(files), conf_(conf), cluster_(std::move(cluster)) {}

  /// False when there is no such file, or it can't be read.
  bool read(const std::string& path, int depth = 0) {
    std::optional<std::string> text;
    try {
      text = files_.read(path);
    } catch (const Error&) {
      return false;
    }
    if (!text) return false;
    std::string joined;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      std::string_view line = trimmed(without_comment(rest.substr(0, end)));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (line.ends_with('\\')) {
        line.remove_suffix(1);
        joined += line;
        joined += ' ';
        continue;
      }
      if (joined.empty()) {
        take(line, path, depth);
      } else {
        take(trimmed(joined += line), path, depth);
        joined.clear();
      }
    }
    take(trimmed(joined), path, depth);
    return true;
  }

 private:
  void take(std::string_view line, const std::string& path, int depth) {
    constexpr std::string_view include = "include";
    if (line.size() > include.size() && is_blank(line[include.size()]) &&
        same_key(line.substr(0, include.size()), include)) {
      if (depth < kMaxIncludes) read(included(trimmed(line.substr(include.size())), path), depth + 1);
      return;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return;
    std::string_view value = trimmed(line.substr(equals + 1));
    if (value.starts_with('"')) {
      value.remove_prefix(1);
      value = value.substr(0, value.find('"'));
    } else {
      value = value.substr(0, value.find_first_of(" \t"));
    }
    store(trimmed(line.substr(0, equals)), value);
  }

  std::string included(std::string_view name, const std::string& path) const {
    std::string file(name.substr(0, name.find_first_of(" \t")));
    const std::string& cluster = conf_.cluster_name.empty() ? cluster_ : conf_.cluster_name;
    for (auto at = file.find("%c"); at != std::string::npos; at = file.find("%c", at + cluster.size())) {
      file.replace(at, 2, cluster);
    }
    return file.starts_with('/') ? file : (std::filesystem::path(path).parent_path() / file).string();
  }

  void store(std::string_view key, std::string_view value) {
    if (same_key(key, "ClusterName")) {  // Slurm itself makes it lower case
      conf_.cluster_name = value;
      std::ranges::transform(conf_.cluster_name, conf_.cluster_name.begin(), lower);
    } else if (same_key(key, "StateSaveLocation")) {
      conf_.state_save_location = value;
    } else if (same_key(key, "SlurmUser")) {
      conf_.slurm_user = value.substr(0, value.find('('));
    } else if (same_key(key, "ResumeTimeout")) {
      read_seconds(value, conf_.resume_timeout);
    } else if (same_key(key, "SuspendTimeout")) {
      read_seconds(value, conf_.suspend_timeout);
    } else if (same_key(key, "KillWait")) {
      read_seconds(value, conf_.kill_wait);
    } else if (same_key(key, "UnkillableStepTimeout")) {
      read_seconds(value, conf_.unkillable_step_timeout);
    }
  }

  const Files& files_;
  SlurmConf& conf_;
  std::string cluster_;
};

std::vector<std::string> candidates(const Environment& environment, const std::string& bin_path) {
  if (const auto variable = environment.get("SLURM_CONF"); variable && !variable->empty()) return {*variable};
  std::vector<std::string> paths{"/etc/slurm/slurm.conf"};
  if (!bin_path.empty()) {
    const auto prefix = (std::filesystem::path(bin_path) / "..").lexically_normal();
    paths.push_back((prefix / "etc/slurm.conf").string());
    paths.push_back((prefix / "etc/slurm/slurm.conf").string());
  }
  paths.emplace_back("/etc/slurm-llnl/slurm.conf");
  paths.emplace_back("/run/slurm/conf/slurm.conf");
  return paths;
}

}  // namespace

SlurmConf read_slurm_conf(const Files& files, const Environment& environment, const std::string& bin_path,
                          const std::string& cluster_hint) {
  for (const auto& path : candidates(environment, bin_path)) {
    SlurmConf conf;
    if (!Reader(files, conf, cluster_hint).read(path)) continue;
    conf.path = path;
    if (conf.cluster_name.empty()) conf.cluster_name = cluster_hint;
    if (conf.state_save_location.empty()) conf.state_save_location = "/var/spool";
    if (conf.slurm_user.empty()) conf.slurm_user = "root";
    return conf;
  }
  SlurmConf none;
  none.cluster_name = cluster_hint;
  return none;
}

}  // namespace burst
