// SPDX-License-Identifier: Apache-2.0
// The examples of config/ for Kubernetes: they load without a warning and give the lines that they should.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "auth/kube_document.h"
#include "fakes/fake_services.h"
#include "programs/generate_conf.h"
#include "providers/kubernetes/kubernetes_facts.h"
#include "providers/kubernetes/kubernetes_settings.h"
#include "system/disk_files.h"

namespace burst::kubernetes {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kConfigFolder = std::string(BURST_SOURCE_DIR) + "/config";

std::string text_of(const std::string& path) {
  return DiskFiles().read(kConfigFolder + "/" + path).value_or("no such file");
}

/// The files of config/ at other places.
class Examples : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) { fake_.files.content[path] = text; }

  /// What generate_conf prints of them.
  std::string generated() {
    std::vector<ConfigProblem> problems;
    const std::vector<ProviderKeys> providers{settings_keys()};
    const auto config = load_config(fake_.files, {"/c/config.json", "/c/partitions.json", false}, providers, problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.message;
    GenerateConfOptions options;
    options.to_stdout = true;
    options.slurm_version = SlurmVersion{24, 11, 0};
    std::ostringstream out;
    const auto facts = [&](const NodeGroup& group) { return group_facts(group, config, fake_.files); };
    const GenerateConfWorld world{fake_.files, fake_.log, fake_.processes, out, [] { return HostFacts(); }, facts};
    EXPECT_EQ(generate_conf(options, config, world), 0);
    EXPECT_EQ(fake_.log.text(), "");
    options.to_stdout = false;
    options.check = true;
    std::ostringstream findings;
    const GenerateConfWorld check{fake_.files, fake_.log, fake_.processes, findings, [] { return HostFacts(); }, facts};
    EXPECT_EQ(generate_conf(options, config, check), 0) << findings.str();
    EXPECT_THAT(findings.str(), Not(HasSubstr("W21"))) << findings.str();
    return out.str();
  }

  FakeServices fake_;
};

TEST_F(Examples, LoadWithoutAWarningAndGiveNodesTheirPodsResources) {
  put("/c/config.json", text_of("config.json"));
  put("/c/partitions.json", text_of("partitions-kubernetes.json"));
  for (const char* name : {"kubernetes/pod-template-gpu.yaml", "kubernetes/pod-template-cpu.yaml"})
    put(std::string("/c/") + name, text_of(name));
  const auto text = generated();
  EXPECT_THAT(text, HasSubstr("\nNodeName=gpu-h100-[0-63] State=CLOUD Weight=10 CPUs=96 RealMemory=921600 Gres=gpu:8\n"
                              "PartitionName=gpu Nodes=gpu-h100-[0-63] State=UP ResumeTimeout=1500 MaxTime=2-0\n"));
  EXPECT_THAT(text, HasSubstr("\nNodeName=cpu-eks-[0-199] State=CLOUD CPUs=7 RealMemory=27000\n"
                              "NodeName=cpu-gke-[0-199] State=CLOUD RealMemory=27000 CPUs=7\n"
                              "PartitionName=cpu Nodes=cpu-eks-[0-199],cpu-gke-[0-199] MaxTime=INFINITE State=UP "
                              "ResumeTimeout=900 Default=YES\n"));
  EXPECT_THAT(text, HasSubstr("\nNodeName=worker-h200-[0-15] State=CLOUD CPUs=128 RealMemory=1500000 "
                              "Gres=gpu:nvidia_h200:8\n"));
  EXPECT_THAT(text, HasSubstr("\nNodeName=gpu-h100-[0-63] Name=gpu File=/dev/nvidia[0-7]\n"));
}

TEST_F(Examples, TheConfigMapHoldsAWholeConfiguration) {
  const auto map = auth::parse_kube_document(text_of("kubernetes/configmap.yaml"), "configmap.yaml");
  EXPECT_EQ(map["kind"], "ConfigMap");
  put("/c/config.json", map["data"]["config.json"]);
  put("/c/partitions.json", map["data"]["partitions.json"]);
  for (const char* name : {"pod-template-gpu.yaml", "pod-template-cpu.yaml"})
    put(std::string("/c/templates/") + name, text_of(std::string("kubernetes/") + name));
  const auto text = generated();
  EXPECT_THAT(text, HasSubstr("NodeName=gpu-h100-[0-63] State=CLOUD CPUs=96 RealMemory=921600 Gres=gpu:8\n"));
  EXPECT_THAT(text, HasSubstr("NodeName=cpu-c8-[0-199] State=CLOUD CPUs=7 RealMemory=28672\n"));
}

}  // namespace
}  // namespace burst::kubernetes
