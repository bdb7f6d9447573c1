// SPDX-License-Identifier: Apache-2.0
// Tokens for Google Kubernetes Engine: Google's access tokens.
#include "auth/kube_gke_token.h"

#include <utility>

namespace burst::auth {
namespace {

class GkeCredential : public KubeCredentialSource {
 public:
  explicit GkeCredential(std::shared_ptr<GoogleTokenSource> tokens) : tokens_(std::move(tokens)) {}
  KubeCredentialPointer get() override {
    return std::make_shared<const KubeCredential>(KubeCredential{tokens_->token(), "", {}});
  }
  bool rejected(const KubeCredential& credential) override {
    tokens_->rejected(credential.token);
    return true;
  }

 private:
  std::shared_ptr<GoogleTokenSource> tokens_;
};

}  // namespace

std::shared_ptr<KubeCredentialSource> make_gke_credential_source(const GoogleCredentialOptions& options,
                                                                 const Services& services) {
  return std::make_shared<GkeCredential>(make_google_token_source(options, services));
}

}  // namespace burst::auth
