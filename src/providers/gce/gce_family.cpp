// SPDX-License-Identifier: Apache-2.0
// All Compute Engine node groups of a configuration: what they share.
#include "providers/gce/gce_family.h"

#include <map>
#include <utility>

#include "auth/google_token.h"
#include "providers/gce/gce_provider.h"

namespace burst::gce {
namespace {

class GceFamily : public ProviderFamily {
 public:
  explicit GceFamily(ProviderContext context) : context_(std::move(context)) {}

  std::unique_ptr<Provider> provider(const NodeGroup& group) override {
    const GroupSettings settings = parse_settings(context_.config, group);
    auto& tokens = tokens_[{settings.credentials_file, settings.impersonate_service_account}];
    if (!tokens) {
      tokens = auth::make_google_token_source({settings.credentials_file, settings.impersonate_service_account},
                                              context_.services);
    }
    return std::make_unique<GceProvider>(context_, group, tokens);
  }

 private:
  ProviderContext context_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<auth::GoogleTokenSource>> tokens_;
};

}  // namespace

std::unique_ptr<ProviderFamily> make_family(const ProviderContext& context) {
  return std::make_unique<GceFamily>(context);
}

}  // namespace burst::gce
