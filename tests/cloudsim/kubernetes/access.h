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
  /// Whether a request bears a token that Google gave out; without one, only the knob's tokens are.
  void set_google_verifier(std::function<bool(const HttpRequest&)> good) { google_ = std::move(good); }
  void reset() { expired_.clear(); }

 private:
  const KubernetesKnobs* knobs_;
  AwsKeys aws_keys_;
  std::function<bool(const HttpRequest&)> google_;
  std::set<std::string> expired_;
};

}  // namespace cloudsim::kubernetes
