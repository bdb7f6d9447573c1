// SPDX-License-Identifier: Apache-2.0
// The configuration's own small questions, and where its files are.
#include "burst/config.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "burst/error.h"
#include "burst/node_name.h"

namespace burst {

namespace {

constexpr const char* kConfigName = "config.json";
constexpr const char* kPartitionsName = "partitions.json";

std::string beside(const std::string& file, const char* name) {
  const auto slash = file.rfind('/');
  return (slash == std::string::npos ? std::string() : file.substr(0, slash + 1)) + name;
}

/// A file that is there but can't be read counts: load_config says what is wrong with it.
bool is_there(const Files& files, const std::string& path) {
  try {
    return files.read(path).has_value();
  } catch (const Error&) {
    return true;
  }
}

/// Of two numbers; what is none counts as 0.
bool is_longer(const std::string& value, const std::string& than) {
  const auto number = [](const std::string& text) {
    long long found = 0;
    std::from_chars(text.data(), text.data() + text.size(), found);
    return found;
  };
  return number(value) > number(than);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool same_option(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

const std::string* find_option(const SlurmOptions& options, std::string_view name) {
  const auto found = std::find_if(options.rbegin(), options.rend(),
                                  [name](const auto& option) { return same_option(option.first, name); });
  return found == options.rend() ? nullptr : &found->second;
}

std::string NodeGroup::node_range() const {
  return max_nodes > 1 ? fmt::format("{}-[0-{}]", key(), max_nodes - 1) : node(0);
}

SlurmOptions Partition::slurm_options() const {
  SlurmOptions all;
  for (const auto& group : groups) {
    for (const auto& need : group.partition_needs) {
      if (find_option(options, need.first) != nullptr) continue;
      const auto same = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == need.first; });
      if (same == all.end()) {
        all.push_back(need);
      } else if (is_longer(need.second, same->second)) {
        same->second = need.second;
      }
    }
  }
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

const NodeGroup* Config::find_group(std::string_view node) const {
  const auto parts = parse_node_name(node);
  if (!parts) return nullptr;
  for (const auto& partition : partitions) {
    if (partition.name != parts->partition) continue;
    for (const auto& group : partition.groups) {
      if (group.name == parts->group) return &group;
    }
  }
  return nullptr;
}

std::vector<const NodeGroup*> Config::groups() const {
  std::vector<const NodeGroup*> all;
  for (const auto& partition : partitions) {
    for (const auto& group : partition.groups) all.push_back(&group);
  }
  return all;
}

ConfigPaths find_config(const Files& files, const std::string& option, const std::optional<std::string>& variable,
                        const std::string& executable_dir, const std::string& sysconfdir) {
  struct Place {
    std::string file, origin;
    bool beside_executable = false;
  };
  std::vector<Place> places;
  if (!option.empty()) {
    places.push_back({option, "--config"});
  } else if (variable && !variable->empty()) {
    places.push_back({*variable, "SLURM_BURST_CONFIG"});
  } else {
    places.push_back({fmt::format("{}/{}", executable_dir, kConfigName), "beside the program", true});
    places.push_back({fmt::format("{}/{}", sysconfdir, kConfigName), "the system's configuration"});
  }
  std::string looked_at;
  for (const auto& place : places) {
    if (is_there(files, place.file)) return {place.file, beside(place.file, kPartitionsName), place.beside_executable};
    looked_at += fmt::format("{}\"{}\" ({})", looked_at.empty() ? "" : ", ", place.file, place.origin);
  }
  throw Error("NoConfiguration", fmt::format("finding the configuration: no such file: {}", looked_at));
}

}  // namespace burst
