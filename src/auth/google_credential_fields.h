// SPDX-License-Identifier: Apache-2.0
// Reading the fields of a Google credentials file, with errors that say which.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace burst::auth {

/// Which plain http URLs a field may name beside https ones.
enum class PlainHttp {
  this_machine,    ///< loopback: tests and local proxies
  metadata_server  ///< link-local addresses too
};

/// A view of one JSON object of a credentials file; the document outlives it. Everything throws Error{"NoCredentials",
/// `credentials file "PATH": FIELD: expected ...`}; values are never shown, as any may be a secret in the wrong place.
class GoogleCredentialFields {
 public:
  GoogleCredentialFields(const nlohmann::json& object, std::string file) : object_(object), file_(std::move(file)) {}

  const std::string& file() const { return file_; }  ///< `credentials file "PATH"`
  bool has(const std::string& key) const;            ///< there, and neither null nor an empty string
  std::string text(const std::string& key) const;    ///< not empty
  std::string text_or(const std::string& key, const std::string& otherwise) const;
  std::string url(const std::string& key, PlainHttp plain = PlainHttp::this_machine) const;
  /// Throws for a `url` that is not fit to stand in `key`.
  void check_url(const std::string& key, const std::string& url, PlainHttp plain = PlainHttp::this_machine) const;
  std::vector<std::string> texts(const std::string& key) const;  ///< a list; empty when absent
  /// The members of an object whose values are strings; empty when absent.
  std::vector<std::pair<std::string, std::string>> members(const std::string& key) const;
  std::optional<long> number(const std::string& key) const;
  GoogleCredentialFields object(const std::string& key) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& why) const;

 private:
  const nlohmann::json& object_;
  std::string file_;
  std::string prefix_;  ///< `source_credentials.`
};

}  // namespace burst::auth
