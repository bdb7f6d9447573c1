// SPDX-License-Identifier: Apache-2.0
// The simulated EC2, STS and metadata service behind HTTP: who calls, may they, which action, what comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "ec2/actions.h"
#include "ec2/cloud.h"
#include "ec2/credentials.h"
#include "ec2/metadata.h"
#include "shared_parts.h"
#include "simulated_cloud.h"

namespace cloudsim::ec2 {

class Ec2Service final : public SimulatedCloud {
 public:
  Ec2Service(const SharedParts& shared, const std::string& head_region, std::uint64_t seed);

  std::string name() const override { return "ec2"; }
  std::optional<HttpReply> handle(const HttpRequest& request) override;
  std::optional<nlohmann::json> control(const HttpRequest& request, const nlohmann::json& body) override;
  void set_knobs(const nlohmann::json& values) override;
  void start(const std::string& url) override;
  void reset() override;
  /// A key that is good now, for others who check signatures.
  std::optional<TemporaryKey> find_key(const std::string& access_key_id) const {
    return credentials_.find(access_key_id);
  }

  /// Whether a request to STS, whoever brings it, bears a good signature of a key that is known here.
  bool is_signed(const HttpRequest& request) const;

 private:
  struct Answer;
  HttpReply query(const HttpRequest& request);
  HttpReply metadata(const HttpRequest& request);
  void answer(const HttpRequest& request, Answer& out);
  std::string perform(const Caller& caller, Answer& out);
  nlohmann::json instances_json() const;
  nlohmann::json create_foreign(const nlohmann::json& body);
  nlohmann::json change_instance(const std::string& id, const nlohmann::json& change);

  SharedParts shared_;
  Ec2Knobs knobs_;
  Ec2Knobs initial_knobs_;
  Cloud cloud_;
  Credentials credentials_;
  Metadata metadata_;
};

}  // namespace cloudsim::ec2
