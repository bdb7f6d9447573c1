// SPDX-License-Identifier: Apache-2.0
// Answers of a Kubernetes API server that are errors, as metav1.Status and in its words.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cloudsim::kubernetes {

struct ResourceType;

struct Cause {
  std::string reason, message, field;
};

class StatusError : public std::runtime_error {
 public:
  StatusError(int code, std::string reason, const std::string& message,
              nlohmann::json details = nlohmann::json::object());
  int code() const { return code_; }
  const std::string& reason() const { return reason_; }
  int retry_after() const;      ///< seconds; 0: no such header
  nlohmann::json json() const;  ///< the Status object
  nlohmann::json details;
  nlohmann::json metadata = nlohmann::json::object();

 private:
  int code_;
  std::string reason_;
};

StatusError bad_request(const std::string& message);
StatusError unauthorized();
/// `what` is the rest of: pods "x" is forbidden: ...
StatusError forbidden(const ResourceType& type, const std::string& name, const std::string& what);
StatusError not_found(const ResourceType& type, const std::string& name);
StatusError path_not_found();  ///< no such resource: "the server could not find the requested resource"
StatusError method_not_allowed();
StatusError already_exists(const ResourceType& type, const std::string& name, bool terminating);
StatusError conflict(const ResourceType& type, const std::string& name, const std::string& why);
StatusError changed_meanwhile(const ResourceType& type, const std::string& name);
StatusError invalid(const ResourceType& type, const std::string& name, const std::vector<Cause>& causes);
StatusError expired(const std::string& message);
StatusError too_large_version(std::uint64_t wanted, std::uint64_t current);
StatusError internal_error(const std::string& message);

/// `Success`, as deletes of namespaces and evictions answer.
nlohmann::json success_status();

/// Sorts the causes of field checks: `field` is the path, the rest in the words of apimachinery's field errors.
Cause required(const std::string& field, const std::string& detail = "");
Cause invalid_value(const std::string& field, const nlohmann::json& value, const std::string& detail);
Cause not_supported(const std::string& field, const std::string& value, const std::vector<std::string>& supported);
Cause forbidden_field(const std::string& field, const std::string& detail);
Cause duplicate(const std::string& field, const std::string& value);
Cause missing_reference(const std::string& field, const std::string& value);

}  // namespace cloudsim::kubernetes
