// SPDX-License-Identifier: Apache-2.0
// The one place where everything is put together.
#include "system/world.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "burst/error.h"
#include "burst/provider.h"
#include "net/curl_http.h"
#include "slurm/scontrol_slurm.h"
#include "slurm/slurm_conf.h"
#include "system/disk_files.h"
#include "system/file_log.h"
#include "system/process_environment.h"
#include "system/spawn_processes.h"
#include "system/state_dir.h"
#include "system/system_clock.h"
#include "system/system_random.h"
#include "system/watched_files.h"

namespace burst {
namespace {

/// change_state has no one who waits for it; the others are killed by slurmctld after its longest timeout.
constexpr std::chrono::seconds kReconcilerDeadline{300}, kReconcilerPatience{30};
constexpr std::chrono::seconds kShortestDeadline{55};
constexpr std::chrono::seconds kMargin{5};

std::string executable_dir() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  const std::string full(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return full.substr(0, full.find_last_of('/'));
}

std::string read_resume_file(const Environment& environment, const Files& files) {
  const auto path = environment.get("SLURM_RESUME_FILE");
  if (!path || path->empty()) return "";
  try {
    return files.read(*path).value_or("");
  } catch (const Error&) {
    return "";  // slurmctld is gone already: the hostlist alone says which nodes
  }
}

}  // namespace

std::vector<ProviderKeys> provider_keys() {
  std::vector<ProviderKeys> keys;
  for (const auto& entry : provider_registry()) keys.push_back(entry.keys);
  return keys;
}

GroupFacts group_facts(const NodeGroup& group, const Config& config, const Files& files) {
  for (const auto& entry : provider_registry()) {
    if (entry.keys.name == group.provider && entry.facts != nullptr) return entry.facts(group, config, files);
  }
  return {};
}

struct World::Parts {
  std::string program;
  SystemClock clock;
  ProcessEnvironment environment;
  DiskFiles disk;
  WatchedFiles files{disk};
  SystemRandom random;
  SpawnProcesses processes;
  std::chrono::steady_clock::time_point begin = clock.steady_now();
  std::string resume_file;
  Config config;
  bool configured = true;
  std::unique_ptr<Log> log;

  // What depends on Slurm's configuration, made by connect().
  SlurmConf slurm_conf;
  std::unique_ptr<StateDir> state;
  std::unique_ptr<HttpClient> http;
  std::unique_ptr<Slurm> slurm;
  std::mutex families_mutex;
  std::map<std::string, std::unique_ptr<ProviderFamily>> families;
  std::unique_ptr<Suite> suite;

  void load(const std::string& config_option);
  void connect();
  std::chrono::seconds deadline() const;
  std::string cluster() const;
  std::unique_ptr<Provider> provider(const NodeGroup& group);
  Services services() { return {clock, environment, files, *http, *log, processes, random}; }
};

void World::Parts::load(const std::string& config_option) {
  const auto paths =
      find_config(files, config_option, environment.get("SLURM_BURST_CONFIG"), executable_dir(), BURST_SYSCONFDIR);
  std::vector<ConfigProblem> problems;
  config = load_config(files, paths, provider_keys(), problems);
  environment.overlay(config.environment);
  log = make_file_log({program, config.log_file, config.log_level});
  files.report_to(*log);
  for (const auto& problem : problems) {
    log->write(problem.fatal ? LogLevel::critical : LogLevel::warning, problem.message);
    if (problem.fatal) configured = false;
  }
}

std::chrono::seconds World::Parts::deadline() const {
  if (config.timing.deadline.count() > 0) return config.timing.deadline;
  if (program == "change_state") return kReconcilerDeadline;
  // Slurm 23.02 and later kill a program after the longest of its timeouts.
  return std::max(kShortestDeadline, std::max(slurm_conf.resume_timeout, slurm_conf.suspend_timeout) - kMargin);
}

std::string World::Parts::cluster() const {
  const std::string& name = config.cluster_name.empty() ? slurm_conf.cluster_name : config.cluster_name;
  if (!name.empty()) return name;
  throw Error("NoClusterName", fmt::format("no ClusterName: {}; set SLURM_CONF, or ClusterName in \"{}\"",
                                           slurm_conf.path.empty() ? "no slurm.conf was found"
                                                                   : fmt::format("\"{}\" has none", slurm_conf.path),
                                           config.config_file));
}

void World::Parts::connect() {
  slurm_conf = read_slurm_conf(files, environment, config.slurm_bin_path, config.cluster_name);
  std::string state_dir = config.state_dir;
  if (state_dir.empty()) {
    if (slurm_conf.state_save_location.empty()) {
      throw Error("NoStateDir",
                  fmt::format("no StateDir: no slurm.conf was found that says where Slurm keeps its state; "
                              "set SLURM_CONF, or StateDir in \"{}\"",
                              config.config_file));
    }
    state_dir = slurm_conf.state_save_location + "/slurm-burst";
  }
  files.check(state_dir);
  state = std::make_unique<StateDir>(state_dir, files, clock);
  net::CurlHttpSettings http_settings;
  http_settings.deadline = begin + deadline();
  // Others' clouds and Slurm wait for a change_state that waits; it comes again in a minute.
  if (program == "change_state") http_settings.throttle_patience = kReconcilerPatience;
  http_settings.in_flight = config.requests_in_flight;
  http_settings.user_agent = "slurm-burst/" BURST_VERSION;
  http = net::make_curl_http(http_settings, clock, random, environment, *log);
  slurm = std::make_unique<ScontrolSlurm>(processes, *log, config.slurm_bin_path, slurm_conf.path);
  const ProviderContext context{config, cluster(), services(), *state};
  for (const auto& entry : provider_registry()) families.emplace(entry.keys.name, entry.make(context));
  suite = std::make_unique<Suite>(Suite{config, slurm_conf, services(), *slurm, *state, *state,
                                        [this](const NodeGroup& group) { return provider(group); }, std::cout});
}

std::unique_ptr<Provider> World::Parts::provider(const NodeGroup& group) {
  const std::lock_guard lock(families_mutex);
  return families.at(group.provider)->provider(group);
}

World::World(const std::string& program, const std::string& config_option) : parts_(std::make_unique<Parts>()) {
  parts_->program = program;
  parts_->resume_file = read_resume_file(parts_->environment, parts_->files);
  parts_->load(config_option);
}

World::~World() = default;

bool World::configured() const { return parts_->configured; }
const Config& World::config() const { return parts_->config; }
Log& World::log() { return *parts_->log; }
Files& World::files() { return parts_->files; }
Processes& World::processes() { return parts_->processes; }
std::string World::slurm_conf_path() {
  return read_slurm_conf(parts_->files, parts_->environment, parts_->config.slurm_bin_path, parts_->config.cluster_name)
      .path;
}

const std::string& World::resume_file() const { return parts_->resume_file; }

std::string World::hostlist(const std::vector<std::string>& arguments) const {
  if (arguments.empty()) throw Error("Usage", "Missing hostlist argument");
  const bool has_features = arguments.size() > 1 && parts_->environment.get("SLURM_JOB_ID").has_value() &&
                            !parts_->environment.get("SLURM_RESUME_FILE").has_value();
  return arguments[arguments.size() - (has_features ? 2 : 1)];
}

Suite& World::suite() {
  if (!parts_->suite) parts_->connect();
  return *parts_->suite;
}

int run_tool(const std::string& program, const std::string& config_option, const std::function<int(World&)>& body) {
  std::unique_ptr<World> world;
  try {
    world = std::make_unique<World>(program, config_option);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return kNotConfigured;
  }
  if (!world->configured()) return kNotConfigured;
  try {
    return body(*world);
  } catch (const std::exception& error) {
    world->log().critical(error.what());
    return kFailed;
  }
}

int run_tool(const std::string& program, const std::function<int(Files&)>& body) {
  try {
    DiskFiles files;
    return body(files);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return kFailed;
  }
}

}  // namespace burst
