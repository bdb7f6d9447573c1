// SPDX-License-Identifier: Apache-2.0
// Node groups whose machines are EC2 instances.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "burst/provider.h"
#include "providers/ec2/ec2_api.h"
#include "providers/ec2/ec2_fleet.h"
#include "providers/ec2/ec2_fleet_batch.h"
#include "providers/ec2/ec2_settings.h"

namespace burst::ec2 {

/// An instance that is to get its node's tags.
struct Naming {
  NodeName node;
  std::string instance_id;
  Tags tags;
};

class Ec2Provider : public Provider {
 public:
  Ec2Provider(const ProviderContext& context, const NodeGroup& group,
              std::shared_ptr<auth::AwsCredentialSource> credentials);

  LaunchNeeds launch_needs() const override;
  std::vector<NodeOutcome> start(std::span<const Launch> launches, const StartedSink& started) override;
  std::vector<NodeOutcome> finish() override;
  std::vector<NodeOutcome> stop(std::span<const NodeName> nodes) override;
  std::vector<NodeOutcome> stop_machines(std::span<const Machine> machines) override;
  std::vector<Machine> list() override;

 private:
  const NodeGroup& group_;
  std::string cluster_;
  bool adopt_untagged_;
  GroupSettings settings_;
  Clock& clock_;
  Log& log_;
  Random& random_;
  LaunchJournal& journal_;
  Ec2Api api_;
  std::vector<std::unique_ptr<LaunchRecord>> open_records_;  ///< until finish()
  std::vector<Naming> namings_;                              ///< what finish() has to do
  bool listed_ = false;

  std::vector<FleetBatch> plan_batches(std::span<const Launch> launches);
  void run_fleets(std::vector<FleetBatch>& batches, std::vector<std::string>& surplus);
  void take_fleet_reply(FleetBatch& batch, const HttpResponse& response, std::vector<std::string>& surplus);
  void record_assignments(FleetBatch& batch, const Assignments& assignments, std::vector<std::string>& surplus) const;
  void record_moves(const std::vector<FleetBatch>& batches, std::span<const Move> moves) const;
  std::vector<NodeOutcome> await_addresses(std::vector<FleetBatch>& batches, const StartedSink& started);
  std::vector<Instance> describe_launches(const std::vector<FleetBatch>& batches) const;
  Assignments known_assignments() const;
  std::vector<Instance> own_instances(std::vector<Filters> queries) const;
  std::map<std::string, FleetError> terminate(const std::vector<std::string>& ids) const;
  std::string new_launch_id();
};

}  // namespace burst::ec2
