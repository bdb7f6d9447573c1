// SPDX-License-Identifier: Apache-2.0
// Tokens for Amazon EKS, made of AWS credentials.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "auth/aws_credentials.h"
#include "auth/kube_credentials.h"

namespace burst::auth {

struct EksTokenSettings {
  std::string cluster;   ///< the cluster's name in EKS
  std::string region;    ///< empty: of the server's name, AWS_REGION, AWS_DEFAULT_REGION, the profile
  std::string profile;   ///< empty: as for EC2
  std::string role_arn;  ///< a role to take on first; empty: none
};

/// A request that the API server's authenticator sends to STS to learn who we are: `k8s-aws-v1.` and a presigned URL of
/// GetCallerIdentity. `endpoint`: `https://sts.us-east-1.amazonaws.com/`. It is good for 15 minutes, as long as
/// `credentials` are. Source of the format: the README of aws-iam-authenticator, "API Authorization from Outside a
/// Cluster".
Secret make_eks_token(const EksTokenSettings& settings, const std::string& endpoint, const AwsCredentials& credentials,
                      std::chrono::sys_seconds now);

/// The region in the name of an EKS API server (`ID.gr7.eu-north-1.eks.amazonaws.com`); empty when there is none.
std::string eks_region_of_server(std::string_view server);

/// Makes a token every 14 minutes. Throws Error{"InvalidConfig"} when no region is to be found.
std::shared_ptr<KubeCredentialSource> make_eks_credential_source(EksTokenSettings settings, const std::string& server,
                                                                 const Services& services);

}  // namespace burst::auth
