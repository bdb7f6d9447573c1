// SPDX-License-Identifier: Apache-2.0
// Credentials as a profile of AWS's shared files describes them.
#include "auth/aws_profile_credentials.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "auth/aws_container_credentials.h"
#include "auth/aws_credential_process.h"
#include "auth/aws_imds.h"
#include "auth/aws_sts.h"
#include "auth/iso_time.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

/// Nothing when the key is absent; as botocore does, an empty value counts as one.
std::optional<std::string> value_of(const AwsProfile& profile, std::string_view key) {
  const auto found = profile.find(key);
  return found == profile.end() ? std::nullopt : std::optional(found->second);
}

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw Error("NoCredentials", fmt::format("profile \"{}\": {}", one_line(name), what));
}

bool has_role(const AwsProfile& profile) {
  return profile.contains("role_arn") && !profile.contains("web_identity_token_file");
}

bool has_static_keys(const AwsProfile& profile) {
  return profile.contains("aws_access_key_id") || profile.contains("aws_secret_access_key");
}

std::optional<AwsCredentials> static_keys(const AwsProfileMap& profiles, const std::string& name,
                                          const std::string& path) {
  const auto found = profiles.find(name);
  if (found == profiles.end()) return std::nullopt;
  const auto id = value_of(found->second, "aws_access_key_id");
  if (!id) return std::nullopt;
  const auto secret = value_of(found->second, "aws_secret_access_key");
  if (!secret) fail(name, fmt::format("aws_access_key_id without aws_secret_access_key in \"{}\"", path));
  auto token = value_of(found->second, "aws_security_token");
  if (!token) token = value_of(found->second, "aws_session_token");
  return AwsCredentials{*id, Secret(*secret), Secret(token.value_or("")), std::nullopt};
}

AwsRole role_of(const AwsProfile& profile) {
  AwsRole role;
  role.arn = value_of(profile, "role_arn").value_or("");
  role.session_name = value_of(profile, "role_session_name").value_or("");
  role.external_id = value_of(profile, "external_id").value_or("");
  const auto duration = value_of(profile, "duration_seconds").value_or("");
  int seconds = 0;
  const auto [end, failure] = std::from_chars(duration.data(), duration.data() + duration.size(), seconds);
  if (failure == std::errc{} && end == duration.data() + duration.size()) role.duration_seconds = seconds;
  return role;
}

}  // namespace

std::optional<AwsCredentials> environment_credentials(const Environment& environment) {
  const auto text = [&](std::string_view name) { return environment.get(name).value_or(""); };
  AwsCredentials credentials;
  credentials.access_key_id = text("AWS_ACCESS_KEY_ID");
  if (credentials.access_key_id.empty()) return std::nullopt;
  credentials.secret_access_key = Secret(text("AWS_SECRET_ACCESS_KEY"));
  if (credentials.secret_access_key.empty()) {
    throw Error("NoCredentials", "environment: AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY");
  }
  credentials.session_token = Secret(text("AWS_SECURITY_TOKEN"));
  if (credentials.session_token.empty()) credentials.session_token = Secret(text("AWS_SESSION_TOKEN"));
  if (const auto expiration = text("AWS_CREDENTIAL_EXPIRATION"); !expiration.empty()) {
    credentials.expires = parse_iso_time(expiration);
    if (!credentials.expires) {
      throw Error("NoCredentials", fmt::format("environment: AWS_CREDENTIAL_EXPIRATION: expected a time, found \"{}\"",
                                               one_line(expiration)));
    }
  }
  return credentials;
}

const AwsProfile& AwsProfileSearch::profile(const std::string& name) const {
  static const AwsProfile kNone;
  const auto found = profiles_.merged.find(name);
  return found == profiles_.merged.end() ? kNone : found->second;
}

std::optional<AwsCredentials> AwsProfileSearch::find(const std::string& name, bool use_environment) {
  visited_ = {name};
  if (has_role(profile(name))) return by_role(name);
  return by_own_keys(name, use_environment);
}

std::optional<AwsCredentials> AwsProfileSearch::by_own_keys(const std::string& name, bool use_environment) {
  if (auto found = by_web_identity(name, use_environment)) return found;
  const auto& values = profile(name);
  if (values.contains("sso_role_name") || values.contains("sso_account_id")) {
    fail(name,
         "sso_role_name and sso_account_id (IAM Identity Center) are not supported; a role_arn or a "
         "credential_process is");
  }
  if (auto found = static_keys(profiles_.credentials, name, profiles_.credentials_path)) return found;
  if (const auto command = value_of(values, "credential_process")) {
    return run_credential_process(*command, name, services_.processes);
  }
  return static_keys(profiles_.config, name, profiles_.config_path);
}

std::optional<AwsCredentials> AwsProfileSearch::by_web_identity(const std::string& name, bool use_environment) {
  const auto& values = profile(name);
  const auto setting = [&](std::string_view variable, std::string_view key) {
    auto value = use_environment ? services_.environment.get(variable) : std::nullopt;
    return value ? *value : value_of(values, key).value_or("");
  };
  const auto token_file = setting("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file");
  if (token_file.empty()) return std::nullopt;
  AwsRole role;
  role.arn = setting("AWS_ROLE_ARN", "role_arn");
  role.session_name = setting("AWS_ROLE_SESSION_NAME", "role_session_name");
  if (role.arn.empty()) {
    throw Error("NoCredentials",
                fmt::format("web identity token file \"{}\" without AWS_ROLE_ARN or role_arn", one_line(token_file)));
  }
  return assume_role_with_web_identity(role, token_file, region_, services_);
}

AwsCredentials AwsProfileSearch::by_role(const std::string& name) {
  const auto& values = profile(name);
  if (values.contains("mfa_serial")) {
    fail(name, "mfa_serial is not supported: nobody is there to type the code");
  }
  const auto source = source_of(name);
  return assume_role(role_of(values), source, region_, services_);
}

AwsCredentials AwsProfileSearch::source_of(const std::string& name) {
  const auto& values = profile(name);
  const auto source_profile = value_of(values, "source_profile");
  const auto credential_source = value_of(values, "credential_source");
  if (source_profile && credential_source) fail(name, "both source_profile and credential_source are given");
  if (source_profile) return from_source_profile(name, *source_profile);
  if (credential_source) return from_credential_source(name, *credential_source);
  fail(name, "role_arn without source_profile or credential_source");
}

AwsCredentials AwsProfileSearch::from_source_profile(const std::string& name, const std::string& source) {
  if (!profiles_.merged.contains(source))
    fail(name, fmt::format("there is no source_profile \"{}\"", one_line(source)));
  const auto& values = profile(source);
  // A profile may name itself when its own static keys are meant.
  const bool itself = source == name && has_static_keys(values);
  if (!itself && std::ranges::find(visited_, source) != visited_.end()) {
    fail(name, fmt::format("source_profile \"{}\" closes a circle", one_line(source)));
  }
  visited_.push_back(source);
  if (has_role(values) && !has_static_keys(values)) return by_role(source);
  if (auto found = by_own_keys(source, false)) return *std::move(found);
  fail(name, fmt::format("source_profile \"{}\" has no credentials", one_line(source)));
}

AwsCredentials AwsProfileSearch::from_credential_source(const std::string& name, const std::string& source) {
  std::optional<AwsCredentials> found;
  std::string note = "nothing found";
  if (source == "Environment") {
    found = environment_credentials(services_.environment);
  } else if (source == "EcsContainer") {
    found = fetch_container_credentials(services_);
  } else if (source == "Ec2InstanceMetadata") {
    found = fetch_imds_credentials(services_, note);
  } else {
    fail(name, fmt::format("credential_source: expected Environment, Ec2InstanceMetadata or EcsContainer, found \"{}\"",
                           one_line(source)));
  }
  if (!found) fail(name, fmt::format("credential_source {}: {}", source, note));
  return *std::move(found);
}

}  // namespace burst::auth
