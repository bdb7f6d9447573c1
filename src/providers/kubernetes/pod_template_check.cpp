// SPDX-License-Identifier: Apache-2.0
// What a pod template lacks for slurmd: warnings, as Kubernetes takes it either way.
#include "providers/kubernetes/pod_template_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "providers/kubernetes/pod_resources.h"
#include "providers/tag_text.h"

namespace burst::kubernetes {
namespace {

using Json = nlohmann::ordered_json;

const Json& at(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

/// What the template hands to programs: command, args and the environment's values, split at what a shell splits at.
std::vector<std::string> words_of(const Json& spec) {
  std::vector<std::string> words;
  const auto add = [&words](const std::string& text) {
    for (std::size_t start = 0; start < text.size();) {
      const auto end = std::min(text.find_first_of(" \t\r\n\"';&|", start), text.size());
      if (end > start) words.push_back(text.substr(start, end - start));
      start = end + 1;
    }
  };
  for (const auto& container : at(spec, "containers")) {
    for (const char* list : {"command", "args"}) {
      for (const auto& text : at(container, list)) {
        if (text.is_string()) add(text.get<std::string>());
      }
    }
    for (const auto& variable : at(container, "env")) {
      if (text_at(variable, "name") != "NODE_NAME") add(text_at(variable, "value"));
    }
  }
  return words;
}

/// `-b`, or among options in one word: `-Db`. What follows -N and its like is their value.
bool has_flag(const std::vector<std::string>& words, char flag) {
  constexpr std::string_view with_value = "BdfFLnN";
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    if (word.size() < 2 || word[0] != '-' || word[1] == '-') return false;
    const auto end = std::min(word.find_first_of(with_value, 1), word.size() - 1);
    return word.substr(1, end).find(flag) != std::string::npos;
  });
}

bool says_node_name(const std::vector<std::string>& words) {
  if (has_flag(words, 'N')) return true;
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return contains(word, "NODE_NAME") || contains(word, kNodeWord); });
}

bool has_host_port(const Json& spec) {
  for (const auto& container : at(spec, "containers")) {
    for (const auto& port : at(container, "ports")) {
      if (at(port, "hostPort").is_number() && at(port, "hostPort") != 0) return true;
    }
  }
  return false;
}

bool has_anti_affinity(const Json& spec) {
  const Json& rules = at(at(at(spec, "affinity"), "podAntiAffinity"), "requiredDuringSchedulingIgnoredDuringExecution");
  return std::any_of(rules.begin(), rules.end(),
                     [](const Json& rule) { return text_at(rule, "topologyKey") == "kubernetes.io/hostname"; });
}

/// Whether one slurmd has a Kubernetes node to itself. GPUs count: whoever asks for some asks for a machine's.
bool is_alone(const Json& spec) {
  return at(spec, "hostNetwork") == true || has_host_port(spec) || has_anti_affinity(spec) ||
         !resources_of(spec).devices.empty();
}

/// Somewhere a volume, its secret or where it is mounted speaks of munge or of Slurm's own key.
bool has_key(const Json& spec) {
  constexpr auto hints =
      std::to_array<std::string_view>({"munge", "slurm.key", "slurm-key", "slurmkey", "auth", "jwks"});
  const auto speaks = [&](const Json& value) {
    const auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    return std::any_of(hints.begin(), hints.end(), [&](auto hint) { return contains(text, hint); });
  };
  if (speaks(at(spec, "volumes"))) return true;
  const Json& containers = at(spec, "containers");
  return std::any_of(containers.begin(), containers.end(),
                     [&](const Json& container) { return speaks(at(container, "volumeMounts")); });
}

}  // namespace

std::vector<std::string> lacks_of(const Json& pod) {
  const Json& spec = at(pod, "spec");
  const auto words = words_of(spec);
  std::vector<std::string> lacks;
  if (!has_flag(words, 'b'))
    lacks.emplace_back(
        "no container's command or args have slurmd's -b: Slurm waits for a node that says that it has just booted");
  if (!says_node_name(words))
    lacks.emplace_back(
        "no container's command or args say which node it is: slurmd -N $(NODE_NAME), or {node_name} in their place");
  if (has_flag(words, 'Z'))
    lacks.emplace_back("slurmd -Z makes a dynamic node: the nodes of a group are declared, leave it out");
  if (!is_alone(spec))
    lacks.emplace_back(
        "nothing keeps two of its pods off one Kubernetes node: a hostPort, a required podAntiAffinity by "
        "kubernetes.io/hostname, GPUs or hostNetwork do");
  if (at(spec, "automountServiceAccountToken") == true)
    lacks.emplace_back("automountServiceAccountToken is true: every job can read the service account's token");
  if (!has_key(spec))
    lacks.emplace_back(
        "no volume brings a key for slurmd to be trusted by: munge's (/etc/munge/munge.key) or auth/slurm's "
        "(/etc/slurm/slurm.key)");
  if (text_at(spec, "restartPolicy") != "Always")
    lacks.emplace_back("restartPolicy is not Always: a slurmd that ends takes its node down");
  return lacks;
}

}  // namespace burst::kubernetes
