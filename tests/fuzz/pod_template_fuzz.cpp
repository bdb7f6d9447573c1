// SPDX-License-Identifier: Apache-2.0
// Pod templates: YAML and JSON, made into pods and asked for their resources.
#include <nlohmann/json.hpp>

#include "fuzz_input.h"
#include "providers/kubernetes/kubernetes_facts.h"
#include "providers/kubernetes/pod_template.h"

using namespace burst::fuzz;
namespace kube = burst::kubernetes;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const OneFile files(text_of(data, size));
  only_errors([&] {
    kube::GroupSettings settings;
    settings.pod_template = "/etc/pod.yaml";
    const auto pod_template = kube::PodTemplate::load(files, settings, {"cluster", "kube", "cpu"});
    const auto body = nlohmann::json::parse(pod_template.body("kube-cpu-1", "launch-1", 7));
    require(body.at("metadata").at("name") == "kube-cpu-1", "a pod is called as its node");
  });
  burst::Config config;
  burst::NodeGroup group;
  group.partition = "kube";
  group.name = "cpu";
  group.max_nodes = 2;
  group.settings = std::make_shared<const nlohmann::ordered_json>(
      nlohmann::ordered_json{{"Provider", "kubernetes"}, {"PodTemplate", "/etc/pod.yaml"}});
  for (const auto& problem : kube::group_facts(group, config, files).problems) {
    require_one_line(problem.message, "a problem is one safe line");
  }
  return 0;
}
