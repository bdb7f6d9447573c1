// SPDX-License-Identifier: Apache-2.0
// What a group's pod template says of its nodes.
#include "providers/kubernetes/kubernetes_facts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/error.h"
#include "providers/kubernetes/kubernetes_settings.h"
#include "providers/kubernetes/pod_resources.h"
#include "providers/kubernetes/pod_template.h"
#include "providers/kubernetes/pod_template_check.h"

namespace burst::kubernetes {
namespace {

std::optional<std::int64_t> number(const std::string* text) {
  std::int64_t value = 0;
  if (text == nullptr) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

/// CPUs, or what Slurm computes them from.
std::optional<std::int64_t> given_cpus(const SlurmOptions& options) {
  for (const char* name : {"CPUs", "Procs"}) {
    if (const auto* value = find_option(options, name)) return number(value);
  }
  std::optional<std::int64_t> product;
  for (const char* name : {"Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore"}) {
    if (const auto factor = number(find_option(options, name))) product = product.value_or(1) * *factor;
  }
  return product;
}

bool gives_cpus(const SlurmOptions& options) {
  constexpr auto names = std::to_array<const char*>(
      {"CPUs", "Procs", "Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore"});
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return find_option(options, name) != nullptr; });
}

/// How many of a kind, whatever their types: `gpu:a100:4,gpu:2` has 6 of gpu. What is of no known form has none; R3
/// tells of it.
std::int64_t count_of(std::string_view gres, std::string_view kind) {
  std::int64_t count = 0;
  while (!gres.empty()) {
    auto item = gres.substr(0, gres.find(','));
    gres.remove_prefix(std::min(item.size() + 1, gres.size()));
    item = item.substr(0, item.find('('));
    if (item.substr(0, item.find(':')) != kind) continue;
    const auto last = std::string(item.substr(item.rfind(':') == std::string_view::npos ? 0 : item.rfind(':') + 1));
    count += number(&last).value_or(1);
  }
  return count;
}

/// Compares the group's options with what its pods ask for, and fills in what is missing.
class Comparison {
 public:
  Comparison(const NodeGroup& group, const PodResources& pod) : given_(group.slurm_specifications), pod_(pod) {}

  GroupFacts result() {
    compare_cpus();
    compare_memory();
    compare_gres();
    for (const auto& problem : pod_.problems) warn(problem);
    return std::move(facts_);
  }

 private:
  void warn(const std::string& text) { facts_.problems.push_back({false, text}); }

  void compare_cpus() {
    const auto cpus = pod_.cpus();
    if (gives_cpus(given_)) {
      const auto given = given_cpus(given_).value_or(0);
      if (cpus > 0 && given > cpus)
        warn(fmt::format("SlurmSpecifications say {} CPUs, the pod requests {}m of cpu, which is {}", given,
                         *pod_.milli_cpus, cpus));
      return;
    }
    if (cpus == 0) {
      warn("no container requests cpu: Slurm takes the node for one of a single CPU, give CPUs in SlurmSpecifications");
      return;
    }
    constexpr std::int64_t thousandths = 1000;
    if (*pod_.milli_cpus % thousandths != 0)
      warn(fmt::format("the pod requests {}m of cpu, Slurm counts whole ones: CPUs={}", *pod_.milli_cpus, cpus));
    facts_.slurm_specifications.emplace_back("CPUs", fmt::format("{}", cpus));
  }

  void compare_memory() {
    const auto memory = pod_.memory_mib;
    if (const auto* text = find_option(given_, "RealMemory")) {
      const auto given = number(text).value_or(0);
      if (memory && given > *memory)
        warn(
            fmt::format("SlurmSpecifications say RealMemory={}, the pod requests {} MiB: jobs may be ended for lack of "
                        "memory, and slurmd with them",
                        given, *memory));
      return;
    }
    if (memory && *memory > 0) {
      facts_.slurm_specifications.emplace_back("RealMemory", fmt::format("{}", *memory));
    } else {
      warn(
          "no container requests memory: Slurm takes the node for one of 1 MiB, give RealMemory in "
          "SlurmSpecifications");
    }
  }

  void compare_gres() {
    const auto derived = pod_.gres();
    const auto* text = find_option(given_, "Gres");
    if (text == nullptr) {
      if (!derived.empty()) facts_.slurm_specifications.emplace_back("Gres", derived);
      return;
    }
    for (const char* kind : {"gpu", "tpu", "neuron"}) {
      const auto given = count_of(*text, kind), asked = count_of(derived, kind);
      if (given > asked)
        warn(
            fmt::format("SlurmSpecifications say Gres={}: {} of {}, the pod has {}: Slurm refuses the node's "
                        "registration",
                        *text, given, kind, asked));
      if (given < asked)
        warn(fmt::format("SlurmSpecifications say Gres={}: {} of {}, the pod has {}: no job can use the others", *text,
                         given, kind, asked));
    }
  }

  const SlurmOptions& given_;
  const PodResources& pod_;
  GroupFacts facts_;
};

/// suspend says the grace with each DELETE, and that counts.
void compare_grace(const nlohmann::ordered_json& spec, const GroupSettings& settings, GroupFacts& facts) {
  const auto found = spec.find("terminationGracePeriodSeconds");
  if (found == spec.end() || !found->is_number() || *found == settings.grace_period.count()) return;
  facts.problems.push_back({false, fmt::format("the template says terminationGracePeriodSeconds {}, suspend gives pods "
                                               "GracePeriodSeconds, {}",
                                               found->dump(), settings.grace_period.count())});
}

/// Its pods' template is soperator's, but their names are known.
GroupFacts facts_of_node_set(const NodeGroup& group, const GroupSettings& settings) {
  if (settings.node_set == group.key()) return {};
  return {
      {},
      {{false, fmt::format("the pods of NodeSet {} are called {}-N, Slurm's nodes {}-N: soperator's slurmd registers "
                           "by its pod's name",
                           settings.node_set, settings.node_set, group.key())}}};
}

}  // namespace

GroupFacts group_facts(const NodeGroup& group, const Config& config, const Files& files) {
  const auto settings = parse_settings(config, group);
  if (settings.mode != Mode::pod) return facts_of_node_set(group, settings);
  try {
    const auto pod = PodTemplate::load(files, settings, {config.cluster_name, group.partition, group.name});
    const auto resources = resources_of(pod.json().at("spec"));
    auto facts = Comparison(group, resources).result();
    compare_grace(pod.json().at("spec"), settings, facts);
    for (const auto& lack : lacks_of(pod.json())) facts.problems.push_back({false, lack});
    return facts;
  } catch (const Error& error) {
    return {{}, {{true, error.what()}}};
  }
}

}  // namespace burst::kubernetes
