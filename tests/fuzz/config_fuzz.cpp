// SPDX-License-Identifier: Apache-2.0
// config.json and partitions.json, with the keys of all providers: one input for both, a line of dashes between.
#include <array>

#include "fuzz_input.h"
#include "providers/ec2/ec2_settings.h"
#include "providers/gce/gce_settings.h"
#include "providers/kubernetes/kubernetes_settings.h"

using namespace burst::fuzz;
using burst::Config;

namespace {

class TwoFiles : public burst::Files {
 public:
  explicit TwoFiles(std::string_view text) {
    const auto line = text.find("\n----\n");
    config_ = text.substr(0, line);
    if (line != std::string_view::npos) partitions_ = text.substr(line + 6);
  }
  std::optional<std::string> read(const std::string& path) const override {
    return path == "/etc/config.json" ? config_ : partitions_;
  }
  void write(const std::string&, std::string_view, unsigned) override {}
  void remove(const std::string&) override {}

 private:
  std::string config_, partitions_;
};

void use(const Config& config) {
  for (const auto* group : config.groups()) {
    require(config.find_group(group->node(0)) != nullptr, "a group is found by its node", group->key());
    static_cast<void>(group->node_range());
    if (group->provider == "aws") static_cast<void>(burst::ec2::parse_settings(config, *group));
    if (group->provider == "gce") static_cast<void>(burst::gce::parse_settings(config, *group));
    if (group->provider == "kubernetes") static_cast<void>(burst::kubernetes::parse_settings(config, *group));
  }
  for (const auto& partition : config.partitions) static_cast<void>(partition.slurm_options());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array providers{burst::ec2::settings_keys(), burst::gce::settings_keys(),
                                    burst::kubernetes::settings_keys()};
  std::vector<burst::ConfigProblem> problems;
  const auto config = burst::load_config(TwoFiles(text_of(data, size)), {"/etc/config.json", "/etc/partitions.json"},
                                         providers, problems);
  bool fatal = false;
  for (const auto& problem : problems) {
    require_one_line(problem.message, "a problem is one safe line");
    fatal = fatal || problem.fatal;
  }
  if (!fatal) use(config);
  return 0;
}
