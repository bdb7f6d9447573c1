// SPDX-License-Identifier: Apache-2.0
// What the configuration check wants to know of the machine that it runs on.
#include "system/host_facts.h"

#include <algorithm>
#include <array>
#include <vector>

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include "burst/error.h"
#include "core/slurm_conf_text.h"

namespace burst {

namespace {

std::optional<std::string> read_if_possible(const Files& files, const std::string& path) {
  try {
    return files.read(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// The words of a line, blanks in quotes kept, quotes and comment removed.
std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> all;
  std::string word;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '#' && !quoted) {
      break;
    } else if ((c == ' ' || c == '\t' || c == '\r') && !quoted) {
      if (!word.empty()) all.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) all.push_back(std::move(word));
  return all;
}

SlurmOptions options_of(const std::vector<std::string>& line) {
  SlurmOptions options;
  for (const auto& word : line) {
    const auto equals = word.find('=');
    if (equals != std::string::npos) options.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return options;
}

/// Collects what the check needs of slurm.conf and the files that it includes.
class SlurmConfReader {
 public:
  SlurmConfReader(const Files& files, HostFacts& facts) : files_(files), facts_(facts) {}

  bool read(const std::string& path, int depth = 0) {
    constexpr int deepest = 8;
    const auto text = depth < deepest ? read_if_possible(files_, path) : std::nullopt;
    if (!text) return false;
    std::string line;
    for (std::size_t start = 0; start < text->size();) {
      const auto end = std::min(text->find('\n', start), text->size());
      line += text->substr(start, end - start);
      start = end + 1;
      if (!line.empty() && line.back() == '\\') {
        line.pop_back();
        continue;
      }
      take(words(line), path, depth);
      line.clear();
    }
    return true;
  }

 private:
  void take(const std::vector<std::string>& line, const std::string& path, int depth) {
    if (line.size() == 2 && same_option(line[0], "Include")) {
      read(line[1].starts_with('/') ? line[1] : folder_of(path) + line[1], depth + 1);
      return;
    }
    const auto options = options_of(line);
    if (options.empty()) return;
    const auto& first = options.front().first;
    const auto& value = options.front().second;
    if (same_option(first, "NodeName")) {
      const auto* state = find_option(options, "State");
      const bool cloud = state != nullptr && (same_option(*state, "CLOUD") || same_option(*state, "FUTURE"));
      if (!same_option(value, "DEFAULT") && !cloud) facts_.other_nodes = true;
      return;
    }
    constexpr auto records =
        std::to_array<std::string_view>({"PartitionName", "NodeSet", "DownNodes", "FrontendName", "SlurmctldHost"});
    if (std::any_of(records.begin(), records.end(), [&](auto name) { return same_option(name, first); })) return;
    facts_.slurm_conf->insert(facts_.slurm_conf->end(), options.begin(), options.end());
  }

  const Files& files_;
  HostFacts& facts_;
};

ProgramFacts program_facts(const std::string& path) {
  struct stat status {};
  ProgramFacts facts;
  if (stat(path.c_str(), &status) != 0) return facts;
  facts.exists = S_ISREG(status.st_mode);
  facts.executable = (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
  facts.writable_by_others = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return facts;
}

/// Whether the mode bits let a user read a file; true when the user or the file is not known.
bool may_read(const std::string& user, const std::string& path) {
  passwd entry{};
  passwd* found = nullptr;
  constexpr std::size_t buffer_size = 16'384;
  std::vector<char> buffer(buffer_size);
  struct stat status {};
  if (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr ||
      stat(path.c_str(), &status) != 0 || entry.pw_uid == 0) {
    return true;
  }
  if (status.st_uid == entry.pw_uid) return (status.st_mode & S_IRUSR) != 0;
  constexpr int most_groups = 1024;
  std::vector<gid_t> groups(most_groups);
  int count = most_groups;
  getgrouplist(user.c_str(), entry.pw_gid, groups.data(), &count);
  groups.resize(static_cast<std::size_t>(std::clamp(count, 0, most_groups)));
  const bool member = std::find(groups.begin(), groups.end(), status.st_gid) != groups.end();
  return (status.st_mode & (member ? S_IRGRP : S_IROTH)) != 0;
}

}  // namespace

HostFacts read_host_facts(const Config& config, const Files& files, const std::string& slurm_conf_path) {
  HostFacts facts;
  for (const char* name : {"ResumeProgram", "SuspendProgram", "ResumeFailProgram"}) {
    const auto* value = find_option(config.slurm_conf, name);
    if (value == nullptr || !value->starts_with('/')) continue;
    const auto path = value->substr(0, value->find(' '));
    facts.programs[path] = program_facts(path);
  }
  facts.slurm_conf.emplace();
  if (!SlurmConfReader(files, facts).read(slurm_conf_path)) {
    facts.slurm_conf.reset();
    return facts;
  }
  const auto folder = folder_of(slurm_conf_path);
  facts.gres_conf = read_if_possible(files, folder + "gres.conf");
  facts.topology_conf = read_if_possible(files, folder + "topology.conf");
  facts.topology_yaml = read_if_possible(files, folder + "topology.yaml").has_value();
  const auto* user = find_option(*facts.slurm_conf, "SlurmUser");
  for (const auto& path : {config.config_file, config.partitions_file}) {
    if (user != nullptr && !may_read(*user, path)) facts.unreadable.push_back(path);
  }
  return facts;
}

}  // namespace burst
