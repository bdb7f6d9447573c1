// SPDX-License-Identifier: Apache-2.0
// The part of STS that gives out and explains credentials.
#include <fmt/format.h>

#include "ec2/actions.h"

namespace cloudsim::ec2 {

namespace {

/// The name in `arn:aws:iam::123456789012:role/path/name`.
std::string role_name(const std::string& arn) {
  const auto role = arn.find(":role/");
  if (!arn.starts_with("arn:") || role == std::string::npos) {
    throw ApiError("ValidationError", arn + " is invalid");
  }
  return arn.substr(arn.rfind('/') + 1);
}

std::string assumed(const Call& call) {
  const auto session = call.parameters.required("RoleSessionName");
  const auto role = role_name(call.parameters.required("RoleArn"));
  const auto seconds = call.parameters.integer("DurationSeconds", 900, 43200);
  const auto lifetime = seconds ? Millis{*seconds * 1000} : call.cloud.ec2_knobs().credential_lifetime;
  const auto arn = fmt::format("arn:aws:sts::{}:assumed-role/{}/{}", call.cloud.ec2_knobs().account, role, session);
  const auto user_id = "AROACLOUDSIM:" + session;
  const auto& key = call.credentials.issue(arn, user_id, lifetime, std::chrono::system_clock::now());
  XmlWriter xml;
  xml.element("Credentials", [&] {
    xml.text("AccessKeyId", key.access_key_id);
    xml.text("SecretAccessKey", key.secret_access_key);
    xml.text("SessionToken", key.session_token);
    xml.text("Expiration", iso_time(key.expires));
  });
  xml.element("AssumedRoleUser", [&] {
    xml.text("AssumedRoleId", user_id);
    xml.text("Arn", arn);
  });
  return xml.take();
}

}  // namespace

std::string assume_role(const Call& call) { return assumed(call); }

std::string assume_role_with_web_identity(const Call& call) {
  const auto token = call.parameters.required("WebIdentityToken");
  if (token.size() < 4) {
    throw ApiError("InvalidIdentityToken", "The ID Token provided is not a valid JWT.");
  }
  return assumed(call) + "<SubjectFromWebIdentityToken>cloudsim</SubjectFromWebIdentityToken>";
}

std::string get_caller_identity(const Call& call) {
  XmlWriter xml;
  xml.text("Arn", call.caller.arn);
  xml.text("UserId", call.caller.user_id);
  xml.text("Account", call.cloud.ec2_knobs().account);
  return xml.take();
}

}  // namespace cloudsim::ec2
