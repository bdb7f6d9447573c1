// SPDX-License-Identifier: Apache-2.0
// All EC2 node groups of a configuration: what they share.
#include "providers/ec2/ec2_family.h"

#include <map>
#include <utility>

#include "auth/aws_credentials.h"
#include "providers/ec2/ec2_provider.h"

namespace burst::ec2 {
namespace {

class Ec2Family : public ProviderFamily {
 public:
  explicit Ec2Family(ProviderContext context) : context_(std::move(context)) {}

  std::unique_ptr<Provider> provider(const NodeGroup& group) override {
    const GroupSettings settings = parse_settings(context_.config, group);
    auto& source = credentials_[{settings.profile, settings.region}];
    if (!source) source = auth::make_aws_credential_source({settings.profile, settings.region}, context_.services);
    return std::make_unique<Ec2Provider>(context_, group, source);
  }

 private:
  ProviderContext context_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<auth::AwsCredentialSource>> credentials_;
};

}  // namespace

std::unique_ptr<ProviderFamily> make_family(const ProviderContext& context) {
  return std::make_unique<Ec2Family>(context);
}

}  // namespace burst::ec2
