// SPDX-License-Identifier: Apache-2.0
// Whose keys are good, and whether a request was signed with one.
#include "ec2/credentials.h"

#include <algorithm>
#include <ctime>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "ec2/api_error.h"
#include "ec2/sigv4.h"

namespace cloudsim::ec2 {

namespace {

constexpr std::chrono::minutes kMaxSkew{5};
constexpr std::string_view kNotValidated = "AWS was not able to validate the provided access credentials";

std::optional<WallTime> parse_timestamp(const std::string& text) {
  std::tm fields{};
  const char* const end = strptime(text.c_str(), "%Y%m%dT%H%M%SZ", &fields);
  if (end == nullptr || *end != '\0') {
    return std::nullopt;
  }
  return std::chrono::system_clock::from_time_t(timegm(&fields));
}

bool is_signed(const SignatureClaim& claim, std::string_view header) {
  return std::find(claim.signed_headers.begin(), claim.signed_headers.end(), header) != claim.signed_headers.end();
}

[[noreturn]] void refuse_key(const std::string& service) {
  if (service == "sts") {
    throw ApiError(403, "InvalidClientTokenId", "The security token included in the request is invalid");
  }
  throw ApiError(401, "AuthFailure", std::string(kNotValidated));
}

[[noreturn]] void refuse_expired(const std::string& service) {
  if (service == "sts") {
    throw ApiError(403, "ExpiredToken", "The security token included in the request is expired");
  }
  throw ApiError(400, "RequestExpired", "Request has expired.");
}

[[noreturn]] void refuse_signature(const std::string& detail) {
  throw ApiError(403, "SignatureDoesNotMatch",
                 "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
                 "Access Key and signing method. Consult the service documentation for details.\n\n" +
                     detail);
}

void check_time(const SignatureClaim& claim, const std::string& timestamp, WallTime now) {
  const auto time = parse_timestamp(timestamp);
  if (!time || !timestamp.starts_with(claim.date)) {
    refuse_signature("Date in Credential scope does not match the date of X-Amz-Date: " + timestamp);
  }
  if (std::chrono::abs(now - *time) <= kMaxSkew) {
    return;
  }
  if (claim.service == "sts") {
    throw ApiError(403, "SignatureDoesNotMatch",
                   fmt::format("Signature expired or not yet current: {} ({} - 5 min.)", timestamp, iso_time(now)));
  }
  throw ApiError(400, "RequestExpired", "Request has expired.");
}

}  // namespace

std::string iso_time(WallTime time, bool with_milliseconds) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto text = fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
  const auto rest = std::chrono::duration_cast<Millis>(time - seconds).count();
  return with_milliseconds ? fmt::format("{}.{:03}Z", text, rest) : text + "Z";
}

Caller Credentials::verify(const HttpRequest& request, WallTime now) const {
  const auto claim = parse_authorization(request.header("authorization"));
  if (!claim) {
    throw ApiError(403, "MissingAuthenticationToken", "Request is missing Authentication Token");
  }
  Caller caller{claim->access_key_id, "", "", claim->region, claim->service};
  if (!knobs_->verify_signatures) {
    return caller;
  }
  if (claim->service != "ec2" && claim->service != "sts") {
    refuse_signature("Credential should be scoped to correct service: ec2 or sts, not " + claim->service);
  }
  const std::string timestamp(request.header("x-amz-date"));
  check_time(*claim, timestamp, now);
  const std::string token(request.header("x-amz-security-token"));
  if (!is_signed(*claim, "host") || !is_signed(*claim, "x-amz-date") ||
      (!token.empty() && !is_signed(*claim, "x-amz-security-token"))) {
    refuse_signature("Host, X-Amz-Date and X-Amz-Security-Token must be signed");
  }
  std::string secret;
  const auto known = std::find_if(knobs_->keys.begin(), knobs_->keys.end(),
                                  [&](const auto& key) { return key.access_key_id == claim->access_key_id; });
  const auto temporary = temporary_.find(claim->access_key_id);
  if (temporary != temporary_.end() && temporary->second.session_token == token) {
    secret = temporary->second.secret_access_key;
    caller.arn = temporary->second.arn;
    caller.user_id = temporary->second.user_id;
    if (temporary->second.expires <= now) {
      refuse_expired(claim->service);
    }
  } else if (known != knobs_->keys.end() && token.empty()) {
    secret = known->secret_access_key;
    caller.arn = known->arn;
    caller.user_id = "AIDACLOUDSIM";
  } else {
    refuse_key(claim->service);
  }
  const auto canonical = canonical_request(request, claim->signed_headers);
  if (expected_signature(*claim, timestamp, canonical, secret) != claim->signature) {
    refuse_signature("The Canonical String for this request should have been\n'" + canonical + "'");
  }
  return caller;
}

const TemporaryKey& Credentials::issue(const std::string& arn, const std::string& user_id, Millis lifetime,
                                       WallTime now) {
  auto& random = *random_;
  TemporaryKey key;
  key.access_key_id = fmt::format("ASIA{:016X}", random());
  key.secret_access_key = fmt::format("{:016x}/{:016x}+{:06x}", random(), random(), random() & 0xffffffU);
  key.session_token =
      fmt::format("FwoGZXIvYXdzE{:016x}{:016x}{:016x}//{:016x}==", random(), random(), random(), random());
  key.arn = arn;
  key.user_id = user_id;
  key.expires = now + lifetime;
  return temporary_.insert_or_assign(key.access_key_id, key).first->second;
}

std::optional<TemporaryKey> Credentials::find(const std::string& access_key_id) const {
  for (const auto& key : knobs_->keys) {
    if (key.access_key_id == access_key_id) {
      return TemporaryKey{access_key_id, key.secret_access_key, "", key.arn, "", WallTime::max()};
    }
  }
  const auto found = temporary_.find(access_key_id);
  return found == temporary_.end() ? std::nullopt : std::optional(found->second);
}

void Credentials::expire_all(WallTime now) {
  for (auto& [id, key] : temporary_) {
    key.expires = std::min(key.expires, now);
  }
}

}  // namespace cloudsim::ec2
