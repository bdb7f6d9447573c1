// SPDX-License-Identifier: Apache-2.0
// Tokens for Amazon EKS, made of AWS credentials.
#include "auth/kube_eks_token.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "auth/aws_endpoint.h"
#include "auth/aws_profile_file.h"
#include "auth/aws_sigv4.h"
#include "auth/aws_sts.h"
#include "auth/google_base64.h"
#include "auth/url_parts.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using std::chrono::seconds;

constexpr seconds kRenewal = std::chrono::minutes(14);
constexpr seconds kLife = kRenewal + seconds(30);  // the authenticator takes it for 15 minutes
constexpr seconds kMargin{60};                     // before the AWS credentials in it end

std::string find_region(const EksTokenSettings& settings, const std::string& server, const Services& services) {
  if (!settings.region.empty()) return settings.region;
  if (auto region = eks_region_of_server(server); !region.empty()) return region;
  for (const auto* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (auto region = services.environment.get(name).value_or(""); !region.empty()) return region;
  }
  if (auto region = aws_profile_region(settings.profile, services); !region.empty()) return region;
  throw Error("InvalidConfig",
              fmt::format("EKS cluster \"{}\": no region: neither configured, nor in the server's name, AWS_REGION, "
                          "AWS_DEFAULT_REGION or the profile",
                          one_line(settings.cluster)));
}

}  // namespace

std::string eks_region_of_server(std::string_view server) {
  const auto parts = split_url(server);
  if (!parts) return {};
  const std::string_view host = parts->host;
  const auto end = host.find(".eks.amazonaws.com");
  if (end == std::string_view::npos || end == 0) return {};
  const auto dot = host.rfind('.', end - 1);
  return std::string(dot == std::string_view::npos ? "" : host.substr(dot + 1, end - dot - 1));
}

Secret make_eks_token(const EksTokenSettings& settings, const std::string& endpoint, const AwsCredentials& credentials,
                      std::chrono::sys_seconds now) {
  static constexpr seconds kUrlLife{60};  // what kubectl's plugins say; the authenticator has its own limit
  HttpRequest request;
  request.url = endpoint + "?Action=GetCallerIdentity&Version=2011-06-15";
  request.headers = {{"x-k8s-aws-id", settings.cluster}};
  return Secret("k8s-aws-v1." +
                base64_url(presign_aws_url(request, credentials, {settings.region, "sts"}, now, kUrlLife)));
}

std::shared_ptr<KubeCredentialSource> make_eks_credential_source(EksTokenSettings settings, const std::string& server,
                                                                 const Services& services) {
  settings.region = find_region(settings, server, services);
  const auto endpoint = aws_endpoint("sts", settings.region, services.environment);
  const std::shared_ptr<AwsCredentialSource> source =
      make_aws_credential_source({settings.profile, settings.region}, services);
  const auto fetch = [settings, endpoint, source, services](bool after_rejection) {
    if (after_rejection) source->expire();
    auto credentials = source->get();
    if (!settings.role_arn.empty()) {
      credentials = assume_role({settings.role_arn, "", "", {}}, credentials, settings.region, services);
    }
    const auto now = std::chrono::floor<seconds>(services.clock.now());
    FetchedKubeCredential fetched;
    fetched.credential.token = make_eks_token(settings, endpoint, credentials, now);
    fetched.renew = now + kRenewal;
    fetched.expires = now + kLife;
    if (credentials.expires) {
      fetched.renew = std::min(*fetched.renew, *credentials.expires - kMargin);
      fetched.expires = std::min(*fetched.expires, *credentials.expires);
    }
    return fetched;
  };
  return cache_kube_credential(fetch, fmt::format("EKS cluster \"{}\"", one_line(settings.cluster)), services.clock,
                               services.log);
}

}  // namespace burst::auth
