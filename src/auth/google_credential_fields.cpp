// SPDX-License-Identifier: Apache-2.0
// Reading the fields of a Google credentials file, with errors that say which.
#include "auth/google_credential_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/url_parts.h"
#include "burst/error.h"

namespace burst::auth {
namespace {

bool is_address(const std::string& host, std::string_view prefix) {
  return host.starts_with(prefix) && host.find_first_not_of("0123456789.") == std::string::npos;
}

bool may_be_plain(const std::string& host, PlainHttp plain) {
  if (host == "localhost" || host == "::1" || is_address(host, "127.")) return true;
  return plain == PlainHttp::metadata_server &&
         (is_address(host, "169.254.") || host == "metadata.google.internal" || host == "fd00:ec2::254");
}

}  // namespace

void GoogleCredentialFields::refuse(const std::string& key, const std::string& why) const {
  throw Error("NoCredentials", fmt::format("{}: {}{}: {}", file_, prefix_, key, why));
}

bool GoogleCredentialFields::has(const std::string& key) const {
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null() && *found != "";
}

std::string GoogleCredentialFields::text(const std::string& key) const {
  if (!has(key)) refuse(key, "expected a string, it is missing or empty");
  return text_or(key, "");
}

std::string GoogleCredentialFields::text_or(const std::string& key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  const auto& value = object_.at(key);
  if (!value.is_string()) refuse(key, fmt::format("expected a string, found a value of type {}", value.type_name()));
  return value.get<std::string>();
}

void GoogleCredentialFields::check_url(const std::string& key, const std::string& url, PlainHttp plain) const {
  const auto parts = split_url(url);
  const bool fits = url.find_first_of(" \t\r\n") == std::string::npos;
  if (!parts || !fits) refuse(key, "expected an https URL");
  if (parts->scheme != "https" && !may_be_plain(parts->host, plain)) {
    refuse(key, plain == PlainHttp::metadata_server
                    ? "expected an https URL: plain http is for this machine and link-local addresses"
                    : "expected an https URL: plain http is for this machine");
  }
}

std::string GoogleCredentialFields::url(const std::string& key, PlainHttp plain) const {
  auto url = text(key);
  check_url(key, url, plain);
  return url;
}

std::vector<std::string> GoogleCredentialFields::texts(const std::string& key) const {
  std::vector<std::string> texts;
  if (!has(key)) return texts;
  const auto& list = object_.at(key);
  if (!list.is_array()) refuse(key, "expected a list of strings");
  for (const auto& value : list) {
    if (!value.is_string()) refuse(key, "expected a list of strings");
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

std::vector<std::pair<std::string, std::string>> GoogleCredentialFields::members(const std::string& key) const {
  std::vector<std::pair<std::string, std::string>> members;
  if (!has(key)) return members;
  const auto& object = object_.at(key);
  if (!object.is_object()) refuse(key, "expected an object of strings");
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string()) refuse(key, "expected an object of strings");
    members.emplace_back(name, value.get<std::string>());
  }
  return members;
}

std::optional<long> GoogleCredentialFields::number(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const auto& value = object_.at(key);
  if (!value.is_number_integer()) refuse(key, "expected an integer");
  return value.get<long>();
}

GoogleCredentialFields GoogleCredentialFields::object(const std::string& key) const {
  if (!has(key)) refuse(key, "expected an object, it is missing");
  const auto& value = object_.at(key);
  if (!value.is_object()) refuse(key, "expected an object");
  GoogleCredentialFields fields(value, file_);
  fields.prefix_ = prefix_ + key + ".";
  return fields;
}

}  // namespace burst::auth
