// SPDX-License-Identifier: Apache-2.0
// The instance metadata service, version 2, for every instance and the head node; and a container credentials endpoint.
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>

#include "ec2/cloud.h"
#include "ec2/credentials.h"
#include "http_message.h"

namespace cloudsim::ec2 {

class Metadata {
 public:
  Metadata(Cloud& cloud, Credentials& credentials, std::string head_region)
      : cloud_(&cloud), credentials_(&credentials), head_region_(std::move(head_region)) {}

  /// A request below /imds/INSTANCE or /imds/head.
  HttpReply handle(const HttpRequest& request);
  HttpReply container_credentials(const HttpRequest& request);
  void clear() { tokens_.clear(); }

 private:
  struct Session {
    std::string instance;
    std::chrono::steady_clock::time_point expires;
  };
  HttpReply issue_token(const HttpRequest& request, const std::string& instance);
  bool authorized(const HttpRequest& request, const std::string& instance) const;
  std::string credentials_document(const std::string& session);

  Cloud* cloud_;
  Credentials* credentials_;
  std::string head_region_;
  std::unordered_map<std::string, Session> tokens_;
};

}  // namespace cloudsim::ec2
