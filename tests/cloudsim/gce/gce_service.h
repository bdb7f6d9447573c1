// SPDX-License-Identifier: Apache-2.0
// The simulated Compute Engine behind HTTP: which call, may it, what comes back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "gce/cloud.h"
#include "gce/google_auth.h"
#include "gce/groups.h"
#include "gce/limits.h"
#include "gce/metadata_service.h"
#include "gce/methods.h"
#include "gce/operations.h"
#include "gce/templates.h"
#include "shared_parts.h"
#include "simulated_cloud.h"

namespace cloudsim::gce {

class GceService final : public SimulatedCloud {
 public:
  GceService(const SharedParts& shared, std::uint64_t seed);

  std::string name() const override { return "gce"; }
  std::optional<HttpReply> handle(const HttpRequest& request) override;
  std::optional<nlohmann::json> control(const HttpRequest& request, const nlohmann::json& body) override;
  void set_knobs(const nlohmann::json& values) override;
  void start(const std::string& url) override;
  void reset() override;
  /// Identities of AWS are good where this says so; without it, none is.
  void set_aws_verifier(GoogleAuth::AwsVerifier verifier) { auth_.set_aws_verifier(std::move(verifier)); }

  /// Whether it bears a token that was given out here, for others who take Google's tokens.
  bool authorized(const HttpRequest& request) const { return auth_.authorized(request); }

 private:
  struct Answer;
  struct Repeatable {
    std::string method;
    std::map<std::string, std::string> parameters;
    std::string operation;  ///< key
  };
  HttpReply compute(const HttpRequest& request);
  HttpReply local(const HttpRequest& request, const std::string& action);
  std::optional<MachineMetadata> metadata_of(const std::string& name) const;
  void answer(const HttpRequest& request, Answer& out);
  nlohmann::json perform(Answer& out);
  nlohmann::json repeatable(const Answer& call);
  HttpReply render(Answer& call);
  HttpReply wait_for(const Operation& awaited, const Answer& call);

  nlohmann::json create_foreign(const nlohmann::json& body);
  nlohmann::json change_request(const std::string& group, const nlohmann::json& change);
  nlohmann::json change_instance(const std::string& name, const nlohmann::json& change);

  SharedParts shared_;
  GceKnobs knobs_;
  GceKnobs initial_knobs_;
  Cloud cloud_;
  Operations operations_;
  Templates templates_;
  Groups groups_;
  World world_;
  Limits limits_;
  GoogleAuth auth_;
  MetadataService metadata_;
  std::map<std::string, Repeatable> repeatable_;  ///< by project and requestId
};

}  // namespace cloudsim::gce
