// SPDX-License-Identifier: Apache-2.0
// Credentials as metadata services and credential programs write them: a JSON object.
#include "auth/aws_json_credentials.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "auth/iso_time.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string first_text_of(const json& object, const std::string& key, const std::string& other) {
  auto text = text_of(object, key);
  return text.empty() ? text_of(object, other) : text;
}

}  // namespace

AwsCredentials parse_aws_json_credentials(std::string_view text, const AwsJsonRules& rules, std::string_view from) {
  const auto fail = [&](const std::string& what) { throw Error("NoCredentials", fmt::format("{}: {}", from, what)); };
  const auto object = json::parse(text, nullptr, false);
  if (!object.is_object()) fail("expected a JSON object");
  if (rules.needs_version && object.value("Version", json()) != json(1)) fail("expected \"Version\": 1");

  AwsCredentials credentials;
  credentials.access_key_id = text_of(object, "AccessKeyId");
  credentials.secret_access_key = Secret(text_of(object, "SecretAccessKey"));
  credentials.session_token = Secret(text_of(object, rules.token_key));
  if (const auto code = first_text_of(object, "Code", "code"); credentials.access_key_id.empty() && !code.empty()) {
    fail(one_line(fmt::format("{}: {}", code, first_text_of(object, "Message", "message"))));
  }
  if (credentials.access_key_id.empty()) fail("AccessKeyId is missing");
  if (credentials.secret_access_key.empty()) fail("SecretAccessKey is missing");
  if (rules.is_temporary && credentials.session_token.empty()) fail(rules.token_key + " is missing");
  const auto expiration = text_of(object, "Expiration");
  if (!expiration.empty()) {
    credentials.expires = parse_iso_time(expiration);
    if (!credentials.expires) fail(fmt::format("Expiration: expected a time, found \"{}\"", one_line(expiration)));
  } else if (rules.is_temporary) {
    fail("Expiration is missing");
  }
  return credentials;
}

}  // namespace burst::auth
