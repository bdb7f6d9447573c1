// SPDX-License-Identifier: Apache-2.0
// Calls of the Compute Engine API: authorized, limited, judged, their operations followed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/google_token.h"
#include "burst/config.h"
#include "burst/services.h"
#include "providers/gce/gce_replies.h"

namespace burst::gce {

using QueryParameters = std::vector<std::pair<std::string, std::string>>;

/// One call, before it is sent.
struct ApiCall {
  std::string method;               ///< Google's name: `instances.bulkInsert`; GET, POST or DELETE follow from it
  std::string path;                 ///< below the project: `zones/us-central1-a/instances/bulkInsert`
  QueryParameters parameters = {};  ///< requestId is added where the method changes something
  std::string body = {};            ///< JSON
};

/// What a call came to: at most one of the two is empty.
struct CallResult {
  std::optional<Operation> operation;  ///< the last that is known of it; done, unless `error` says otherwise
  /// Why it failed: of the call, or of its operation. The message names method, place and operation.
  std::optional<ApiError> error;
  bool unknown = false;  ///< no final answer came (deadline, connection): it may have taken effect, or still will

  bool ok() const { return !error; }
};

/// Compute Engine as seen by one project. Used by one thread at a time.
class GceApi {
 public:
  GceApi(std::string project, std::shared_ptr<auth::GoogleTokenSource> tokens, const Config& config,
         const Services& services);

  /// Sends calls that change something, side by side, retried as the error table says under the same requestId.
  /// Results in the order of the calls; their operations may still go on.
  std::vector<CallResult> send(const std::vector<ApiCall>& calls) const;

  /// As send(), and follows each operation to its end.
  std::vector<CallResult> run(const std::vector<ApiCall>& calls) const;

  /// Takes the body of a page of the list with that index, returns the token of the next page.
  using PageReader = std::function<std::string(std::size_t list, std::string_view body)>;

  /// All pages of lists, side by side. Throws Error with Google's code when one can't be read: `gone` lists too, but
  /// where `may_be_gone`, then as an empty one.
  void list(const std::vector<ApiCall>& lists, const PageReader& read, bool may_be_gone = false) const;

  /// One thing; nothing when it is not there. Throws Error with Google's code.
  std::optional<std::string> get(const ApiCall& call) const;

 private:
  std::string project_, endpoint_;
  std::shared_ptr<auth::GoogleTokenSource> tokens_;
  const Config& config_;
  HttpClient& http_;
  Random& random_;

  HttpCall http_call(const ApiCall& call) const;
  RequestLimit limit(const std::string& method) const;
  CallResult result_of(const ApiCall& call, const HttpResponse& response) const;
  std::optional<ApiError> failure(const HttpResponse& response) const;
  ApiError in_context(const ApiCall& call, ApiError error, const std::string& operation = {}) const;
  [[noreturn]] void fail(const ApiCall& call, const ApiError& error) const;
};

/// Where the API is: CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE as gcloud takes it (`http://127.0.0.1:80/compute/v1/`),
/// else Google's own. Ends in a slash. Throws Error{"InvalidEndpoint"}.
std::string compute_endpoint(const Environment& environment);

}  // namespace burst::gce
