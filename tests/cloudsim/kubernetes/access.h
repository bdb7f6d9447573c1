// SPDX-License-Identifier: Apache-2.0
// Who calls (client certificates and bearer tokens), and what they may do (RBAC).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "http_message.h"
#include "kubernetes/api_request.h"
#include "kubernetes/eks_token.h"
#include "kubernetes/kubernetes_knobs.h"

namespace cloudsim::kubernetes {

class Access {
 public:
  Access(const KubernetesKnobs& knobs, AwsKeys aws_keys) : knobs_(&knobs), aws_keys_(std::move(aws_keys)) {}

  /// Throws StatusError 401.
  Identity authenticate(const HttpRequest& request) const;
  bool allows(const Identity& who, const ApiRequest& request) const;
  /// Throws StatusError 403 as RBAC words it.
  void authorize(const Identity& who, const ApiRequest& request) const;

  void expire(const std::string& token) { expired_.insert(token); }  ///< from now on: 401
  void set_google_tokens(std::function<bool(const std::string&)> good) { google_ = std::move(good); }
  void reset() { expired_.clear(); }

 private:
  const User* user_named(const std::string& name) const;

  const KubernetesKnobs* knobs_;
  AwsKeys aws_keys_;
  std::function<bool(const std::string&)> google_;
  std::set<std::string> expired_;
};

}  // namespace cloudsim::kubernetes
