// SPDX-License-Identifier: Apache-2.0
// The bearer tokens of EKS: a presigned STS request that the cluster's authenticator sends on.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace cloudsim::kubernetes {

struct AwsKey {
  std::string secret, session_token, arn;
  std::chrono::system_clock::time_point expires = std::chrono::system_clock::time_point::max();
};

/// By access key id; nothing: unknown.
using AwsKeys = std::function<std::optional<AwsKey>(const std::string& access_key_id)>;

/// The ARN of the signer; nothing: not an EKS token, or a bad one (form, cluster, signature, time).
/// Source of the form: kubernetes-sigs/aws-iam-authenticator, pkg/token.
std::optional<std::string> verify_eks_token(const std::string& token, const std::string& cluster, const AwsKeys& keys,
                                            std::chrono::system_clock::time_point now);

}  // namespace cloudsim::kubernetes
