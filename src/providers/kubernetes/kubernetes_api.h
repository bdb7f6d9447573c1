// SPDX-License-Identifier: Apache-2.0
// Calls of the Kubernetes API in one namespace: authorized, limited, judged.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/kube_access.h"
#include "burst/config.h"
#include "burst/services.h"
#include "providers/kubernetes/kubernetes_errors.h"

namespace burst::kubernetes {

/// One call, before it is sent.
struct ApiCall {
  std::string method;      ///< GET, POST, PUT or DELETE
  std::string path;        ///< with the query: `/api/v1/namespaces/slurm/pods?fieldManager=slurm-burst`
  std::string body = {};   ///< JSON
  std::string about = {};  ///< for messages: `pod gpu-3`
  /// What the server is asked for before the whole object: a form with fewer fields, such as kMetadataForm.
  std::string form = {};
};

/// Of one object its metadata alone. A server that can't answers with the whole object.
/// Source: Kubernetes API Concepts, "Metadata-only fetches".
inline constexpr const char* kMetadataForm = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/// The code of a call that never left: the program's time was over, or a sink wanted no more.
inline constexpr const char* kNotSent = "NotSent";

/// What a list is to hold of each object.
enum class ListOf { objects, metadata };

/// What a call came to: the reply's body, or an error.
struct CallResult {
  std::string body;
  std::optional<ApiError> error;
  bool sent = true;      ///< false: it never left, for want of time or because a sink wanted no more
  bool unknown = false;  ///< no final answer came (deadline, connection): it may have taken effect

  bool ok() const { return !error; }
};

/// An API server as seen by one namespace of it. Used by one thread at a time.
class KubernetesApi {
 public:
  KubernetesApi(std::shared_ptr<auth::KubeAccess> access, std::string name_space, int in_flight, const Config& config,
                const Services& services);

  const std::string& name_space() const;
  /// `/api/v1/namespaces/NS/pods`, with `/name` where one is given.
  std::string pods_path(std::string_view name = {}) const;

  /// Looks at a result as soon as it is there, on the sending thread; false: nothing more is to be sent, or sent again.
  /// Calls that were not sent have the error `NotSent`, and are not shown.
  using ResultSink = std::function<bool(std::size_t call, const CallResult& result)>;

  /// Sends calls side by side, no more than `in_flight` at once, repeated as the error table says; results in the
  /// calls' order. Throws what the credentials' source does.
  std::vector<CallResult> send(const std::vector<ApiCall>& calls, const ResultSink& sink = {}) const;

  /// All pages of a list, each given to `read`, which returns the continue token; begins anew when the server forgot
  /// it (410), and calls `restart` before. `path` has a query. Throws Error with the code of the error table.
  void list(const std::string& path, ListOf what, const std::function<std::string(std::string_view body)>& read,
            const std::function<void()>& restart) const;

 private:
  std::shared_ptr<auth::KubeAccess> access_;
  std::string name_space_;
  int in_flight_;
  const Config& config_;
  HttpClient& http_;

  HttpCall http_call(const ApiCall& call) const;
  RequestLimit limit(const ApiCall& call) const;
  CallResult result_of(const ApiCall& call, const HttpResponse& response) const;
};

}  // namespace burst::kubernetes
