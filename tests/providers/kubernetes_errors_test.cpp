// SPDX-License-Identifier: Apache-2.0
// Tests of the table of API server errors, on what real ones say.
#include "providers/kubernetes/kubernetes_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace burst::kubernetes {
namespace {

using testing::EndsWith;

std::string status_body(int status, const std::string& reason, const std::string& message,
                        const nlohmann::json& details = nullptr) {
  nlohmann::json body{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", nlohmann::json::object()},
                      {"status", "Failure"}, {"message", message}, {"code", status}};
  if (!reason.empty()) body["reason"] = reason;
  if (!details.is_null()) body["details"] = details;
  return body.dump();
}

struct Case {
  const char* name;
  int status;
  const char* reason;
  const char* message;
  const char* code;
  ErrorMeaning meaning;
  Outcome outcome = Outcome::rejected;
};

class KubernetesErrors : public testing::TestWithParam<Case> {};

TEST_P(KubernetesErrors, AreKnownByStatusReasonAndMessage) {
  const auto& row = GetParam();
  const auto error = parse_error(row.status, status_body(row.status, row.reason, row.message));
  EXPECT_EQ(error.code, row.code);
  EXPECT_EQ(error.meaning, row.meaning);
  EXPECT_EQ(error.status, row.status);
  EXPECT_EQ(outcome_of(error), row.outcome);
  EXPECT_FALSE(error.message.empty());
}

const Case kCases[] = {
    {"Token", 401, "Unauthorized", "Unauthorized", "Unauthorized", ErrorMeaning::credentials},
    {"Quota", 403, "Forbidden",
     R"(pods "gpu-3" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2)",
     "QuotaExceeded", ErrorMeaning::over_quota, Outcome::over_quota},
    {"QuotaWithoutRequests", 403, "Forbidden",
     R"(pods "gpu-3" is forbidden: failed quota: compute: must specify limits.cpu for: slurmd)", "QuotaNeedsResources",
     ErrorMeaning::configuration},
    {"PodSecurity", 403, "Forbidden",
     R"(pods "gpu-3" is forbidden: violates PodSecurity "baseline:latest": privileged (container "slurmd" must not set)",
     "PodSecurity", ErrorMeaning::configuration},
    {"Role", 403, "Forbidden",
     R"(pods is forbidden: User "x" cannot create resource "pods" in API group "" in the namespace "slurm")",
     "Forbidden", ErrorMeaning::configuration},
    {"ServiceAccount", 403, "Forbidden",
     R"(pods "gpu-3" is forbidden: error looking up service account slurm/x: serviceaccount "x" not found)",
     "ServiceAccountNotFound", ErrorMeaning::configuration},
    {"EndingNamespace", 403, "Forbidden",
     R"(pods "gpu-3" is forbidden: unable to create new content in namespace slurm because it is being terminated)",
     "NamespaceTerminating", ErrorMeaning::configuration},
    {"WebhookBy403", 403, "Forbidden", R"(admission webhook "policy.example.com" denied the request: no GPU today)",
     "AdmissionDenied", ErrorMeaning::configuration},
    {"WebhookBy400", 400, "", R"(admission webhook "policy.example.com" denied the request without explanation)",
     "AdmissionDenied", ErrorMeaning::configuration},
    {"WebhookGone", 500, "InternalError",
     R"(Internal error occurred: failed calling webhook "x": failed to call webhook: Post "https://x": EOF)",
     "WebhookUnreachable", ErrorMeaning::retry},
    {"Namespace", 404, "NotFound", R"(namespaces "slurm" not found)", "NamespaceNotFound", ErrorMeaning::configuration},
    {"Pod", 404, "NotFound", R"(pods "gpu-3" not found)", "NotFound", ErrorMeaning::gone},
    {"CustomResource", 404, "NotFound", "the server could not find the requested resource", "ResourceNotFound",
     ErrorMeaning::configuration},
    {"Name", 409, "AlreadyExists", R"(pods "gpu-3" already exists)", "NameConflict", ErrorMeaning::already_exists},
    {"EndingName", 409, "AlreadyExists", R"(object is being deleted: pods "gpu-3" already exists)", "NameConflict",
     ErrorMeaning::already_exists},
    {"QuotaWrittenByAnother", 409, "Conflict",
     R"(Operation cannot be fulfilled on resourcequotas "compute": the object has been modified; please apply your)",
     "QuotaConflict", ErrorMeaning::retry},
    {"Precondition", 409, "Conflict",
     R"(Operation cannot be fulfilled on pods "gpu-3": Precondition failed: UID in precondition: a, UID in object)",
     "Conflict", ErrorMeaning::conflict},
    {"ForgottenList", 410, "Expired", "The provided continue parameter is too old", "Expired",
     ErrorMeaning::expired_list},
    {"Invalid", 422, "Invalid", R"(Pod "gpu-3" is invalid: spec.containers[0].image: Required value)",
     "InvalidTemplate", ErrorMeaning::configuration},
    {"UnknownField", 400, "BadRequest",
     R"(Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.containes")",
     "InvalidTemplate", ErrorMeaning::configuration},
    {"TooMany", 429, "TooManyRequests", "Too many requests, please try again later.", "Throttled",
     ErrorMeaning::throttled},
    {"Etcd", 500, "InternalError", "etcdserver: leader changed", "ApiUnavailable", ErrorMeaning::retry},
    {"Timeout", 504, "Timeout", "Timeout: request did not complete within the allotted timeout", "ApiUnavailable",
     ErrorMeaning::retry},
    {"ItsOwnReason", 405, "MethodNotAllowed", "the server does not allow this method", "MethodNotAllowed",
     ErrorMeaning::refused},
};

INSTANTIATE_TEST_SUITE_P(Of, KubernetesErrors, testing::ValuesIn(kCases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(KubernetesErrorsText, NamesTheFieldsThatTheMessageLeavesOut) {
  const auto error =
      parse_error(422, status_body(422, "Invalid", R"(Pod "gpu-3" is invalid: spec.containers[0].image: Required)",
                                   {{"causes",
                                     {{{"field", "spec.containers[0].image"}, {"message", "Required"}},
                                      {{"field", "spec.hostname"}, {"message", "Invalid value:\n\"A\""}}}}}));
  EXPECT_EQ(error.message,
            "Pod 'gpu-3' is invalid: spec.containers[0].image: Required; spec.hostname: Invalid value: 'A'");
}

TEST(KubernetesErrorsText, APageThatIsNoStatusIsNamedByItsStatus) {
  const auto page = parse_error(404, "404 page not found\n");
  EXPECT_EQ(page.code, "ResourceNotFound");
  EXPECT_THAT(page.message, EndsWith(": 404 page not found"));
  EXPECT_EQ(parse_error(418, "<html>").code, "HTTP418");
  EXPECT_EQ(parse_error(502, "").code, "ApiUnavailable");
}

TEST(KubernetesErrorsText, HostileStatusesAreReadWithoutHarm) {
  EXPECT_EQ(parse_error(418, R"({"kind": "Status", "reason": "a b\nc", "message": 7, "details": {"causes": 1}})").code,
            "HTTP418");
  EXPECT_EQ(parse_error(403, R"({"kind": "Status", "reason": {}, "details": {"causes": [1, {}]}})").code, "Forbidden");
}

TEST(KubernetesErrorsText, WhatIsNoReplyIsAskedAgain) {
  EXPECT_EQ(parse_error(0, "connecting to x: refused").code, "ConnectionError");
  EXPECT_EQ(parse_error(0, "connecting to x: refused").meaning, ErrorMeaning::retry);
  EXPECT_EQ(parse_error(200, "cut").code, "InvalidReply");
}

}  // namespace
}  // namespace burst::kubernetes
