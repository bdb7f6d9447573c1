// SPDX-License-Identifier: Apache-2.0
// The program generate_conf: writes the slurm.conf and gres.conf fragments, or checks the configuration.
#include "programs/generate_conf.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "burst/error.h"
#include "core/gres.h"
#include "core/slurm_conf_text.h"

namespace burst {

namespace {

constexpr SlurmVersion kNewestSlurm{26, 5, 0};  // that the rules know

/// What is printed may go to a file on a full disk.
void finish_output(std::ostream& out) {
  if (!out.flush()) throw Error("FileError", "writing to standard output: not all of the text was taken");
}

struct GroupProblem {
  std::string group;
  ConfigProblem problem;
};

/// The configuration with what providers know of their groups filled in.
Config completed(Config config, const GenerateConfWorld& world, std::vector<GroupProblem>& problems) {
  if (!world.group_facts) return config;
  for (auto& partition : config.partitions) {
    for (auto& group : partition.groups) {
      const auto facts = world.group_facts(group);
      for (const auto& problem : facts.problems) problems.push_back({group.key(), problem});
      for (const auto& option : facts.slurm_specifications) {
        if (find_option(group.slurm_specifications, option.first) == nullptr)
          group.slurm_specifications.push_back(option);
      }
    }
  }
  return config;
}

/// R8, W21: what the providers have found in what their groups' keys name.
void add_findings(const std::vector<GroupProblem>& problems, std::vector<Finding>& findings) {
  for (const auto& [group, problem] : problems) {
    const Finding finding{problem.fatal ? "R8" : "W21", problem.fatal, fmt::format("{}: {}", group, problem.message)};
    const auto warnings = std::find_if(findings.begin(), findings.end(), [](const auto& one) { return !one.error; });
    findings.insert(problem.fatal ? warnings : findings.end(), finding);
  }
}

int check(const GenerateConfOptions& options, const Config& config, const std::vector<GroupProblem>& problems,
          const GenerateConfWorld& world) {
  auto version = options.slurm_version;
  if (!version) version = installed_slurm_version(config, world.processes);
  if (!version) {
    world.log.warning(fmt::format("no Slurm found, checking for {}.{:02}; name another release with --slurm-version",
                                  kNewestSlurm.major, kNewestSlurm.minor));
  }
  int status = 0;
  auto findings = check_conf(config, version.value_or(kNewestSlurm), world.host_facts());
  add_findings(problems, findings);
  for (const auto& finding : findings) {
    world.out << to_string(finding) << "\n";
    if (finding.error) status = 1;
  }
  finish_output(world.out);
  return status;
}

/// The value of SlurmctldParameters for machines that queue; only such a configuration asks which Slurm there is.
std::string controller_parameters(const GenerateConfOptions& options, const Config& config,
                                  const GenerateConfWorld& world) {
  if (wanted_controller_parameters(config, std::nullopt, nullptr).empty()) return "";
  auto version = options.slurm_version;
  if (!version) version = installed_slurm_version(config, world.processes);
  const auto host = world.host_facts();
  auto value = wanted_controller_parameters(config, version, host.slurm_conf ? &*host.slurm_conf : nullptr);
  if (!value.empty() && host.slurm_conf && find_option(*host.slurm_conf, "SlurmctldParameters") != nullptr) {
    world.log.warning(fmt::format(
        "slurm.conf has a line SlurmctldParameters too, and the last one counts: set it there to {}", value));
  }
  return value;
}

void warn_of_malformed_gres(const Config& config, Log& log) {
  for (const auto* group : config.groups()) {
    std::vector<std::string> malformed;
    group_gres(*group, malformed);
    for (const auto& item : malformed) {
      log.warning(fmt::format("{}: Gres \"{}\" is not name[:type][:count]: no line in gres.conf", group->key(), item));
    }
  }
}

}  // namespace

std::optional<SlurmVersion> installed_slurm_version(const Config& config, Processes& processes) {
  constexpr std::chrono::seconds timeout{10};
  for (const char* program : {"scontrol", "slurmctld"}) {
    ProcessRequest request;
    request.argv = {config.slurm_bin_path + program, "-V"};
    request.timeout = timeout;
    try {
      const auto result = processes.run(request);
      if (result.status != 0 || result.timed_out) continue;
      if (const auto version = parse_slurm_version(result.output)) return version;
    } catch (const Error&) {
      continue;  // not installed there: the other one may be
    }
  }
  return std::nullopt;
}

int generate_conf(const GenerateConfOptions& options, const Config& given, const GenerateConfWorld& world) {
  std::vector<GroupProblem> problems;
  const auto config = completed(given, world, problems);
  if (options.check) return check(options, config, problems, world);
  for (const auto& [group, problem] : problems) {
    const auto message = fmt::format("{}: {}", group, problem.message);
    if (problem.fatal) throw Error("InvalidConfig", message);
    world.log.warning(message);
  }
  warn_of_malformed_gres(config, world.log);
  const auto slurm_conf = slurm_conf_text(config, controller_parameters(options, config, world));
  const auto gres_conf = gres_conf_text(config);
  if (options.to_stdout) {
    world.out << slurm_conf << "# gres.conf\n" << gres_conf;
    finish_output(world.out);
    return 0;
  }
  constexpr unsigned mode = 0644;  // every Slurm daemon and command reads them
  const auto folder = options.directory.empty() || options.directory == "." ? "" : options.directory + "/";
  world.files.write(folder + "slurm.conf.aws", slurm_conf, mode);
  world.log.info(fmt::format("Output slurm.conf file: {}slurm.conf.aws", folder));
  world.files.write(folder + "gres.conf.aws", gres_conf, mode);
  world.log.info(fmt::format("Output gres.conf file: {}gres.conf.aws", folder));
  return 0;
}

}  // namespace burst
