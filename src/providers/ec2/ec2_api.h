// SPDX-License-Identifier: Apache-2.0
// Calls of EC2's Query API: signed, limited, judged.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "auth/aws_credentials.h"
#include "burst/config.h"
#include "burst/services.h"
#include "providers/ec2/ec2_query.h"
#include "providers/ec2/ec2_replies.h"

namespace burst::ec2 {

/// One filter of DescribeInstances: name and values.
using Filter = std::pair<std::string, std::vector<std::string>>;
using Filters = std::vector<Filter>;

/// EC2 in one region under one profile. Used by one thread at a time.
class Ec2Api {
 public:
  Ec2Api(std::string region, const std::string& profile, std::shared_ptr<auth::AwsCredentialSource> credentials,
         const Config& config, const Services& services);

  /// A call ready to be sent: signed before each attempt, retried as the error table says, within the published
  /// request limit of its action.
  HttpCall call(const std::string& action, Parameters parameters) const;
  std::vector<HttpResponse> send(std::vector<HttpCall> calls) const;

  /// All instances of all queries, side by side, page after page, each once. Throws Error with EC2's code.
  std::vector<Instance> describe_instances(std::vector<Filters> queries) const;

  /// What was wrong with a reply of `action`; nothing when it is a whole 200.
  std::optional<ErrorReply> failure(const std::string& action, const HttpResponse& response) const;
  /// Throws Error{code, "ACTION in REGION: CODE: message (request id ID)"} for a failure.
  void require(const std::string& action, const HttpResponse& response) const;
  const std::string& region() const { return region_; }

 private:
  std::string region_, limit_prefix_, endpoint_;
  std::shared_ptr<auth::AwsCredentialSource> credentials_;
  const Config& config_;
  Clock& clock_;
  HttpClient& http_;
  Log& log_;
  mutable std::atomic<std::chrono::seconds> time_ahead_{};  ///< by which EC2's clock is ahead of ours

  /// EC2 refuses signatures of another time than its own, give or take five minutes. Where its reply shows that the
  /// clocks differ, its time counts from now on.
  bool learn_time(const HttpResponse& response) const;
  RequestLimit limit(const std::string& action) const;
};

}  // namespace burst::ec2
