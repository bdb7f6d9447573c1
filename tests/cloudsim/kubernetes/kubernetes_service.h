// SPDX-License-Identifier: Apache-2.0
// The simulated Kubernetes API server behind TLS: who calls, may they, what is done, what comes back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>

#include <nlohmann/json.hpp>

#include "kubernetes/access.h"
#include "kubernetes/kubernetes_knobs.h"
#include "kubernetes/list_api.h"
#include "kubernetes/node_set_operator.h"
#include "kubernetes/object_api.h"
#include "kubernetes/object_store.h"
#include "kubernetes/pod_life.h"
#include "server.h"
#include "shared_parts.h"
#include "simulated_cloud.h"
#include "tls.h"

namespace cloudsim::kubernetes {

class KubernetesService final : public SimulatedCloud {
 public:
  KubernetesService(const SharedParts& shared, std::uint64_t seed, AwsKeys aws_keys);

  /// Listens for TLS. Port 0 takes a free one; it is returned.
  std::uint16_t listen(const std::string& address, std::uint16_t port);
  Access& access() { return access_; }

  std::string name() const override { return "kubernetes"; }
  /// Nothing: all of the API is behind TLS.
  std::optional<HttpReply> handle(const HttpRequest& request) override;
  std::optional<nlohmann::json> control(const HttpRequest& request, const nlohmann::json& body) override;
  void set_knobs(const nlohmann::json& values) override;
  void start(const std::string& url) override;
  void reset() override;

 private:
  struct Call;
  HttpReply serve(const HttpRequest& request);
  void answer(const HttpRequest& request, Call& call);
  void strike(const Fault& fault);
  void admit_by_bucket(const std::string& action);
  HttpReply perform(const Identity& who, const HttpRequest& http, const Call& call);
  HttpReply review(const Identity& who, const ApiRequest& request) const;
  void add_namespaces();
  std::string kubeconfig(const std::map<std::string, std::string>& query) const;
  nlohmann::json credentials() const;
  nlohmann::json change_pod(const std::string& path, const nlohmann::json& body);
  nlohmann::json pods_json() const;
  nlohmann::json objects_json(const std::string& plural) const;
  void remember(const Change& change);

  SharedParts shared_;
  KubernetesKnobs knobs_;
  KubernetesKnobs initial_knobs_;
  std::mt19937_64 random_;
  CertificateAuthority authority_;
  TlsContext tls_;
  Certificate admin_;
  ObjectStore store_;
  PodLife life_;
  ObjectApi api_;
  Watches watches_;
  NodeSetOperator operator_;
  Access access_;
  std::map<std::string, TokenBucket> buckets_;
  std::map<std::string, nlohmann::json> gone_;  ///< pods that were, by uid
  std::string url_;
  Server server_;
};

}  // namespace cloudsim::kubernetes
