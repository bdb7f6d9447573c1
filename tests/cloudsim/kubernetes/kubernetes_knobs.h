// SPDX-License-Identifier: Apache-2.0
// Settings that a test turns: those of Kubernetes, under the key `kubernetes`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "event_loop.h"

namespace cloudsim::kubernetes {

/// What becomes of the pods that it fits, in place of running.
struct PodRule {
  std::string name = "*";  ///< `*` at its end: whatever begins so
  nlohmann::json labels = nlohmann::json::object();
  std::string outcome;
  std::string message;      ///< empty: the usual one
  std::int64_t count = -1;  ///< so many pods; negative: all
};

struct AccessRule {
  std::vector<std::string> groups, resources, verbs, namespaces;  ///< `*`: every
};

struct User {
  std::string name;  ///< or a group's
  std::string token;
  std::vector<std::string> groups;
  std::vector<AccessRule> rules;
};

/// A validating webhook that refuses, or can't be reached.
struct Webhook {
  std::string name, message;
  std::string resource = "pods", operation = "create";
  nlohmann::json labels = nlohmann::json::object();
  int code = 403;
  bool unreachable = false;
};

struct KubernetesKnobs {
  std::string version = "1.31";
  Millis schedule{0};               ///< until the scheduler looks at a pod
  Millis scale_up{0};               ///< until a new node is there; 0: it is there already
  Millis pull{0};                   ///< of the image
  std::optional<Millis> start;      ///< until its containers run; nothing: the shared knob `boot_ms`
  std::optional<Millis> terminate;  ///< until a deleted pod is gone; nothing: `terminate_ms`
  Millis pod_gc{0};                 ///< from the loss of a node until its pods are gone; negative: never
  Millis operator_delay{0};         ///< until soperator acts on a NodeSetPowerState
  Millis bookmark{60'000};          ///< between two bookmarks of a watch
  std::int64_t page = 0;            ///< pages are never larger; 0: as the client wishes
  bool kubelet = true;              ///< false: nothing happens to pods but what the API is told
  std::string first_address = "127.20.0.1";
  std::string eks_cluster = "cloudsim";
  std::vector<std::string> google_tokens;
  std::vector<PodRule> pods;
  std::vector<User> users;
  std::vector<Webhook> webhooks;
  std::vector<std::pair<std::string, nlohmann::json>> namespaces;  ///< name and labels

  KubernetesKnobs();
  /// Sets one key. Throws std::invalid_argument or nlohmann::json::exception.
  void set(const std::string& key, const nlohmann::json& value);
};

constexpr const char* kAdminToken = "cloudsim-admin-token";
constexpr const char* kAwsGroup = "cloudsim:aws";        ///< whoever comes with an EKS token
constexpr const char* kGoogleGroup = "cloudsim:google";  ///< whoever comes with a token of Google
constexpr const char* kReaderToken = "cloudsim-reader-token";
constexpr const char* kBurstToken = "cloudsim-burst-token";

}  // namespace cloudsim::kubernetes
