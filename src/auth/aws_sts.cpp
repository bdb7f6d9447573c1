// SPDX-License-Identifier: Apache-2.0
// Taking on a role: AWS Security Token Service.
#include "auth/aws_sts.h"

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "auth/aws_endpoint.h"
#include "auth/aws_sigv4.h"
#include "auth/iso_time.h"
#include "auth/percent_encoding.h"
#include "burst/error.h"
#include "burst/text.h"

namespace burst::auth {
namespace {

constexpr int kOk = 200;
using Form = std::vector<std::pair<std::string, std::string>>;

std::string encode(const Form& form) {
  std::string text;
  for (const auto& [name, value] : form) {
    if (!text.empty()) text += '&';
    text += name + "=" + percent_encode(value);
  }
  return text;
}

std::chrono::sys_seconds seconds_of(Clock& clock) { return std::chrono::floor<std::chrono::seconds>(clock.now()); }

Form form_of(std::string_view action, const AwsRole& role, Clock& clock) {
  Form form{{"Action", std::string(action)}, {"Version", "2011-06-15"}, {"RoleArn", role.arn}};
  form.emplace_back("RoleSessionName", role.session_name.empty()
                                           ? fmt::format("slurm-burst-{}", seconds_of(clock).time_since_epoch().count())
                                           : role.session_name);
  if (!role.external_id.empty()) form.emplace_back("ExternalId", role.external_id);
  if (role.duration_seconds) form.emplace_back("DurationSeconds", std::to_string(*role.duration_seconds));
  return form;
}

struct Refusal {
  std::string code, message, request_id;
};

Refusal refusal_of(const HttpResponse& response) {
  pugi::xml_document document;
  if (!document.load_buffer(response.body.data(), response.body.size())) return {};
  const auto root = document.child("ErrorResponse");
  const auto error = root.child("Error");
  return {error.child_value("Code"), error.child_value("Message"), root.child_value("RequestId")};
}

AwsCredentials parse_reply(const HttpResponse& response, const std::string& action, const std::string& what) {
  pugi::xml_document document;
  document.load_buffer(response.body.data(), response.body.size());
  const auto given = document.child((action + "Response").c_str()).child((action + "Result").c_str());
  const auto keys = given.child("Credentials");
  AwsCredentials credentials;
  credentials.access_key_id = keys.child_value("AccessKeyId");
  credentials.secret_access_key = Secret(keys.child_value("SecretAccessKey"));
  credentials.session_token = Secret(keys.child_value("SessionToken"));
  credentials.expires = parse_iso_time(keys.child_value("Expiration"));
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty() || !credentials.expires) {
    throw Error("NoCredentials", what + ": the reply holds no credentials");
  }
  return credentials;
}

struct Question {
  std::string action;
  const AwsRole& role;
  Form form;
  std::function<void(HttpRequest&)> sign;
};

AwsCredentials ask(Question question, const std::string& region, const Services& services) {
  const auto what = fmt::format("assuming role \"{}\"", one_line(question.role.arn));
  HttpCall call;
  call.request.method = "POST";
  call.request.url = aws_endpoint("sts", region, services.environment);
  call.request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  call.request.body = encode(question.form);
  call.sign = std::move(question.sign);
  call.judge = [](const HttpResponse& response) {
    const bool refused = response.status != 0 && response.status != kOk;
    return RetryVerdict{
        response.status != kOk &&
            is_transient_sts_failure(response.status, refused ? refusal_of(response).code : std::string()),
        {}};
  };
  call.max_attempts = 4;
  call.timeout = std::chrono::seconds(15);
  const auto response = services.http.send_one(std::move(call));
  if (response.status == 0) throw Error("NoCredentials", fmt::format("{}: {}", what, response.transport_error));
  if (response.status != kOk) {
    const auto refusal = refusal_of(response);
    if (refusal.code.empty()) throw Error("NoCredentials", fmt::format("{}: status {}", what, response.status));
    throw Error(
        refusal.code,
        one_line(fmt::format("{}: {}: {} (request {})", what, refusal.code, refusal.message, refusal.request_id), 500));
  }
  return parse_reply(response, question.action, what);
}

std::string region_or_default(const std::string& region) { return region.empty() ? "us-east-1" : region; }

}  // namespace

AwsCredentials assume_role(const AwsRole& role, const AwsCredentials& source, const std::string& region,
                           const Services& services) {
  const auto where = region_or_default(region);
  const auto sign = [&](HttpRequest& request) {
    sign_aws_request(request, source, {where, "sts"}, seconds_of(services.clock));
  };
  return ask({"AssumeRole", role, form_of("AssumeRole", role, services.clock), sign}, where, services);
}

AwsCredentials assume_role_with_web_identity(const AwsRole& role, const std::string& token_file,
                                             const std::string& region, const Services& services) {
  const auto text = services.files.read(token_file);
  if (!text) {
    throw Error("NoCredentials", fmt::format(R"(assuming role "{}": no such web identity token file: "{}")",
                                             one_line(role.arn), one_line(token_file)));
  }
  const auto end = text->find_last_not_of(" \t\r\n");
  auto form = form_of("AssumeRoleWithWebIdentity", role, services.clock);
  form.emplace_back("WebIdentityToken", text->substr(0, end == std::string::npos ? 0 : end + 1));
  return ask({"AssumeRoleWithWebIdentity", role, std::move(form), {}}, region_or_default(region), services);
}

}  // namespace burst::auth
