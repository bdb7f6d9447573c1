// SPDX-License-Identifier: Apache-2.0
// The one table of what an API server's refusals mean.
#include "providers/kubernetes/kubernetes_errors.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "burst/text.h"

namespace burst::kubernetes {
namespace {

using Json = nlohmann::json;

constexpr int kNoReply = 0, kBadRequest = 400, kServerFault = 500;
/// In a row: any status; one below 400, which a reply has that makes no sense; one from 500 on.
constexpr int kAny = -1, kSenseless = -2, kFault = -3;
constexpr std::size_t kLongestMessage = 1000;

/// The first row that fits counts: HTTP's status, the Status object's reason, a part of its message; empty: any.
struct Row {
  int status;
  std::string_view reason, text;
  std::string_view code;
  ErrorMeaning meaning;
};

/// Sources: apimachinery's `metav1.StatusReason` and the messages of the admission plug-ins that write them
/// (ResourceQuota, PodSecurity, ServiceAccount, NamespaceLifecycle, webhooks). A webhook may deny with any status.
constexpr std::array kRows{
    Row{kNoReply, "", "", "ConnectionError", ErrorMeaning::retry},
    Row{kSenseless, "", "", "InvalidReply", ErrorMeaning::retry},
    Row{401, "", "", "Unauthorized", ErrorMeaning::credentials},
    Row{429, "", "", "Throttled", ErrorMeaning::throttled},

    Row{kAny, "", "denied the request", "AdmissionDenied", ErrorMeaning::configuration},
    Row{kAny, "", "failed calling webhook", "WebhookUnreachable", ErrorMeaning::retry},
    Row{403, "", "exceeded quota", "QuotaExceeded", ErrorMeaning::over_quota},
    Row{403, "", "failed quota", "QuotaNeedsResources", ErrorMeaning::configuration},
    Row{403, "", "violates PodSecurity", "PodSecurity", ErrorMeaning::configuration},
    Row{403, "", "because it is being terminated", "NamespaceTerminating", ErrorMeaning::configuration},
    Row{403, "", "error looking up service account", "ServiceAccountNotFound", ErrorMeaning::configuration},
    Row{403, "", "", "Forbidden", ErrorMeaning::configuration},

    Row{404, "NotFound", "namespaces ", "NamespaceNotFound", ErrorMeaning::configuration},
    Row{404, "NotFound", "could not find the requested resource", "ResourceNotFound", ErrorMeaning::configuration},
    Row{404, "NotFound", "", "NotFound", ErrorMeaning::gone},
    Row{404, "", "", "ResourceNotFound", ErrorMeaning::configuration},
    Row{410, "", "", "Expired", ErrorMeaning::expired_list},

    Row{409, "AlreadyExists", "", "NameConflict", ErrorMeaning::already_exists},
    Row{409, "", "on resourcequotas ", "QuotaConflict", ErrorMeaning::retry},
    Row{409, "", "", "Conflict", ErrorMeaning::conflict},

    Row{422, "", "", "InvalidTemplate", ErrorMeaning::configuration},
    Row{400, "", "strict decoding error", "InvalidTemplate", ErrorMeaning::configuration},
    Row{400, "", "", "BadRequest", ErrorMeaning::configuration},
    Row{413, "", "", "BadRequest", ErrorMeaning::configuration},
    Row{kFault, "", "", "ApiUnavailable", ErrorMeaning::retry},
};

int kind_of(int status) {
  if (status >= kServerFault) return kFault;
  return status != kNoReply && status < kBadRequest ? kSenseless : status;
}

bool fits(const Row& row, int status, std::string_view reason, std::string_view message) {
  return (row.status == kAny || row.status == kind_of(status)) && (row.reason.empty() || row.reason == reason) &&
         message.find(row.text) != std::string_view::npos;
}

/// A reason of the server's own that no row knows stands as it is: `MethodNotAllowed`.
bool is_word(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  constexpr std::size_t longest = 40;
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, is_letter);
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The fields that are wrong, where the message does not name them itself.
std::string causes_of(const Json& status, const std::string& message) {
  const auto details = status.find("details");
  if (details == status.end() || !details->is_object()) return {};
  const auto causes = details->find("causes");
  if (causes == details->end() || !causes->is_array()) return {};
  std::string told;
  for (const auto& cause : *causes) {
    if (!cause.is_object()) continue;
    const std::string field = text_at(cause, "field");
    if (field.empty() || message.find(field) != std::string::npos) continue;
    told += fmt::format("; {}: {}", field, text_at(cause, "message"));
  }
  return told;
}

struct Told {
  std::string reason, message;
};

Told read_status(int status, std::string_view body) {
  const auto json = Json::parse(body, nullptr, false);
  if (json.is_object() && text_at(json, "kind") == "Status") {
    std::string message = text_at(json, "message");
    message += causes_of(json, message);
    return {text_at(json, "reason"), std::move(message)};
  }
  // A proxy's or a load balancer's page, or the `404 page not found` of a path that there is not.
  constexpr std::size_t some = 100;
  return {"", fmt::format("HTTP status {} without a reason of the API server{}", status,
                          body.empty() ? "" : fmt::format(": {}", one_line(body, some)))};
}

}  // namespace

ApiError parse_error(int status, std::string_view body) {
  const Told told = status < kBadRequest ? Told{"", std::string(body)} : read_status(status, body);
  ApiError error{ErrorMeaning::refused, told.reason, one_line(told.message, kLongestMessage), status};
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& candidate) { return fits(candidate, status, told.reason, told.message); });
  if (row != kRows.end()) {
    error.code = row->code;
    error.meaning = row->meaning;
  } else if (!is_word(error.code)) {
    error.code = fmt::format("HTTP{}", status);
  }
  return error;
}

Outcome outcome_of(const ApiError& error) {
  return error.meaning == ErrorMeaning::over_quota ? Outcome::over_quota : Outcome::rejected;
}

}  // namespace burst::kubernetes
