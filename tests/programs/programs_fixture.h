// SPDX-License-Identifier: Apache-2.0
// A cluster of three node groups for the programs' tests, with fakes of Slurm, the cloud and StateDir.
#pragma once

#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "burst/hostlist.h"
#include "fakes/fake_provider.h"
#include "fakes/fake_services.h"
#include "fakes/fake_slurm.h"
#include "fakes/fake_state_store.h"
#include "programs/suite.h"

namespace burst {

/// Groups aws-node (10 nodes), aws-gpu (4) and onprem-big (2).
class ProgramsTest : public testing::Test {
 protected:
  static constexpr const char* kNode = "aws-node";
  static constexpr const char* kGpu = "aws-gpu";
  static constexpr const char* kBig = "onprem-big";
  static constexpr std::chrono::seconds kResumeTimeout{300};

  FakeServices world;
  FakeSlurm slurm;
  FakeStateStore state;
  FakeLaunchJournal journal;
  FakeCloud cloud{world.clock, journal};
  Config config = make_config();
  SlurmConf slurm_conf = make_slurm_conf();
  std::ostringstream out;
  Suite suite{config,
              slurm_conf,
              world.services(),
              slurm,
              state,
              journal,
              [this](const NodeGroup& group) { return cloud.provider(group); },
              out};

  FakeGroupCloud& node_cloud = cloud.group(kNode);
  FakeGroupCloud& gpu_cloud = cloud.group(kGpu);
  FakeGroupCloud& big_cloud = cloud.group(kBig);

  /// All nodes of the hostlist, in a state as scontrol shows it.
  void add_nodes(const std::string& hostlist, std::string_view node_state) {
    for (const auto& name : expand_hostlist(hostlist)) slurm.add(name, node_state);
  }

  std::chrono::sys_seconds now() const { return std::chrono::floor<std::chrono::seconds>(world.clock.now()); }
  std::string log() const { return world.log.text(); }

  /// How many lines of the log, of this level, hold the text.
  std::size_t lines(LogLevel level, std::string_view text) const {
    std::size_t count = 0;
    for (const auto& [line_level, line] : world.log.lines) {
      if (line_level == level && line.find(text) != std::string::npos) ++count;
    }
    return count;
  }

 private:
  static NodeGroup make_group(const std::string& partition, const std::string& name, int max_nodes) {
    NodeGroup group;
    group.partition = partition;
    group.name = name;
    group.max_nodes = max_nodes;
    group.settings = std::make_shared<const nlohmann::ordered_json>(nlohmann::ordered_json::object());
    return group;
  }

  static Config make_config() {
    Config made;
    made.partitions = {{"aws", {make_group("aws", "node", 10), make_group("aws", "gpu", 4)}, {}},
                       {"onprem", {make_group("onprem", "big", 2)}, {}}};
    return made;
  }

  static SlurmConf make_slurm_conf() {
    SlurmConf made;
    made.resume_timeout = kResumeTimeout;
    return made;
  }
};

}  // namespace burst
