// SPDX-License-Identifier: Apache-2.0
// What goes wrong: errors of a whole call, and errors that an operation ends with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "gce/schema.h"

namespace cloudsim::gce {

/// An error in an operation, a resize request or a managed instance.
struct Failure {
  std::string code, message;
};

/// `{"errors": [{"code", "message"}]}`
nlohmann::json to_json(const std::vector<Failure>& failures);
/// The HTTP status that Google gives in `httpErrorStatusCode` of an operation that ended with this code.
int http_status_of(std::string_view code);
std::string_view reason_phrase(int http_status);  ///< "NOT FOUND", as in `httpErrorMessage`

/// The canonical word for an HTTP status, `status` of an error body: "NOT_FOUND".
std::string_view status_text_of(int http_status);
/// With the status text that belongs to the HTTP status.
ApiError api_error(int http_status, std::string reason, std::string message);
ApiError invalid(std::string message);
/// `resource`: "projects/p/zones/z/instances/n"
ApiError not_found(const std::string& resource);
ApiError already_exists(const std::string& resource);
/// "Invalid value for field 'resource.name': 'X'. WHY"
ApiError invalid_field(const std::string& field, const std::string& value, const std::string& why);

}  // namespace cloudsim::gce
