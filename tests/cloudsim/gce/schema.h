// SPDX-License-Identifier: Apache-2.0
// What Compute Engine v1 lets through: paths, methods, parameters and messages as tests/data/compute-v1.json has them.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "http_message.h"

namespace cloudsim::gce {

/// Thrown: what Google answers to a call that it refuses.
struct ApiError {
  int status;
  std::string reason;       ///< of `errors[0]`: "notFound"
  std::string status_text;  ///< "NOT_FOUND"; empty: Google leaves it out
  std::string message;
};

/// The body of such an answer.
nlohmann::json error_body(const ApiError& error);

struct ApiCall {
  std::string method;  ///< as the file names it: "Instances.bulkInsert"
  /// Of path and query, decoded, each one known and of its type. Names in camelCase. `fields`, `alt` and the other
  /// parameters of all Google APIs are among them where they were sent.
  std::map<std::string, std::string> parameters;
  /// Checked against its message type. Whatever spelling came, it has Google's own: camelCase, integers of 64 bits as
  /// strings, those of 32 bits as numbers; what was null is left out. An empty object: no body.
  nlohmann::json body = nlohmann::json::object();
};

/// Throws ApiError: 404 for a path that Compute Engine has not got, 400 for its parameters and body.
ApiCall parse_call(const HttpRequest& request);

}  // namespace cloudsim::gce
